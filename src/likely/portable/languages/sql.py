"""A model as one SELECT: it reads cells, adds up scores and gives the class and the probability of each class.

Numbers are guarded where a database would raise an error instead of rounding to zero or to infinity. Knows no model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models import shapes
from likely.portable.describe import Attribute, Portable, columns_of
from likely.portable.languages import statements as sql
from likely.portable.languages.flatten import UNKNOWN_CELLS, Flat, flatten
from likely.portable.languages.quadratic import Quadratic
from likely.portable.languages.statements import (
    ColumnPlaces,
    add_up,
    case,
    exp,
    number,
    pair_text,
    possible,
    tree_texts,
)
from likely.portable.logs import TIE
from likely.portable.reading import MISSING, MOST_SECONDS, UNSEEN, date_part

FAR = 700.0
"""Scores so far below the best one count as impossible: e**-700 is 1e-304."""
TINY = 1e-150
"""Whose square is nothing; PostgreSQL refuses to multiply numbers whose product is too small for a double."""


def to_sql(
    portable: Portable,
    table: str = "rows",
    dialect: str | None = None,
    keep: Sequence[str] = (),
    limits: Sequence[float] = (),
) -> str:
    """The SELECT. Without a dialect it runs as it is in PostgreSQL, DuckDB and SQLite. `limits` are the probabilities
    from which on each class is in the set; without them there are no columns for sets."""
    _check(portable, dialect)
    return _Select(portable, table, dialect, keep, limits).text()


def _check(portable: Portable, dialect: str | None) -> None:
    import sqlglot

    known = sorted(d.value for d in sqlglot.Dialects if d.value)
    if dialect is not None and dialect not in known:
        raise SettingError(f"There is no dialect {shown(dialect)}. {nearest(dialect, known)}")
    if dialect is None and any(a.kind == "date" or a.part is not None for a in portable.attributes):
        raise SettingError(
            "Databases have no common syntax for dates. Name yours, such as --dialect postgres, duckdb or sqlite."
        )


class _Select:
    def __init__(
        self, portable: Portable, table: str, dialect: str | None, keep: Sequence[str], limits: Sequence[float]
    ) -> None:
        self.form, self.dialect, self.limits = portable, dialect, limits
        self.flat: Flat = flatten(portable, "SQL")
        self.table = _table(table)
        self.prefix = "likely"
        while self.prefix in table.lower():
            self.prefix += "_"
        self.keep = list(keep) or list(dict.fromkeys(a.part_of or a.name for a in portable.attributes))
        # What is learned from words alone is no part of what SQL can say.
        read = [a for a in portable.attributes if a.kind != "text"]
        self.place = {a.name: f"x{k}" for k, a in enumerate(read, 1)}
        self.classes = range(1, len(portable.classes) + 1)
        joint = [t for _, t in self.flat.terms if isinstance(t, shapes.CellTable)]
        self.axes = {f"a{j}_{k}": axis for j, t in enumerate(joint) for k, axis in enumerate(t.axes)}
        normals = [t for _, t in self.flat.terms if isinstance(t, shapes.MultivariateNormal)]
        self.quadratic = {id(t): Quadratic(t, k, self.place) for k, t in enumerate(normals)}
        self.codes = {id(t): [f"a{j}_{k}" for k, _ in enumerate(t.axes)] for j, t in enumerate(joint)}
        sets = [(w, t) for w, t in self.flat.terms if isinstance(t, (shapes.PairTable, shapes.TreeSum))]
        together = {axis.name for _, t in sets for axis in t.axes}
        self.levels = {
            a.name: ColumnPlaces(f"l{k}", self._ranks(a))
            for k, a in enumerate(read, 1)
            if a.kind == "level" and a.name in together
        }
        """For attributes in pairs and trees, the column of a level's number."""
        self.mirrored = [(w, t) for w, t in sets if len(columns_of(t)) == 1]

    def text(self) -> str:
        kept = [exp.alias_(sql.column(name), f"k{k}") for k, name in enumerate(self.keep, 1)]
        named = {column: self.form.attribute(name) for name, column in self.place.items()}
        parts = {column: a for column, a in named.items() if a.part is not None}
        dates = {a.part_of: a.date for a in parts.values()}
        found = {column: a for column, a in named.items() if a.part is None}
        found |= {f"d{k}": date for k, date in enumerate(dates.values(), 1)}
        cells = [exp.alias_(sql.cell(a, self.form.missing, self.dialect), column) for column, a in found.items()]
        steps: list[tuple[str, list[Any]]] = [("cells", [*kept, *cells])]
        own = [exp.column(f"k{k}") for k, _ in enumerate(self.keep, 1)]
        if parts:
            steps += self._dates(
                parts, {name: f"d{k}" for k, name in enumerate(dates, 1)}, [*own, *map(exp.column, found)]
            )
        if self.axes or self.levels:
            read = [exp.column(name) for name in self.place.values()]
            codes = [exp.alias_(self._code(axis), name) for name, axis in self.axes.items()]
            codes += [exp.alias_(self._level(name), column.name) for name, column in self.levels.items()]
            steps.append(("codes", [*own, *read, *codes]))
        kept_names = own
        patterns = self._usual_patterns()
        told = {}
        if self.form.references is not None:
            told["q"] = self._known([*patterns, [True] * len(patterns[0])])
        if self.limits:
            told["c"] = self._known(patterns)
        if told:
            steps.append(("known", [*own, *self._passed([]), *(exp.alias_(e, name) for name, e in told.items())]))
            own = [*own, *map(exp.column, told)]
        if self.mirrored:
            said = add_up([e for w, t in self.mirrored for e in self._weighed(w, t, 0)])
            steps.append(("sets", [*own, *self._passed([]), exp.alias_(said, "v", copy=False)]))
        steps += [
            (name, [*own, *columns]) for name, columns in self._together(self._passed(["v"] if self.mirrored else []))
        ]
        steps.append(("scores", [*own, *self._scores()]))
        best = [exp.Coalesce(this=exp.column(f"s{k}"), expressions=[number(-sql.MOST)]) for k in self.classes]
        scores = [exp.column(f"s{k}") for k in self.classes]
        names, rest = [f"m{k}" for k in self.classes], best
        steps.append(("best_of_1", [*own, *scores, *(exp.alias_(b, m) for b, m in zip(rest, names, strict=True))]))
        # A tournament: no name for the greatest of several is common to all databases.
        size = 2
        while len(names) > 1:
            pairs = [names[k : k + 2] for k in range(0, len(names), 2)]
            steps.append((f"best_of_{size}", [*own, *scores, *(_greater(p) for p in pairs)]))
            names, size = [p[0] for p in pairs], 2 * size
        steps.append(("odds", [*own, *(self._odds(k) for k in self.classes)]))
        total = add_up([exp.column(f"e{k}") for k in self.classes])
        some = exp.GT(this=total, expression=number(0.0))
        shares = []
        for k in self.classes:
            share = exp.Div(this=exp.column(f"e{k}"), expression=total.copy())
            shares.append(exp.alias_(case([(some.copy(), share)], number(0.0)), f"p{k}"))
        steps.append(("shares", [*own, *shares]))
        return self._written(steps, self._last(kept_names))

    def _dates(
        self, parts: dict[str, Attribute], dates: dict[str | None, str], passed: list[Any]
    ) -> list[tuple[str, list[Any]]]:
        """The steps that find parts of dates: each is a number beside what is there already."""
        steps: list[tuple[str, list[Any]]] = []
        known: dict[str, Any] = {}

        def kept(value: Any) -> Any:
            text = value.sql()
            if text not in known:  # several parts begin alike
                known[text] = exp.column(f"t{len(known)}")
                steps.append((f"dates_{len(known)}", [*passed, exp.alias_(value, known[text].name)]))
                passed.append(known[text])
            return known[text].copy()

        numbers = {}
        for column, a in parts.items():
            seconds = sql.finite(exp.column(dates[a.part_of]), most=MOST_SECONDS)
            numbers[column] = date_part(str(a.part), seconds, lambda x: exp.Floor(this=x), kept)
        named = {
            column: case([
                (exp.EQ(this=exp.paren(numbers[column].copy()), expression=exp.Literal.number(k)), sql.text(name))
                for k, name in enumerate(a.names) if name not in self.form.missing
            ]) if a.names else sql.finite(exp.paren(numbers[column]), self.form.missing)
            for column, a in parts.items()
        }  # fmt: skip
        return [*steps, ("parts", [*passed, *(exp.alias_(value, column) for column, value in named.items())])]

    def _last(self, own: Sequence[exp.Expr]) -> list[exp.Expr]:
        """What the SELECT gives: kept columns, the first of the most probable classes, all probabilities."""
        branches = []
        for k, name in zip(self.classes, self.form.classes, strict=True):
            most = [exp.GTE(this=exp.column(f"p{k}"), expression=exp.column(f"p{j}")) for j in self.classes if j > k]
            condition: Any = exp.GT(this=exp.column(f"p{k}"), expression=number(0.0))
            for one in most:
                condition = exp.And(this=condition, expression=one)
            branches.append((condition, sql.text(name)))
        kept = [exp.alias_(c.copy(), name, quoted=True) for c, name in zip(own, self.keep, strict=True)]
        chances = [
            exp.alias_(self._answered(exp.column(f"p{k}")), f"p({name})", quoted=True)
            for k, name in zip(self.classes, self.form.classes, strict=True)
        ]
        sets = [
            exp.alias_(self._in_set(k, limit, branches), f"set({name})", quoted=True)
            for k, name, limit in zip(self.classes, self.form.classes, self.limits, strict=False)
        ]
        return [*kept, exp.alias_(self._answered(case(branches)), "prediction", quoted=True), *chances, *sets]

    def _in_set(self, k: int, limit: float, branches: Sequence[tuple[Any, Any]]) -> exp.Expr:
        """1 where a class is in the set: it is as probable as that takes, or the most probable one."""
        before = [(condition.copy(), exp.Literal.number(0)) for condition, _ in branches[: k - 1]]
        enough = exp.GTE(this=exp.column(f"p{k}"), expression=number(limit))
        ours = [(enough, exp.Literal.number(1)), *before, (branches[k - 1][0].copy(), exp.Literal.number(1))]
        known = exp.EQ(this=exp.column("c"), expression=exp.Literal.number(1))
        some = exp.GT(this=add_up([exp.column(f"p{j}") for j in self.classes]), expression=number(0.0))
        return case([(exp.And(this=known, expression=some), case(ours, exp.Literal.number(0)))], exp.null())

    def _answered(self, value: exp.Expr) -> exp.Expr:
        """NULL where a cell is unknown that the model would average over."""
        if self.form.references is None:
            return value
        return case([(exp.EQ(this=exp.column("q"), expression=exp.Literal.number(1)), value)], exp.null())

    def _usual_patterns(self) -> list[list[bool]]:
        """Which cells of a row may be unknown: none, or just those that were so in many rows of training."""
        references = self.form.references
        return [[False] * len(self._read()), *([] if references is None else references.usual.tolist())]

    def _read(self) -> list[str]:
        references = self.form.references
        return [*self.place] if references is None else [axis.name for axis in references.axes]

    def _known(self, patterns: Sequence[Sequence[bool]]) -> exp.Expr:
        """1 where just the cells of one of the patterns are unknown; else 0."""
        branches = []
        for pattern in patterns:
            both: Any = None
            for name, gone in zip(self._read(), pattern, strict=True):
                column = exp.column(self.place[name])
                missing = column.copy().is_(exp.null())
                one = missing if gone else exp.Not(this=missing)
                both = one if both is None else exp.And(this=both, expression=one)
            branches.append((both, exp.Literal.number(1)))
        return case(branches, exp.Literal.number(0))

    def _written(self, steps: list[tuple[str, list[exp.Expr]]], last: list[exp.Expr]) -> str:
        source: Any = self.table
        # Each step uses columns of the one before several times: a planner that puts what they are in place of their
        # names makes expressions that double with every step (tests/conformance).
        kept = True if self.dialect in (None, "postgres", "duckdb", "sqlite") else None
        query = exp.select(*last, copy=False)
        for name, columns in steps:
            called = f"{self.prefix}_{name}"
            step = exp.select(*(c.copy() for c in columns)).from_(source)
            query = query.with_(called, as_=step, materialized=kept, copy=False)
            source = called
        whole = query.from_(source, copy=False)
        head = "" if self.form.references is None else f"-- {UNKNOWN_CELLS}\n"
        return head + str(whole.sql(dialect=self.dialect or sql.PLAIN, pretty=True, copy=False)) + "\n"

    # -- scores ---------------------------------------------------------------------------------------------------

    def _scores(self) -> list[exp.Expr]:
        out = []
        for c in self.classes:
            parts = [sql.as_double(possible(self.flat.constant[c - 1]))]
            for weight, term in self.flat.terms:
                if isinstance(term, (shapes.PairTable, shapes.TreeSum)):
                    if len(columns_of(term)) > 1:
                        parts += self._weighed(weight, term, c - 1)
                    continue
                one = self._term(term, c - 1)
                parts.append(one if weight == 1 else exp.Mul(this=number(weight), expression=exp.paren(one)))
            if self.mirrored:
                parts.append(exp.column("v") if c == 2 else exp.Neg(this=exp.column("v")))
            out.append(exp.alias_(add_up(parts), f"s{c}", copy=False))
        return out

    def _weighed(self, weight: float, term: shapes.PairTable | shapes.TreeSum, c: int) -> list[exp.Expr]:
        """What a pair, or each tree, adds to a class."""
        columns = {**{name: ColumnPlaces(x) for name, x in self.place.items()}, **self.levels}
        own = weight * columns_of(term)[c]
        if isinstance(term, shapes.PairTable):
            return [sql.written(pair_text(term, own.reshape(term.table.shape[:2]), columns))]
        return [sql.written(text) for text in tree_texts(term, own, columns)]

    def _odds(self, k: int) -> exp.Expr:
        score, top = exp.column(f"s{k}"), exp.column("m1")
        if self.flat.clipped:
            before = [exp.NEQ(this=exp.column(f"s{j}"), expression=top) for j in self.classes if j < k]
            alone: Any = exp.EQ(this=score, expression=top)
            for one in before:
                alone = exp.And(this=alone, expression=one)
            above = exp.GT(this=top, expression=number(0.0))
            own = exp.And(this=above.copy(), expression=exp.GT(this=score, expression=number(1e-290)))
            tied = exp.GTE(this=score, expression=exp.Mul(this=top, expression=number(1.0 - TIE)))
            equal = exp.And(this=above.copy(), expression=tied)
            branches = [
                (equal, number(1.0)),
                (own, exp.Div(this=score, expression=top)),
                (above, number(0.0)),
                (alone, number(1.0)),
            ]
            return exp.alias_(case(branches, number(0.0)), f"e{k}")
        near = exp.GTE(this=score, expression=exp.Sub(this=top, expression=number(FAR)))
        tied = exp.GTE(this=score, expression=exp.Sub(this=top, expression=number(TIE)))
        odds = exp.Exp(this=exp.Sub(this=score, expression=top))
        return exp.alias_(case([(tied, number(1.0)), (near, odds)], number(0.0)), f"e{k}")

    def _term(self, term: Any, c: int) -> exp.Expr:
        match term:
            case shapes.LevelTable(name, _, table):
                attribute, x = self.form.attribute(name), exp.column(self.place[name])
                *scores, unseen, missing = table[:, c]
                branches: list[Any] = [(x.is_(exp.null()), possible(missing))]
                for k, score in enumerate(scores):
                    branches.append((sql.level(attribute, self.place[name], k), possible(score)))
                return case(branches, possible(unseen))
            case shapes.BinTable(name, starts, table):
                x = exp.column(self.place[name])
                branches = [(x.is_(exp.null()), possible(table[-1, c]))]
                branches += [
                    (exp.LT(this=x.copy(), expression=number(s)), possible(table[k, c])) for k, s in enumerate(starts)
                ]
                return case(branches, possible(table[len(starts), c]))
            case shapes.Gaussian():
                return self._normal(term, c)
            case shapes.Slope(name, unit, weights, known, missing):
                x = exp.column(self.place[name])
                z = exp.paren(self._standard(unit, term.reach))
                slope = exp.Mul(this=z, expression=number(_felt(weights[c])))
                return case([(x.is_(exp.null()), possible(missing[c]))], _above(known[c], slope))
            case shapes.Curve():
                return self._curve(term, c)
            case shapes.CellTable():
                return self._joint(term, c)
            case shapes.MultivariateNormal():
                return self.quadratic[id(term)].score(c)
        raise AssertionError(term)

    def _normal(self, term: shapes.Gaussian, c: int) -> exp.Expr:
        mean, rate, x = float(term.mean[c]), float(term.rate[c]), exp.column(self.place[term.name])
        farthest = float(term.farthest[c])
        far = [sql.is_below(x, mean, farthest), sql.is_above(x, mean, farthest)]
        edge = possible(term.peak[c] - (farthest * rate) ** 2)
        ends = [(condition, edge.copy()) for condition in far if condition is not None]
        off = exp.paren(exp.Mul(this=exp.paren(exp.Sub(this=x, expression=number(mean))), expression=number(rate)))
        near = exp.Between(this=x, low=number(mean - TINY / rate), high=number(mean + TINY / rate))
        peak = possible(term.peak[c])
        return case(
            [(x.is_(exp.null()), possible(term.absent[c])), *ends, (near, peak)],
            exp.Sub(this=peak.copy(), expression=exp.Mul(this=off, expression=off.copy())),
        )

    def _standard(self, unit: shapes.Standard, farthest: float) -> exp.Expr:
        """A number in standard units; 0 where it is missing."""
        x = exp.column(self.place[unit.name])
        edge = farthest * unit.spread
        with_shift = [_scaled(unit.center + unit.rest + side * edge, unit.shift) for side in (-1.0, 1.0)]
        branches: list[Any] = [(x.is_(exp.null()), number(0.0))]
        if math.isfinite(with_shift[0]):
            branches.append((exp.LTE(this=x, expression=number(with_shift[0])), number(-farthest)))
        if math.isfinite(with_shift[1]):
            branches.append((exp.GTE(this=x, expression=number(with_shift[1])), number(farthest)))
        scaled: Any = x
        if unit.shift:
            least = _scaled(1e-290, max(unit.shift, 0))
            tiny = exp.Between(this=x, low=number(-least), high=number(least))
            factor = exp.Mul(this=x, expression=number(_scaled(1.0, -unit.shift)))
            scaled = exp.paren(case([(tiny, number(0.0))], factor))
        centred = exp.paren(exp.Sub(this=scaled, expression=number(unit.center)))
        apart = exp.paren(exp.Sub(this=centred, expression=number(unit.rest)))
        z = exp.Div(this=apart, expression=number(unit.spread))
        small = exp.Between(this=apart, low=number(-1e-100 * unit.spread), high=number(1e-100 * unit.spread))
        return case([*branches, (small, number(0.0))], z)

    def _curve(self, term: shapes.Curve, c: int) -> exp.Expr:
        x = exp.column(self.place[term.name])
        parts = [number(_felt(term.weights[-1][c]))]
        for unit, weights in zip(term.units, term.weights, strict=False):
            if _felt(weights[c]):
                parts.append(exp.Mul(this=exp.paren(self._standard(unit, shapes.REACH)), expression=number(weights[c])))
        own = exp.paren(self._standard(term.units[term.at], shapes.REACH))
        value = exp.Mul(this=own, expression=exp.paren(add_up(parts)))
        return case([(x.is_(exp.null()), possible(term.absent[c]))], _above(term.known[c], value))

    # -- joint tables ---------------------------------------------------------------------------------------------

    def _joint(self, term: shapes.CellTable, c: int) -> exp.Expr:
        codes = [exp.column(name) for name in self.codes[id(term)]]
        gone = [exp.EQ(this=code, expression=exp.Literal.number(-1)) for code in codes]
        nothing: Any = gone[0]
        for one in gone[1:]:
            nothing = exp.And(this=nothing, expression=one)
        parts = [number(0.0)]
        for cell, counts in zip(term.codes.tolist(), term.counts.tolist(), strict=True):
            if counts[c]:
                both: Any = None
                for code, own in zip(codes, cell, strict=True):
                    fits = exp.In(this=code, expressions=[exp.Literal.number(-1), exp.Literal.number(own)])
                    both = fits if both is None else exp.And(this=both, expression=fits)
                parts.append(case([(both, number(counts[c]))], number(0.0)))
        free: Any = number(term.extra)
        if term.extra:
            for code, axis in zip(codes, term.axes, strict=True):
                left = exp.EQ(this=code, expression=exp.Literal.number(-1))
                free = exp.Mul(this=free, expression=case([(left, number(float(axis.size)))], number(1.0)))
            if term.log_extra + sum(math.log(a.size) for a in term.axes) > 700:
                raise SettingError(f"The joint table of {shown(term.name, 60)} has more cells than SQL can count.")
        top = add_up([*parts, free])
        log = exp.Sub(this=exp.Ln(this=top), expression=number(term.log_totals[c]))
        zero = exp.GT(this=top.copy(), expression=number(0.0))
        return case([(nothing, number(0.0)), (zero, log)], exp.null())

    # -- normal densities of several numbers ----------------------------------------------------------------------

    def _passed(self, sums: list[str]) -> list[exp.Expr]:
        """The columns of cells and codes, which later steps still need."""
        return [
            exp.column(name)
            for name in (*self.place.values(), *self.axes, *(c.name for c in self.levels.values()), *sums)
        ]

    def _together(self, passed: list[exp.Expr]) -> list[tuple[str, list[exp.Expr]]]:
        if not self.quadratic:
            return []
        apart = [c for q in self.quadratic.values() for c in q.apart()]
        turned = [c for q in self.quadratic.values() for c in q.turned()]
        kept = [exp.column(q.pattern) for q in self.quadratic.values()]
        return [("apart", [*passed, *apart]), ("turned", [*passed, *kept, *turned])]

    def _level(self, name: str) -> exp.Expr:
        """The number of a level, or what stands for a missing or unseen one."""
        attribute, x = self.form.attribute(name), exp.column(self.place[name])
        branches: list[Any] = [(x.is_(exp.null()), exp.Literal.number(MISSING))]
        for k, rank in enumerate(self.levels[name].places):
            branches.append((sql.level(attribute, self.place[name], k), exp.Literal.number(rank)))
        return case(branches, exp.Literal.number(UNSEEN))

    def _ranks(self, attribute: Attribute) -> tuple[int, ...]:
        """A number for each level, in the order of what they say alone: those that go together are then near."""
        said = [0.0] * len(attribute.levels)
        for _, term in self.flat.terms:
            if isinstance(term, shapes.LevelTable) and term.name == attribute.name:
                said = (term.log_table[:-2, -1] - term.log_table[:-2, 0]).tolist()
        ranks = {place: rank for rank, place in enumerate(sorted(range(len(said)), key=lambda k: (said[k], k)))}
        return tuple(ranks[place] for place in range(len(said)))

    def _code(self, axis: shapes.Axis) -> exp.Expr:
        x = exp.column(self.place[axis.name])
        branches: list[Any] = [(x.is_(exp.null()), exp.Literal.number(axis.missing))]
        if axis.edges is not None:
            for k, start in enumerate(axis.edges):
                branches.append((exp.LT(this=x.copy(), expression=number(start)), exp.Literal.number(k)))
            return case(branches, exp.Literal.number(len(axis.edges)))
        assert axis.groups is not None
        attribute = self.form.attribute(axis.name)
        for k, code in enumerate(axis.groups.tolist()):
            branches.append((sql.level(attribute, self.place[axis.name], k), exp.Literal.number(code)))
        return case(branches, exp.Literal.number(axis.unseen))


def _above(known: float, value: exp.Expr) -> exp.Expr:
    """What a number says of its mean, and beyond that."""
    return add_up([number(known), value]) if known else value


def _felt(weight: float) -> float:
    """A weight; one that is too small for any sum to feel is 0."""
    return weight if abs(weight) > 1e-200 else 0.0


def _scaled(value: float, shift: int) -> float:
    try:
        return math.ldexp(value, shift)
    except OverflowError:
        return math.copysign(math.inf, value)


def _greater(pair: list[str]) -> exp.Expr:
    first, *other = pair
    if not other:
        return exp.column(first)
    one, two = exp.column(first), exp.column(other[0])
    return exp.alias_(case([(exp.GTE(this=one, expression=two), one.copy())], two.copy()), first)


def _table(name: str) -> exp.Expr:
    """A table by its name; dots part catalog, schema and table, unless they are within double quotes."""
    parts, inside, own = [""], False, name
    for letter in own:
        if letter == '"':
            inside = not inside
        elif letter == "." and not inside:
            parts.append("")
        else:
            parts[-1] += letter
    if inside or not all(parts) or len(parts) > 3 or "\0" in name:
        raise SettingError(
            f'The name {shown(name)} is not a table. Write it as rows, public.rows or "a.name with dots".'
        )
    names = [exp.to_identifier(p, quoted=True) for p in parts]
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(names), strict=False)))
