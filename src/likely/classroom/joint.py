"""The joint distribution of named variables: conditional tables, the product rule, information, independence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from likely.classroom.distribution import Cell, Distribution, Event, Names, cell_of, cell_text, names_of
from likely.classroom.query import Query, any_text, given_any_text, parse_query, query_text, table_text, write_number
from likely.classroom.writing import event_text, match_value
from likely.errors import SettingError, shown
from likely.machinery.distributions import chi_square_tail
from likely.machinery.presented import Presented
from likely.machinery.words import align_columns
from likely.models.fractions import (
    Given,
    Number,
    as_float,
    check_sum,
    equal,
    log,
    plain,
    printable,
    probability,
    rounded,
    total,
)

# Entropy, mutual information and (conditional) independence of the variables of a distribution.

FEW = 5
"""A cell that should hold fewer rows than this makes the p-value rough (Cochran's rule)."""


@dataclass(frozen=True)
class Independence:
    """Whether a and b are independent (given c); true or false as `bool(...)`, a sentence as `str(...)`.

    For a sample, `statistic` is G = 2 Σ n · ln(n / expected), `p_value` the chance of so large a G if they were
    independent, and the answer is true unless that is below `level`. For a table that is the whole truth they are None.

    >>> from likely.classroom import Joint
    >>> urns = Joint.listed({"first": "rb", "second": "rb"}, ["4/9", "2/9", "2/9", "1/9"])
    >>> print(urns.independent("first", "second"))
    first and second are independent.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...]
    independent: bool
    bits: float
    """Their (conditional) mutual information."""
    witness: tuple[Mapping[str, object], Number, Number] | None = None
    """For a table: the cell that is farthest off, P(a, b | c) and P(a | c) · P(b | c)."""
    statistic: float | None = None
    degrees: int | None = None
    p_value: float | None = None
    level: float | None = None
    sparse: int = 0
    """For a sample: cells in which fewer than five rows are expected; with many of them the p-value is rough."""
    cells: int = 0

    def __bool__(self) -> bool:
        return self.independent

    def __str__(self) -> str:
        names = f"{_several(self.a)} and {_several(self.b)}"
        under = f" given {_several(self.given)}" if self.given else ""
        if self.p_value is not None:
            found = "may be" if self.independent else "are unlikely to be"
            degrees = f"{self.degrees} degree{'' if self.degrees == 1 else 's'} of freedom"
            test = f"G = {rounded(self.statistic or 0.0, 4)}, {degrees}"
            rough = f" {self.sparse} of {self.cells} cells expect fewer than {FEW} rows, so p is rough."
            p = f"p = {rounded(self.p_value, 3)}" if self.p_value else "p below 1e-300"
            return f"{names} {found} independent{under}: {test}, {p}.{rough if self.sparse else ''}"
        if self.witness is None:
            return f"{names} are independent{under}."
        where, both, apart = self.witness
        known = {k: v for k, v in where.items() if k in self.given}
        end = f" | {event_text(known)}" if known else ""
        a, b = ({k: v for k, v in where.items() if k in side} for side in (self.a, self.b))
        return (
            f"{names} are not independent{under}: P({event_text({**a, **b})}{end}) = {plain(both)}, "
            f"but P({event_text(a)}{end}) · P({event_text(b)}{end}) = {plain(apart)}."
        )


def _several(names: tuple[str, ...]) -> str:
    return ", ".join(printable(n) for n in names)


def independence(
    joint: Distribution, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...], level: float
) -> Independence:
    """Compare P(a, b | c) with P(a | c) · P(b | c) in every cell."""
    for name in (*a, *b, *given):
        if [*a, *b, *given].count(name) > 1:
            raise SettingError(f"The variable {shown(name)} stands on more than one side. Name it on one.")
    if not a or not b:
        raise SettingError("Independence is of two sides. Name at least one variable on each.")
    if not 0 <= level <= 1:
        raise SettingError(f"level is {shown(level)}. It is a probability, such as 0.05.")
    if joint.counts is not None:
        return _of_sample(joint, a, b, given, level)
    whole = joint.marginal(*a, *b, *given)
    worst: tuple[Number, Cell, Number, Number] | None = None
    for cell, p, expected, _ in _against(whole, a, b, given):
        off: Number = p - expected if p > expected else expected - p
        if not equal(p, expected) and (worst is None or off > worst[0]):
            worst = (off, cell, p, expected)
    witness = None if worst is None else (dict(zip(whole.variables, worst[1], strict=True)), worst[2], worst[3])
    bits = mutual_information(joint, a, b, given)
    return Independence(a, b, given, worst is None, bits, witness)


def _against(
    whole: Distribution, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]
) -> list[tuple[Cell, Number, Number, Number]]:
    """For every cell of a, b and c with possible margins: P(a, b | c), P(a | c) · P(b | c), and P(c)."""
    out = []
    for of_c, share in whole.marginal(*given).cells.items():
        inside = whole.given(dict(zip(given, of_c, strict=True)))
        both, first, second = inside.cells, inside.marginal(*a).cells, inside.marginal(*b).cells
        zero: Number = 0 * share
        for of_a, p in first.items():
            for of_b, q in second.items():
                out.append((of_a + of_b + of_c, both.get(of_a + of_b, zero), p * q, share))
    return out


def _of_sample(
    joint: Distribution, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...], level: float
) -> Independence:
    """The G test on the counts themselves, without any pseudo-count; levels never seen take no degree of freedom."""
    assert joint.counts is not None
    seen = joint.from_counts(joint.counts, joint.variables)
    whole, rows = seen.marginal(*a, *b, *given), as_float(joint.rows or 0)
    degrees, sparse, cells, terms = 0, 0, 0, []
    for of_c in whole.marginal(*given).weights:
        inside = whole.given(dict(zip(given, of_c, strict=True)))
        degrees += (len(inside.marginal(*a).weights) - 1) * (len(inside.marginal(*b).weights) - 1)
    for _, p, expected, share in _against(whole, a, b, given):
        cells += 1
        sparse += as_float(expected * share) * rows < FEW
        if p:
            terms.append(as_float(p * share) * math.log(as_float(p / expected)))
    statistic = 2 * rows * max(0.0, math.fsum(terms))
    p_value = chi_square_tail(statistic, degrees)
    bits = max(0.0, math.fsum(terms)) / math.log(2)
    return Independence(
        a, b, given, p_value >= level, bits, None, statistic, degrees, p_value, level, sparse, cells
    )  # fmt: skip


def entropy(joint: Distribution, names: tuple[str, ...], given: tuple[str, ...]) -> float:
    """H(names | given) = −Σ P(names, given) · log₂ P(names | given)."""
    whole = joint.marginal(*dict.fromkeys((*given, *names)))
    below = joint.marginal(*given).cells
    size = len(given)
    return _bits(-as_float(p) * log(p / below[cell[:size]]) for cell, p in whole.cells.items())


def mutual_information(joint: Distribution, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> float:
    """I(a; b | given) = Σ P(a, b, c) · log₂ [P(a, b | c) / (P(a | c) · P(b | c))].

    Never below zero but by rounding, which is taken off; independent fractions give 0 exactly.
    """
    return _bits(as_float(p) * log(ratio) for p, ratio in ratios(joint, a, b, given))


def ratios(
    joint: Distribution, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]
) -> list[tuple[Number, Number]]:
    """For each possible cell its probability, and how many times more probable it is than under independence."""
    whole = joint.marginal(*a, *b, *given)
    first, second = joint.marginal(*a, *given).cells, joint.marginal(*b, *given).cells
    below, out = joint.marginal(*given).cells, []
    for cell, p in whole.cells.items():
        of_a, of_b, of_c = cell[: len(a)], cell[len(a) : len(a) + len(b)], cell[len(a) + len(b) :]
        # Two quotients, since the product of two small floats may be zero.
        out.append((p, (p / first[of_a + of_c]) * (below[of_c] / second[of_b + of_c])))
    return out


def _bits(nats: Iterable[float]) -> float:
    return max(0.0, math.fsum(nats)) / math.log(2)


# The joint distribution of named variables, conditional tables, the product rule and the rule of total probability.


class Joint(Distribution, Presented):
    """P(A, B, …): the probability of every combination of values of some named variables.

    Numbers given as text, whole numbers or fractions are exact, and so is everything that follows from them.

    >>> j = Joint.listed({"A": [0, 1], "B": [0, 1]}, ["0.4", "0.1", "0.2", "0.3"])
    >>> j.p(A=1, B=1), j.p({"A": 1}, given={"B": 1}), j.p(A=0)
    (Fraction(3, 10), Fraction(3, 4), Fraction(1, 2))
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment] # as of any table that is compared by its cells

    def __str__(self) -> str:
        return self.text()

    def text(self, across: str | None = None, fractions: bool | None = None) -> str:
        """The table as text; `across` puts the values of one variable side by side.

        `fractions` says True for fractions, False for decimals; otherwise what reads better.
        """
        return table_text(self, across if across is None else self.variables[self._place(across)], fractions)

    def working(self, event: Event, given: Event | None = None) -> str:
        """A query as on a blackboard: P(A=1 | C=1) = P(A=1, C=1) / P(C=1) = 0.35 / 0.5 = 0.7."""
        return query_text(self, event, given or {})

    def query(self, text: str, fractions: bool = False) -> QueryAnswer:
        """The answer to a question as one writes it: P(A=1 | C=1), P(A=1 or B=1), P(A | C).

        Names and values are bare, or in quotes (doubled inside) where they hold `,`, `|`, `=`, `or`, `and`.

        >>> urns = Joint.listed({"first": "rb", "second": "rb"}, ["4/9", "2/9", "2/9", "1/9"])
        >>> print(urns.query("P(first=r or second=r)"))
        P(first=r or second=r) = P(first=r) + P(second=r) − P(first=r, second=r) = 2/3 + 2/3 − 4/9 = 8/9 ≈ 0.8889
        """
        return ask(self, parse_query(text, self), fractions)

    def conditional(self, names: Names, given: Names) -> Conditional:
        """P(names | given) for every value of `given` that is possible."""
        return conditional(self, names_of(names), names_of(given))

    def total_probability(self, event: Event, over: Names) -> Total:
        """P(event) = Σ P(event | v) · P(v) over the values v of some variables, term by term."""
        return total_probability(self, event, names_of(over))

    def __mul__(self, other: object) -> Joint:
        """Product rule: with a `Conditional` P(B | A), the joint of both; with another Joint, as independent of it."""
        if isinstance(other, Joint):
            return multiplied(self, Conditional.of({(): other}, other.variables, ()))
        return multiplied(self, other) if isinstance(other, Conditional) else NotImplemented

    def independent(self, a: Names, b: Names, given: Names = (), level: float = 0.05) -> Independence:
        """Whether a and b are independent (given what is known): exactly, or for a sample by a G test."""
        return independence(self, names_of(a), names_of(b), names_of(given), level)

    def entropy(self, *names: str, given: Names = ()) -> float:
        """H(names) in bits, or H(names | given); without names, of all variables that are not given."""
        others = tuple(v for v in self.variables if v not in names_of(given))
        return entropy(self, names_of(names) or others, names_of(given))

    def mutual_information(self, a: Names, b: Names, given: Names = ()) -> float:
        """I(a; b) in bits, or I(a; b | given): what one tells of the other. Zero where they are independent."""
        return mutual_information(self, names_of(a), names_of(b), names_of(given))


class Conditional:
    """P(variables | given): a distribution for each value of what is given.

    >>> rows = {"ill": {"+": "0.98", "-": "0.02"}, "well": {"+": "0.03", "-": "0.97"}}
    >>> test = Conditional(rows, "test", given="state")
    >>> prior = Joint({"ill": "0.008", "well": "0.992"}, "state")
    >>> (prior * test).p({"state": "ill"}, given={"test": "+"}), test.total(prior).p(test="+")
    (Fraction(49, 235), Fraction(47, 1250))
    """

    __slots__ = ("parents", "tables", "variables")
    __hash__ = None  # type: ignore[assignment]

    variables: tuple[str, ...]
    parents: tuple[str, ...]
    """The variables that are given."""
    tables: dict[Cell, Joint]
    """The distribution for each combination of their values that is possible."""

    def __init__(self, rows: Mapping[Any, Mapping[Any, Given]], variables: Names, given: Names) -> None:
        names, parents = names_of(variables), names_of(given)
        _check_apart(names, parents)
        read: dict[Cell, dict[Cell, Number]] = {}
        for key, row in rows.items():
            where = cell_text(parents, key)
            cells = {cell_of(k, names): probability(v, f"P({cell_text(names, k)} | {where})") for k, v in row.items()}
            check_sum(cells.values(), f"The probabilities given {where}")
            read[cell_of(key, parents)] = cells
        # Every row has the same values, whether it names them or not.
        values = {n: list(dict.fromkeys(c[k] for row in read.values() for c in row)) for k, n in enumerate(names)}
        self.variables, self.parents = names, parents
        self.tables = {key: Joint(cells, names, levels=values) for key, cells in read.items()}

    @classmethod
    def of(cls, tables: dict[Cell, Joint], variables: tuple[str, ...], parents: tuple[str, ...]) -> Conditional:
        """Tables that are distributions already."""
        out = cls.__new__(cls)
        out.variables, out.parents, out.tables = variables, parents, tables
        return out

    def p(self, wanted: Event | str | None = None, /, *, given: Event, **values: object) -> Any:
        """P(event | given); `given` must name every parent. A name alone gives the distribution."""
        return self._table(given).p(wanted, **values)  # type: ignore[call-overload]

    def _table(self, known: Event) -> Joint:
        for name in self.parents:
            if name not in known:
                raise SettingError(f"P({self._title()}) needs the value of {shown(name)}. Give it, or average: total.")
        return next(iter(self.given(known).tables.values()))

    def given(self, known: Event | None = None, /, **values: object) -> Conditional:
        """The table once some of the parents are known; the others are still given."""
        held = {**(known or {}), **values}
        fixed = {}
        for name, value in held.items():
            if name not in self.parents:
                raise SettingError(f"{shown(name)} is not what P({self._title()}) is given.")
            place = self.parents.index(name)
            among = list(dict.fromkeys(cell[place] for cell in self.tables))
            fixed[place] = match_value(value, among, f"value of {shown(name)} that is")
        stay = [k for k in range(len(self.parents)) if k not in fixed]
        tables = {
            tuple(cell[k] for k in stay): table
            for cell, table in self.tables.items()
            if all(cell[k] == v for k, v in fixed.items())
        }
        if not tables:
            raise SettingError(f"P({self._title()}) has no row for {event_text(held)}. Give one.")
        return Conditional.of(tables, self.variables, tuple(self.parents[k] for k in stay))

    def total(self, prior: Joint) -> Joint:
        """Total probability: the distribution of the variables, averaged over what is given by its prior."""
        return multiplied(prior, self).marginal(*self.variables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Conditional):
            return NotImplemented
        return (self.variables, self.parents, self.tables) == (other.variables, other.parents, other.tables)

    def _title(self) -> str:
        return f"{', '.join(map(printable, self.variables))} | {', '.join(map(printable, self.parents))}"

    def __repr__(self) -> str:
        return f"<Conditional P({self._title()}): {len(self.tables)} rows>"

    def __str__(self) -> str:
        return self.text()

    def text(self, fractions: bool | None = None) -> str:
        """The table as text, a line for each value of what is given."""
        values = next(iter(self.tables.values())).levels
        cells = list(product(*values.values()))
        header = (
            *map(printable, self.parents),
            *(f"P({event_text(dict(zip(self.variables, c, strict=True)))})" for c in cells),
        )
        zero = Fraction(0)
        rows = [
            (*map(printable, key), *(write_number(own.get(c, zero), bool(fractions)) for c in cells))
            for key, own in ((key, table.cells) for key, table in self.tables.items())
        ]
        return align_columns([header, *rows], range(len(self.parents), len(header)))


def conditional(joint: Joint, names: tuple[str, ...], given: tuple[str, ...]) -> Conditional:
    """P(names | given) = P(names, given) / P(given), for every value of `given` that is possible."""
    _check_apart(names, given)
    both = joint.marginal(*given, *names)
    tables = {}
    for key in both.marginal(*given).weights:
        tables[key] = both.given(dict(zip(given, key, strict=True)))
    return Conditional.of(tables, names, given)


def multiplied(prior: Joint, table: Conditional) -> Joint:
    """The product rule: P(a, b) = P(a) · P(b | a). What `prior` has beside the parents does not matter to b."""
    for name in table.parents:
        prior._place(name)
    _check_apart(prior.variables, table.variables)
    places = [prior.variables.index(n) for n in table.parents]
    cells = {}
    for cell, p in prior.cells.items():
        for key, q in _row(table, tuple(cell[k] for k in places)).cells.items():
            cells[cell + key] = p * q
    first = next(iter(table.tables.values()))
    out = Joint.__new__(Joint)
    out._set((*prior.variables, *table.variables), cells, {**prior.levels, **first.levels}, None)
    if not out.exact:
        out.total = 1.0
    return out


def _row(table: Conditional, key: Cell) -> Joint:
    if key not in table.tables:
        where = event_text(dict(zip(table.parents, key, strict=True)))
        raise SettingError(f"P({table._title()}) has no row for {where}, which is possible. Give one.")
    return table.tables[key]


def _check_apart(names: tuple[str, ...], others: tuple[str, ...]) -> None:
    for name in names:
        if name in others:
            raise SettingError(f"The variable {shown(name)} is on both sides. Name it on one.")


@dataclass(frozen=True)
class QueryAnswer:
    """The answer to a query: a number, or a table; `working` is it as on a blackboard."""

    query: Query
    value: Number | None
    table: Joint | Conditional | None
    working: str

    def __str__(self) -> str:
        return self.working


def ask(joint: Joint, query: Query, fractions: bool = False) -> QueryAnswer:
    """The answer, with its working, in `fractions` alone if asked."""
    if query.names:
        table: Joint | Conditional
        if query.given_names:
            table = conditional(joint, query.names, query.given_names)
        else:
            table = joint.marginal(*query.names, given=query.given or None)
        return QueryAnswer(query, None, table, f"{query}\n{table.text(fractions=fractions or None)}")
    value = joint.p_any(query.events, given=query.given_any or query.given)
    if query.given_any:
        return QueryAnswer(query, value, None, given_any_text(joint, query.events, query.given_any, fractions))
    if len(query.events) == 1:
        return QueryAnswer(query, value, None, query_text(joint, query.events[0], query.given, fractions))
    return QueryAnswer(query, value, None, any_text(joint, query.events, query.given, fractions))


@dataclass(frozen=True)
class Total:
    """P(event) as a sum over cases: `terms` holds each case, P(event | case) and P(case).

    >>> joint = Joint.listed({"state": ["ill", "well"], "test": "+-"}, ["0.08", "0.02", "0.09", "0.81"])
    >>> found = joint.total_probability({"test": "+"}, over="state")
    >>> found.value, [float(p) for _, p, _ in found.terms]
    (Fraction(17, 100), [0.8, 0.1])
    """

    event: Mapping[str, object]
    terms: tuple[tuple[Mapping[str, object], Number, Number], ...]

    @property
    def value(self) -> Number:
        return total(p * q for _, p, q in self.terms)

    def __str__(self) -> str:
        asked = event_text(self.event)
        sums = " + ".join(f"P({asked} | {event_text(case)}) · P({event_text(case)})" for case, _, _ in self.terms)
        numbers = " + ".join(f"{plain(p)} × {plain(q)}" for _, p, q in self.terms)
        return f"P({asked}) = {sums}\n  = {numbers}\n  = {plain(self.value)}"


def total_probability(joint: Joint, wanted: Event, over: tuple[str, ...]) -> Total:
    """The terms of P(event) = Σ P(event | case) · P(case); impossible cases add nothing and are left out."""
    cases = joint.marginal(*over)
    terms = []
    for cell, q in cases.cells.items():
        case = dict(zip(over, cell, strict=True))
        terms.append((case, joint.p(wanted, given=case), q))
    return Total(dict(wanted), tuple(terms))
