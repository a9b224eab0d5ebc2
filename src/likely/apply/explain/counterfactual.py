"""Counterfactuals: the fewest values that would have to be others for the decision to be another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.decide.decider import Costs, make_decision
from likely.apply.explain import ledger
from likely.apply.explain.changes import (
    NODES,
    Budget,
    ChangeChoice,
    Pick,
    WordRemoval,
    additive,
    choices,
    fewest_by_terms,
    fewest_by_trying,
    word_removals,
)
from likely.apply.explain.ledger import clean
from likely.apply.explain.row import QueryRow, read_row
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery.presented import Presented
from likely.models.contracts import Model
from likely.models.loss import Loss
from likely.models.posterior import Posterior
from likely.table.batch import Batch
from likely.table.labels import date_label, label, number_label

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Where one attribute alone turns a decision: which levels do, and of numbers the nearest value and how far it
# reaches.

DAY = 86400.0
ROUNDS, FINE = 12, 33
"""A boundary is narrowed down so often, each time to one of so many steps."""
NEAR = 0.01
"""A value may be rounded by so much of the way that it has come."""
MOST_LEVELS = 6

Test = Callable[["NDArray[Any]"], "NDArray[np.bool_]"]


@dataclass(frozen=True)
class SingleChange:
    """An attribute that by itself would change the decision."""

    name: str
    before: str | None
    decision: str
    """What would be decided then."""
    levels: tuple[str, ...] = ()
    """The levels that would do it."""
    nearest: float | None = None
    """The number nearest to the one there is that would do it."""
    farthest: float | None = None
    """The other end of the numbers that would, from `nearest` on; None where they reach to the end of training's."""
    words: str = ""

    def to_dict(self) -> dict[str, object]:
        """As plain values, for JSON."""
        found: dict[str, object] = {"name": self.name, "before": self.before, "decision": self.decision}
        found["words"] = self.words
        if self.levels:
            return {**found, "levels": list(self.levels)}
        return {**found, "nearest": self.nearest, "farthest": self.farthest}


def single_change(
    choice: ChangeChoice, row: QueryRow, decision: str, hits: NDArray[np.bool_], test: Test
) -> SingleChange:
    """What the attribute would have to be, all others staying as they are; `hits` are those candidates that do."""
    before = None if row.states[choice.name] == "missing" else row.cells.get(choice.name)
    now = "" if before is None else f" instead of {clean(before)}"
    if choice.labels is not None:
        levels = tuple(choice.labels.names[c] for c in choice.values[hits].tolist())
        listed = " or ".join(clean(n) for n in levels[:MOST_LEVELS])
        more = f" or one of {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else ""
        return SingleChange(choice.name, before, decision, levels, words=f"{clean(choice.name)}={listed}{more}{now}")
    cell = float(row.batch.cells[choice.name][0])
    return _number(choice, before, decision, now, cell, hits, test)


def _number(
    choice: ChangeChoice,
    before: str | None,
    decision: str,
    now: str,
    cell: float,
    hits: NDArray[np.bool_],
    test: Test,
) -> SingleChange:
    values = choice.values
    start = cell if math.isfinite(cell) else float(values[np.flatnonzero(hits)[0]])
    places = np.flatnonzero(hits)
    at = int(places[np.abs(values[places] - start).argmin()])
    step = 1 if values[at] >= start else -1
    # Values that differ by less than rounding are equally far away: the nearest is the last one that would do.
    while 0 <= at - step < len(values) and hits[at - step] and (values[at - step] - start) * step > 0:
        at -= step
    # From the nearest hit outwards as long as values would do.
    end = at
    while 0 <= end + step < len(values) and hits[end + step]:
        end += step
    inner = at - step
    beside = float(values[inner]) if 0 <= inner < len(values) and (values[inner] - start) * step > 0 else start
    near = float(values[at]) if beside == values[at] else _boundary(choice, float(values[at]), beside, test)
    at_end = not 0 <= end + step < len(values)
    far = None if at_end else _boundary(choice, float(values[end]), float(values[end + step]), test)

    def does(value: float) -> bool:
        return bool(test(np.array([value]))[0])

    # Just short of a round number that no longer does: "below 4.75" rather than 4.749999999999999.
    sides = [_side(choice, near, -step, does), "" if far is None else _side(choice, far, step, does)]
    near = round_value(choice, near, does, abs(near - start) * NEAR)
    if far is not None:
        far = round_value(choice, far, does, abs(far - near) * NEAR)
    told = sides[0] or write_value(choice, near)
    if far is None:
        ways = ("earlier", "later") if choice.date else ("less", "more")
        span = sides[0] or f"{told} or {ways[step > 0]}"
    else:
        ends = [told, sides[1] or write_value(choice, far)][::step]
        span = ends[0] if near == far else f"from {ends[0]} to {ends[1]}"
    return SingleChange(choice.name, before, decision, (), near, far, f"{clean(choice.name)} {span}{now}")


def _side(choice: ChangeChoice, value: float, beyond: int, does: Callable[[float], bool]) -> str:
    """'below 4.75' or 'above 4.75', where the value is the last one before a round number that does not do."""
    edge = float(f"{value:.12g}")
    long = float(f"{edge:.6g}") != edge
    if choice.date or choice.whole or long or edge == value or (edge - value) * beyond < 0 or does(edge):
        return ""
    return f"{'below' if beyond > 0 else 'above'} {number_label(edge)}"


def _boundary(choice: ChangeChoice, hit: float, miss: float, test: Test) -> float:
    """The value nearest to `miss` that still does, `hit` doing and `miss` not."""
    for _ in range(ROUNDS):
        points = (
            np.linspace(hit, miss, FINE) if math.isfinite(miss - hit) else np.array([hit, hit / 2 + miss / 2, miss])
        )
        if choice.whole:
            points = np.where(points == miss, miss, np.floor(points) if miss > hit else np.ceil(points))
        points = points[np.concatenate([[True], points[1:] != points[:-1]])]
        inner = points[(points != hit) & (points != miss)]
        if not len(inner):
            break
        does = test(inner)
        last = int(np.flatnonzero(does)[-1]) if does.any() else -1
        hit = float(inner[last]) if last >= 0 else hit
        miss = float(inner[last + 1]) if last + 1 < len(inner) else miss
    return hit


def round_value(choice: ChangeChoice, value: float, does: Callable[[float], bool], most: float | None = None) -> float:
    """The value in as few digits as still do, moved by at most `most` (a fiftieth of the range if not said)."""
    room = (choice.high - choice.low) / 50 if most is None else most
    tried = [math.floor(value / DAY) * DAY, math.ceil(value / DAY) * DAY, round(value)] if choice.date else []
    if not choice.date and not choice.whole:
        for digits in range(1, 17):
            near = float(f"{value:.{digits}g}")
            unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 0.0
            tried += [near, *(float(f"{v:.{digits}g}") for v in (near - unit, near + unit))]
    for near in tried:
        if abs(near - value) <= room and choice.low <= near <= choice.high and does(near):
            return near
    return value


def write_value(choice: ChangeChoice, value: Any) -> str:
    """A candidate as a file would spell it."""
    if choice.labels is not None:
        return str(choice.labels.names[int(value)])
    return date_label(float(value)) if choice.date else number_label(float(value))


# Counterfactuals: the fewest values that would have to be others for the decision to be another.

TRIES, TRIES_OF_MANY, TRIES_OF_ROWS = 400_000, 10_000, 4_000
"""Rows that are tried where no sum of terms can be searched; fewer where several members are asked about each, or each
is compared with all rows of training."""


@dataclass(frozen=True)
class ValueChange:
    """One value that would have to be another."""

    name: str
    before: str | None
    after: str


@dataclass(frozen=True, repr=False)
class Counterfactual(Presented):
    """What would have to be other than it is. `changes` are the fewest; empty where none were found.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "n"]}, target="play")
    >>> found = likely.counterfactual(model, {"sky": "sun"})
    >>> found.decision, found.towards, [c.name for c in found.changes]
    ('y', 'n', ['sky'])
    """

    target: str
    decision: str | None
    """What is decided as things are; None where nothing can be."""
    towards: str | None
    """What would be decided after the changes; where there are none, what was wanted (None: anything else)."""
    changes: tuple[ValueChange, ...]
    posterior: Mapping[str, float]
    """P(class | row) after the changes; before them where there are none."""
    alone: tuple[SingleChange, ...]
    """Attributes that would do it each by itself, and by which values; of numbers the nearest."""
    exact: bool
    """Whether there are surely no fewer changes, or surely none at all, among the values that were considered."""
    complete: bool = True
    """Whether the values that were considered stand for all; else, of a number, there may be others in between."""
    remarks: tuple[str, ...] = ()
    wordless: tuple[WordRemoval, ...] = ()
    """Texts without some of their words would do it too."""

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        now = "nothing can be decided" if self.decision is None else f"the decision is {ledger.clean(self.decision)}"
        if not self.changes and self.wordless:
            return f"Now {now}. It would change if a text lost some of its words:"
        if not self.changes:
            other = "another decision" if self.towards is None else ledger.clean(self.towards)
            none = self.exact and self.complete
            found = "No change of these values leads to" if none else "Found no change that leads to"
            return f"Now {now}. {found} {other}."
        assert self.towards is not None
        sure = "" if self.exact else " (fewer changes may be enough)"
        if self.several:
            return f"Now {now}. It would change if one value were different{sure}:"
        many = "one value were" if len(self.changes) == 1 else f"{len(self.changes)} values were"
        chance = f" ({ledger.percent(self.posterior[self.towards])})" if self.towards in self.posterior else ""
        one = chance if not self.alone else ""
        return f"Now {now}. It would be {ledger.clean(self.towards)}{one} if {many} different{sure}:"

    @property
    def several(self) -> bool:
        """Whether single values lead to different decisions."""
        return len({a.decision for a in self.alone}) > 1

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes, or, where one is enough, all attributes that would do by themselves."""
        lost = tuple(f"{'or ' if self.changes else ''}{text}" for text in self.wordless)
        if not self.alone:
            return (*(_write_change(c.name, c.after, c.before) for c in self.changes), *lost)
        return (*(f"{a.words}: {ledger.clean(a.decision)}" if self.several else a.words for a in self.alone), *lost)

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, for JSON."""
        return {
            "target": self.target,
            "decision": self.decision,
            "towards": self.towards,
            "changes": [{"name": c.name, "before": c.before, "after": c.after} for c in self.changes],
            "posterior": dict(self.posterior),
            "alone": [a.to_dict() for a in self.alone],
            "without_words": [text.to_dict() for text in self.wordless],
            "exact": self.exact,
            "complete": self.complete,
            "remarks": list(self.remarks),
        }


def _write_change(name: str, after: str, before: str | None) -> str:
    now = "" if before is None else f" instead of {ledger.clean(before)}"
    return f"{ledger.clean(name)}={ledger.clean(after)}{now}"


def counterfactual(
    model: Model,
    row: object,
    *,
    number: int | None = None,
    towards: object = None,
    change: Sequence[str] | str | None = None,
    loss: Loss | Mapping[str, object] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Counterfactual:
    """The fewest changes of values that change the decision about a row, or lead `towards` a class or action.

    Only attributes in `change` are changed (names, or one name); if none are named, all that the row has a value of.
    Levels become any level of training, numbers any within the range of training or of what is known before data. A
    loss (or the model's own) decides by expected cost.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "n"]}, target="play")
    >>> print(counterfactual(model, {"sky": "sun"}))
    Now the decision is y. It would be n if one value were different:
      sky=rain instead of sun
    """
    return counterfactual_of(
        model, read_row(model, row, number, encoding=encoding, delimiter=delimiter), towards, change, loss
    )


def counterfactual_of(
    model: Model,
    row: QueryRow,
    towards: object = None,
    change: Sequence[str] | str | None = None,
    loss: Loss | Mapping[str, object] | None = None,
) -> Counterfactual:
    """The same for a row that was read already."""
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no decision to change. See `likely score`.")
    if model.random:
        raise SettingError(
            f"{model.called()} answers each row by a hypothesis drawn at random, so no change of values "
            "explains its decisions. Use Mixture."
        )
    asking = _Search.of(model, row, model.loss if loss is None else Loss.of(loss))
    wanted = asking.wanted(towards)
    names = _changeable(model, row, change)
    found = choices(model, row.batch, names, asking.totals)
    pick, exact = asking.fewest(found, wanted)
    alone = () if len(pick) > 1 else tuple(asking.alone(found, wanted))
    values = asking.values(pick, found, alone)
    by_name = {c.name: c for c in found}
    after = asking.posterior({n: np.array([v]) for n, v in values.items()}, found)
    codes = asking.codes(after)
    remarks = []
    if change is None and any(s == "missing" for s in row.states.values()):
        remarks.append("Missing values stay missing; list an attribute as changeable to have it filled in.")
    if change is None and (dated := [shown(c.part_of) for c in model.schema.attributes if c.part is not None]):
        remarks.append(f"Dates of which parts are read stay as they are: {', '.join(dict.fromkeys(dated))}.")
    if not exact:
        remarks.append("There were too many combinations to try all of them.")
    return Counterfactual(
        target=model.schema.target.name,
        decision=asking.name(asking.now),
        towards=asking.name(int(codes[0])) if values else (None if towards is None else asking.name(int(wanted[0]))),
        changes=tuple(ValueChange(n, _before(row, n), write_value(by_name[n], v)) for n, v in values.items()),
        posterior=dict(zip(model.classes, after.matrix[0].tolist(), strict=True)),
        alone=alone,
        exact=exact,
        # A text could be any other: of texts only words are taken away.
        complete=all(c.labels is not None or (c.complete and asking.loss is None) for c in found)
        and not any(model.schema[n].kind == "text" for n in names)
        and not any(s == "known" and n in _dated(model) for n, s in row.states.items()),
        remarks=tuple(remarks),
        wordless=word_removals(model, row, names, asking.codes, asking.names, wanted),
    )


def _before(row: QueryRow, name: str) -> str | None:
    return None if row.states[name] == "missing" else row.cells.get(name)


def _dated(model: Model) -> set[str | None]:
    """Dates that have parts, and these: none of them changes alone."""
    parts = [c for c in model.schema.attributes if c.part is not None]
    return {name for c in parts for name in (c.name, c.part_of)}


def _changeable(model: Model, row: QueryRow, change: Sequence[str] | str | None) -> list[str]:
    attributes = [c.name for c in model.schema.attributes]
    dated = _dated(model)
    if change is None:
        return [n for n in attributes if row.states[n] in ("known", "unseen") and n not in dated]
    for name in (change := [change] if isinstance(change, str) else change):
        if name not in attributes:
            why = "is not an attribute of this model" if name in model.schema.names else "is not there"
            raise ColumnError(f"{shown(name)} {why}, so it cannot be changed. {nearest(name, attributes)}")
        if name in dated:
            raise ColumnError(
                f"{shown(name)} cannot be changed by itself: a date and its parts change together. Fit with --dates "
                "whole, where the date is one number."
            )
    return [n for n in attributes if n in set(change)]


@dataclass(frozen=True)
class _Search:
    """The row, and how decisions about variants of it are made."""

    model: Model
    row: QueryRow
    loss: Loss | None
    costs: Costs | None
    totals: NDArray[np.float64]
    now: int

    @classmethod
    def of(cls, model: Model, row: QueryRow, loss: Loss | None) -> _Search:
        costs = None if loss is None else Costs(loss, model.classes)
        bare = cls(model, row, loss, costs, model.log_joint(row.batch)[0], -1)
        return cls(model, row, loss, costs, bare.totals, int(bare.codes(bare.posterior({}, []))[0]))

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.classes if self.loss is None else self.loss.actions

    def name(self, code: int) -> str | None:
        return self.names[code] if code >= 0 else None

    def wanted(self, towards: object) -> NDArray[np.intp]:
        """The decisions that would do."""
        every = np.arange(len(self.names))
        if towards is None:
            others: NDArray[np.intp] = every[every != self.now]
            return others
        name = str(label(towards))
        if name not in self.names:
            what = "class" if self.loss is None else "action"
            raise SettingError(f"There is no {what} {shown(name)} to lead towards. {nearest(name, self.names)}")
        if self.names.index(name) == self.now:
            raise SettingError(f"The decision is {shown(name)} already, so nothing has to change towards it.")
        return np.array([self.names.index(name)], np.intp)

    def posterior(self, values: Mapping[str, NDArray[Any]], found: Sequence[ChangeChoice]) -> Posterior:
        """P(class | row) with other values in some columns."""
        rows = len(next(iter(values.values()))) if values else 1
        whole = self.row.batch.take(np.zeros(rows, np.intp))
        by_name = {c.name: c for c in found}
        cells = {**whole.cells, **{n: by_name[n].column(v) for n, v in values.items()}}
        batch = Batch(rows, cells, whole.target, whole.weight, whole.start)
        return Posterior.of(self.model.classes, self.model.log_joint(batch), one=False, proper=self.model.proper)

    def codes(self, posterior: Posterior) -> NDArray[np.intp]:
        found: NDArray[np.intp] = posterior.codes
        return found if self.loss is None else make_decision(posterior, self.loss, costs=self.costs).codes

    def meets(
        self, values: Mapping[str, NDArray[Any]], found: Sequence[ChangeChoice], wanted: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Which rows of other values would be decided as wanted."""
        return np.isin(self.codes(self.posterior(values, found)), wanted)

    def alone(self, found: Sequence[ChangeChoice], wanted: NDArray[np.intp]) -> Iterator[SingleChange]:
        """What each attribute would have to be by itself, for each decision that it can lead to."""
        for choice in found:
            codes = self.codes(self.posterior({choice.name: choice.values}, [choice]))
            for code in sorted(set(codes.tolist()) & set(wanted.tolist())):

                def test(values: NDArray[Any], choice: ChangeChoice = choice, code: int = code) -> NDArray[np.bool_]:
                    return self.meets({choice.name: values}, [choice], np.array([code]))

                yield single_change(choice, self.row, self.names[code], codes == code, test)

    def fewest(self, found: list[ChangeChoice], wanted: NDArray[np.intp]) -> tuple[Pick, bool]:
        """The fewest changes, and whether that is sure."""
        references = self.model.references
        averaged = references is not None and references.unknown(self.row.batch) is not None
        pieces = additive(self.model) if self.loss is None and not averaged else None
        if pieces is None:
            many = TRIES_OF_MANY if self.model.members else TRIES
            tries = Budget(TRIES_OF_ROWS if "rows" in self.model.summary.more else many)

            def do(some: Sequence[int], codes: NDArray[np.intp]) -> NDArray[np.bool_]:
                values = {found[k].name: found[k].values[codes[:, j]] for j, k in enumerate(some)}
                return self.meets(values, found, wanted)

            pick = fewest_by_trying([len(c.values) for c in found], do, tries, len(found))
            return pick or (), tries.left >= 0
        own, tables = np.zeros((len(found), len(self.model.classes))), []
        for k, choice in enumerate(found):
            table = np.zeros((len(choice.values), len(self.model.classes)))
            if choice.name in pieces:
                term, power = pieces[choice.name]
                term.add_cells(self.row.batch.cells[choice.name], own[k : k + 1])
                term.add_cells(choice.column(choice.values), table)
                if power != 1.0:
                    own[k] *= power
                    table *= power
            tables.append(table)
        return self._by_terms(found, own, tables, wanted)

    def _by_terms(
        self,
        found: list[ChangeChoice],
        own: NDArray[np.float64],
        tables: list[NDArray[np.float64]],
        wanted: NDArray[np.intp],
    ) -> tuple[Pick, bool]:
        # Added up without the attributes that may change: taking -inf away again would not bring anything back.
        terms = self.model.terms(self.row.batch)
        changing = {choice.name for choice in found}
        staying = [0, *(k for k, line in enumerate(terms.lines, 1) if line.name not in changing)]
        fixed = terms.array[0][staying].sum(axis=0)
        best: Pick = ()
        sure, most = True, len(found)
        for code in sorted(wanted.tolist(), key=lambda c: (-self.totals[c], c)):
            budget = Budget(NODES)

            def holds(pick: Pick, code: int = code) -> bool:
                values = {found[k].name: found[k].values[[v]] for k, v in pick}
                return bool(self.meets(values, found, np.array([code]))[0])

            pick = fewest_by_terms(fixed, own, tables, code, holds, budget, most)
            sure = sure and budget.left >= 0
            if pick:
                best, most = pick, len(pick) - 1
        return best, sure

    def values(self, pick: Pick, found: list[ChangeChoice], alone: Sequence[SingleChange]) -> dict[str, object]:
        """The changes by name, in the order of the schema; numbers as round as will do, one alone the nearest."""
        values = {found[k].name: found[k].values[v] for k, v in sorted(pick)}
        near = {(a.name, a.decision): a.nearest for a in alone if a.nearest is not None}
        if not values:
            return {}
        decision = self.codes(self.posterior({n: np.array([v]) for n, v in values.items()}, found))
        for choice in (found[k] for k, _ in sorted(pick)):
            if choice.labels is not None:
                continue
            key = choice.name, str(self.name(int(decision[0])))
            if len(values) == 1 and key in near:
                values[choice.name] = near[key]
                continue

            def do(value: float, name: str = choice.name) -> bool:
                tried = {n: np.array([value if n == name else v]) for n, v in values.items()}
                return bool(self.meets(tried, found, decision)[0])

            values[choice.name] = round_value(choice, float(values[choice.name]), do)
        return values
