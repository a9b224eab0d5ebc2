"""The loss: what each action costs in each class, named on both axes. Plain Python: knows no model and no array."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from pathlib import Path
from typing import Any, TypeAlias

from likely.errors import SettingError, nearest, shown
from likely.machinery.text_files import parse_toml, read_toml_text
from likely.machinery.text_files import toml_key as toml_key

DONT_KNOW = "don't know"
"""The action that says nothing of the class."""

LARGEST = 1e300
"""The largest cost, so that differences and sums of costs stay finite too."""

_OF_CLASSES, _OF_ACTIONS = ("class", "truth", "actual"), ("action", "decision", "predicted")
"""What the first cell of a table of costs may say of its rows."""

Number: TypeAlias = int | float | Fraction


@dataclass(frozen=True)
class Loss:
    """What each action costs in each class. What is not named costs nothing; a negative cost is a gain.

    Actions need not be classes. Costs are numbers, or fractions as text ("1/3"), which are kept exact.

    >>> loss = Loss({"cancer": {"send home": 10}, "healthy": {"operate": 1}}, abstain=0.5)
    >>> loss.actions
    ('send home', 'operate', "don't know")
    >>> loss.rows(("cancer", "healthy"))
    ((10, 0, 0.5), (0, 1, 0.5))
    """

    costs: Mapping[str, Mapping[str, Number]]
    """For each class the cost of each action; 0 where an action is not named."""
    abstain: Number | None = None
    """The cost of the action "don't know" in every class; None: it is no action."""
    actions: tuple[str, ...] = field(init=False, compare=True)
    """In the order in which they were first named, "don't know" last. Ties go to the first."""

    def __post_init__(self) -> None:
        costs = _named(self.costs)
        named = dict.fromkeys(action for of_class in costs.values() for action in of_class)
        if self.abstain is not None:
            object.__setattr__(self, "abstain", _number(self.abstain, f"the action {shown(DONT_KNOW)}"))
            if DONT_KNOW in named:
                raise SettingError(
                    f"The loss gives the cost of {shown(DONT_KNOW)} twice: as abstain, and in a class. Give it once."
                )
        # "Don't know" comes last, so that a tie goes to one that says something. Where actions are classes, it does.
        classes = self.abstain is None and named.keys() == costs.keys()
        last = [DONT_KNOW] if self.abstain is not None or (DONT_KNOW in named and not classes) else []
        actions = (*(a for a in named if a not in last), *last)
        if len(actions) < 2:
            only = f"only the action {shown(actions[0])}" if actions else "no action"
            raise SettingError(f"The loss names {only}, so there is nothing to decide. Name at least two actions.")
        object.__setattr__(self, "costs", costs)
        object.__setattr__(self, "actions", actions)

    @classmethod
    def zero_one(cls, classes: Iterable[str], abstain: Number | None = None) -> Loss:
        """Actions are classes: the right one costs nothing, a wrong one 1. Its decision is the most probable class.

        >>> Loss.zero_one(("no", "yes")).rows(("no", "yes"))
        ((0, 1), (1, 0))
        """
        names = tuple(classes)
        return cls({c: {a: int(a != c) for a in names} for c in names}, abstain)

    @classmethod
    def of(cls, given: Loss | Mapping[str, Any] | None) -> Loss | None:
        """A loss as it may be given: as such, or as the mapping of its costs alone."""
        return given if given is None or isinstance(given, Loss) else cls(given)

    @classmethod
    def read(cls, path: str | Path) -> Loss:
        """The loss in a file: TOML, or a table as CSV."""
        return read_loss(path)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it names, in their order."""
        return tuple(self.costs)

    def cost(self, name: str, action: str) -> Number:
        """The cost of an action in a class."""
        found = self._of(name)
        if action not in self.actions:
            raise SettingError(f"The loss has no action {shown(action)}. {nearest(action, self.actions)}")
        if action == DONT_KNOW and self.abstain is not None:
            return self.abstain
        return found.get(action, 0)

    def rows(self, classes: Iterable[str]) -> tuple[tuple[Number, ...], ...]:
        """The costs as a table: a row for each of these classes, a column for each action."""
        unknown = {} if self.abstain is None else {DONT_KNOW: self.abstain}
        table = ({**self._of(name), **unknown} for name in classes)
        return tuple(tuple(of_class.get(action, 0) for action in self.actions) for of_class in table)

    def check(self, classes: Iterable[str]) -> None:
        """Refuse to decide between these classes where one is not named, or where an action has no name."""
        self.rows(classes)
        if "" in self.actions:
            raise SettingError("The loss has an action without a name, which no table could tell from none. Name it.")

    def _of(self, name: str) -> Mapping[str, Number]:
        if name not in self.costs:
            raise SettingError(
                f"The loss does not name the class {shown(name)}, so what an action costs there is not known. "
                f"{nearest(name, self.costs)}"
            )
        return self.costs[name]

    def toml(self, under: str = "") -> str:
        """The loss as a TOML file, or as a part of one (`under`). `parse_loss` reads it back, order and all."""
        inside = f"{under}." if under else ""
        lines = [f"[{under}]"] if under else []
        costs = self.costs
        if self.abstain is not None:
            spelled = [word for word in ("abstain", DONT_KNOW) if word not in costs]
            if spelled:
                lines.append(f"{toml_key(spelled[0])} = {_written(self.abstain)}")
            else:  # both words are classes here, so it is said in each class
                costs = {name: {a: self.cost(name, a) for a in self.actions} for name in costs}
        for name, of_class in costs.items():
            lines += [*([""] if lines else []), f"[{inside}{toml_key(name)}]"]
            lines += [f"{toml_key(action)} = {_written(cost)}" for action, cost in of_class.items()]
        return "\n".join(lines) + "\n"


def parse_loss(text: str, name: str = "The loss") -> Loss:
    """The loss in a TOML file; `name` is what to call it in a sentence.

    >>> parse_loss('abstain = 0.3\\n[cancer]\\n"send home" = 10\\n[healthy]\\noperate = 1').actions
    ('send home', 'operate', "don't know")
    """
    return loss_of(parse_toml(text, name, "a loss"), name)


def loss_of(page: Mapping[str, Any], name: str) -> Loss:
    """The loss on a page that was read already: a part for each class, and `abstain`."""
    classes = {key: value for key, value in page.items() if isinstance(value, Mapping)}
    single = {key: value for key, value in page.items() if key not in classes}
    for key in single:
        if key not in ("abstain", DONT_KNOW):
            raise SettingError(
                f"{shown(name)}: {shown(key)} is neither a class with the costs of actions nor abstain. "
                f"Write a class like this: [{toml_key(key)}], and below it: operate = 1."
            )
    if len(single) > 1:
        raise SettingError(f"{shown(name)} gives the cost of {shown(DONT_KNOW)} twice. Give it once.")
    return Loss(classes, next(iter(single.values()), None))


def parse_loss_table(text: str, name: str = "The loss", delimiter: str = ",") -> Loss:
    """The loss in a table of text: a row for each class and a column for each action, or the other way round.

    The first cell says which: `class` (or `truth`, `actual`) where rows are classes, `action` (or `decision`,
    `predicted`) where they are actions. An empty cell costs nothing.

    >>> parse_loss_table("class,send home,operate\\ncancer,10,\\nhealthy,,1/2").rows(("cancer", "healthy"))
    ((10, 0), (0, Fraction(1, 2)))
    >>> parse_loss_table("action,cancer,healthy\\nsend home,10,0\\noperate,0,0.5").rows(("cancer", "healthy"))
    ((10, 0), (0, Fraction(1, 2)))
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=delimiter)]
    rows = [row for row in rows if any(row)]
    first = rows[0][0].lower() if rows else ""
    if first not in (*_OF_CLASSES, *_OF_ACTIONS):
        raise SettingError(
            f"{shown(name)} begins with {shown(first)}. Its first cell must say what the rows are: class, with a "
            "column for each action; or action, with a column for each class."
        )
    header = rows[0][1:]
    for number, row in enumerate(rows, 1):
        if len(row) != len(header) + 1:
            many = f"{len(row)} cells where the first has {len(rows[0])}"
            raise SettingError(f"Row {number} of {shown(name)} has {many}. Give it one for each.")
    for what, names in (("column", header), ("row", [row[0] for row in rows[1:]])):
        odd = next((n for k, n in enumerate(names) if not n or n in names[:k]), None)
        if odd is not None:
            raise SettingError(f"{shown(name)} has the {what} {shown(odd)} twice, or without a name. Correct it.")
    cells = {row[0]: dict(zip(header, row[1:], strict=True)) for row in rows[1:]}
    if first in _OF_ACTIONS:
        cells = {of: {action: row[of] for action, row in cells.items()} for of in header}
    costs: dict[str, dict[str, Any]] = {
        of: {action: cost or 0 for action, cost in row.items()} for of, row in cells.items()
    }
    return Loss(costs)


def read_loss(path: str | Path) -> Loss:
    """The loss in a file: TOML, or a table as CSV (.csv) or with tabs (.tsv)."""
    suffix, text = Path(path).suffix.lower(), read_toml_text(path)
    if suffix in (".csv", ".tsv"):
        delimiter = "\t" if suffix == ".tsv" else ";" if ";" in text.partition("\n")[0] else ","
        return parse_loss_table(text, Path(path).name, delimiter)
    return parse_loss(text, Path(path).name)


def _named(costs: object) -> dict[str, dict[str, Number]]:
    """Costs by class and action, names as text, every cost a finite number."""
    like = '{"cancer": {"send home": 10}, "healthy": {"operate": 1}}'
    if not isinstance(costs, Mapping):
        raise SettingError(f"The loss is {shown(costs)}. Give the costs by class and action, like this: {like}.")
    out: dict[str, dict[str, Number]] = {}
    for key, of_class in costs.items():
        name = _name(key)
        if not isinstance(of_class, Mapping):
            raise SettingError(
                f"In the loss, the class {shown(key)} has {shown(of_class)}, not a cost for each action. "
                f"Write it like this: {like}."
            )
        if name in out:
            raise SettingError(f"The loss names the class {shown(name)} twice.")
        out[name] = {}
        for action, cost in of_class.items():
            where = f"the action {shown(action)} in the class {shown(name)}"
            if _name(action) in out[name]:
                raise SettingError(f"The loss names {where} twice.")
            out[name][_name(action)] = _number(cost, where)
    return out


def _name(value: object) -> str:
    """A name as tables spell it: the label of a value of Python."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value).strip()


def _number(value: object, where: str) -> Number:
    """A finite cost; text is an exact fraction or decimal."""
    wrong = SettingError(f"The cost of {where} is {shown(value)}. It must be a finite number, such as 10 or '1/3'.")
    if isinstance(value, bool) or not isinstance(value, (str, Real, Decimal)):
        raise wrong
    try:
        if isinstance(value, str) and "/" not in value:
            value = Decimal(value)
        if isinstance(value, Decimal) and not (value.is_finite() and abs(int(value.as_tuple().exponent)) < 1000):
            raise wrong  # as a fraction, 1e-999999999 would fill the memory
        if isinstance(value, (str, Decimal)):
            value = Fraction(value)
        elif isinstance(value, Rational):
            value = Fraction(int(value.numerator), int(value.denominator))
        exact = value if isinstance(value, Fraction) else float(value)
        if not abs(float(exact)) <= LARGEST:  # NaN is not, either
            raise wrong
    except (ArithmeticError, ValueError):
        raise wrong from None
    return int(exact) if isinstance(exact, Fraction) and exact.denominator == 1 else exact


def _written(cost: Number) -> str:
    return json.dumps(str(cost)) if isinstance(cost, Fraction) else repr(cost)
