"""A working as plain values, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal, TypeAlias

from likely.errors import SettingError, shown
from likely.models.fractions import READABLE, Quotient
from likely.models.shapes import Exhibit

# How the numbers of a working are written: as fractions, decimals, logs, vectors and matrices. Knows values only.

Style: TypeAlias = Literal["fractions", "decimals", "logs"]
STYLES = ("fractions", "decimals", "logs")
Value: TypeAlias = "Quotient | Fraction | float | int | str | tuple[Value, ...]"
"""What a quantity may be: a number, words, a vector, a matrix (a vector of rows)."""

MOST_STEPS = 12
"""So many factors are written out; the rest are counted."""


def check_style(style: object, base: object, bases: Collection[str]) -> None:
    """Refuse a way of writing that there is not."""
    if style not in STYLES:
        raise SettingError(f"A working is written in {', '.join(STYLES)}, not in {shown(style)}.")
    if base not in bases:
        raise SettingError(f"Logs are taken to the base {', '.join(bases)}, not {shown(base)}.")


def clean(text: str) -> str:
    """A name or a cell as it may stand in a formula."""
    return shown(text, 30)[1:-1]


def shorten(parts: list[str]) -> list[str]:
    """The first of many, and how many more there are."""
    if len(parts) <= MOST_STEPS:
        return parts
    return [*parts[:MOST_STEPS], f"… ({len(parts) - MOST_STEPS} more)"]


def join(parts: list[str], operator: str) -> str:
    """Parts of a product or a sum; a sum takes over the sign of what is negative."""
    some = shorten(parts)
    if operator != "+":
        return f" {operator} ".join(some)
    out = some[0] if some else "0"
    for part in some[1:]:
        out += f" − {part[1:]}" if part.startswith("−") else f" + {part}"
    return out


def log_heading(before: str, heading: str) -> str:
    """What a step is called where its log is taken; a quotient goes into brackets."""
    return f"{before[:-1]}({heading})" if before and " / " in heading else before + heading


def exp(log: float) -> float:
    """e**log; infinite where that is beyond a double."""
    return math.exp(log) if log < 709 else math.inf


def decimal(log: float) -> str:
    """e**log in four digits; as a power of ten where it is beyond a double."""
    return f"{math.exp(log):.4g}" if -700 < log < 700 or log == -math.inf else f"10^{log / math.log(10):.2f}"


def signed(value: float) -> str:
    """A number in four digits with a minus sign that is one."""
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    return minus(f"{value:.4g}")


def minus(text: str) -> str:
    """A number with a minus sign that is one, where it has any; that of an exponent stays."""
    return f"−{text[1:]}" if text.startswith("-") else text


def add_up(values: Sequence[float]) -> str:
    """A sum, term by term: `−0.1909 − 0.6532`."""
    return join([signed(v) for v in values], "+")


def write_value(value: Value, style: Style) -> str:
    """A value as it stands on a board."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            rows = (" ".join(write_value(v, style) for v in row) for row in value if isinstance(row, tuple))
            return f"[{'; '.join(rows)}]"
        return f"({', '.join(write_value(v, style) for v in value)})"
    if isinstance(value, Quotient):
        return minus(str(value)) if style == "fractions" else signed(float(value))
    if isinstance(value, Fraction):
        if value.denominator == 1 and abs(value) < 10**15:
            return minus(str(value.numerator))
        near = decimal(math.log(abs(value.numerator)) - math.log(value.denominator))
        near = f"−{near}" if value < 0 else near
        return f"{value} = {near}" if style == "fractions" and value.denominator <= READABLE**2 else near
    if isinstance(value, int):
        return minus(str(value))
    return signed(value)


def write_product(joined: str, product: Fraction | float, log: float, factors: int, style: Style) -> str:
    """A product, its value as a fraction where that can be read, and as a decimal."""
    parts = [joined]
    if isinstance(product, Fraction) and style == "fractions":
        if product.denominator <= READABLE**2 and factors > 1:
            parts.append(str(product))
        if product.denominator == 1:
            return " = ".join(parts)
    elif factors == 1:
        return joined
    return " = ".join([*parts, decimal(log)])


def plain_value(value: Value) -> object:
    """A value for JSON: a fraction with its decimal, a number, words, a list of these; None where it is infinite."""
    if isinstance(value, tuple):
        return [plain_value(v) for v in value]
    if isinstance(value, (Quotient, Fraction)):
        try:
            near: float | None = float(value)
        except OverflowError:
            near = None
        if isinstance(value, Fraction) and value.denominator == 1:
            return near
        return {"fraction": str(value), "value": near}
    return value if isinstance(value, (str, int)) or math.isfinite(value) else None


# A working as plain values: the steps of a product or a sum, what goes into them, and what they come to.

LogBase: TypeAlias = Literal["10", "2", "e"]
BASES: dict[str, float] = {"10": 10.0, "2": 2.0, "e": math.e}


@dataclass(frozen=True)
class Quantity:
    """Something that goes into a step: a mean, a count, a determinant. `values` are by class; under the name "" it is
    the same for all classes."""

    name: str
    values: Mapping[str, Value]

    def written(self, style: Style = "fractions") -> str:
        """One line: `determinant: no 0.0077; yes 0.0333`."""
        if self.values.keys() == {""}:
            return f"{self.name} = {write_value(self.values[''], style)}"
        each = (f"{clean(name)} {write_value(v, style)}" for name, v in self.values.items())
        return f"{self.name}: {'; '.join(each)}"


@dataclass(frozen=True)
class Step:
    """One factor of a product (the prior, P(cell | class) of one attribute), or one addend of a sum."""

    name: str
    cell: str | None
    """The cell as the row has it; None for the prior and where it is missing."""
    values: Mapping[str, Quotient | float]
    """By class: counts over counts, or a density. Empty where the step is left out."""
    log_values: Mapping[str, float]
    """Natural logs of the same, as the model adds them; 0 where the factor is left out."""
    note: str = ""
    """What is special about the cell, as a sentence for people."""
    cells: tuple[tuple[str, str | None], ...] = ()
    """For a block: each of its attributes that is in the factor, and its cell."""
    power: float = 1.0
    """What the factor is raised to."""
    title: str = ""
    """What it is called on the board, where that is not P(cell | class)."""
    texts: Mapping[str, str] | None = None
    """By class: how the value comes about, where that is more than a number: `0.25 × 6.75`."""

    @property
    def heading(self) -> str:
        """How the step is called on the board."""
        if self.title:
            return self.title
        if self.name == "":
            return f"P(class){self._raised}"
        sign = "P" if any(isinstance(v, Quotient) for v in self.values.values()) else "f"
        inside = ((name, "missing" if cell is None else cell) for name, cell in self.cells or ((self.name, self.cell),))
        named = ", ".join(f"{clean(name)}={clean(cell)}" for name, cell in inside)
        return f"{sign}({named} | class){self._raised}"

    @property
    def _raised(self) -> str:
        return "" if self.power == 1.0 else f"^{self.power:.3g}"

    def written(self, name: str, style: Style = "fractions") -> str:
        """The step of one class."""
        if self.texts is not None:
            return self.texts[name]
        value = self.values[name]
        if isinstance(value, Quotient):
            out = write_value(value, style)
        else:
            out = decimal(self.log_values[name] / self.power)
        return out if self.power == 1.0 else f"({out}){self._raised}"


@dataclass(frozen=True)
class Working:
    """P(class) times P(cell | class) for every cell, what it comes to, and the answer. `str` writes it out.

    A sum (`operator` "+") has addends for steps: the outputs of a regression, evidence in nats, averages.
    """

    classes: tuple[str, ...]
    """What has a line: each class, or each pair of them."""
    steps: tuple[Step, ...]
    """The prior, then the attributes in the order of the schema, those that are left out included."""
    products: Mapping[str, Fraction | float]
    """L(class), not normalised: a fraction where everything was counted, else a float (0.0 where it underflows)."""
    log10: Mapping[str, float]
    """The decimal log of L(class), which does not underflow. Of a sum that may be negative: NaN."""
    posterior: Mapping[str, float]
    best: str | None
    """The most probable class, the first of equals; None where the row cannot be classified."""
    operator: Literal["×", "+"] = "×"
    sign: str = "L({})"
    """What a line works out."""
    each: str = "class"
    """What a line is of."""
    quantities: tuple[Quantity, ...] = ()
    """What goes into the steps."""
    tables: tuple[Exhibit, ...] = ()
    """Rows that go into the steps: neighbours, normal equations."""
    remarks: tuple[str, ...] = ()
    """What the lines come to, as sentences, and what a reader should know."""
    scores: bool = False
    """Whether the answer is made of scores, which are no probabilities."""
    parts: tuple[tuple[str, Working], ...] = ()
    """The workings of members, each below its name, where several models are asked."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or counted specially, as sentences."""
        return (*(step.note for step in self.steps if step.note), *self.remarks)

    def line(self, name: str, style: Style = "fractions", base: LogBase = "10") -> str:
        """The line of one class: `9/14 × 2/9 × 3/9 × 3/9 × 3/9 = 1/189 = 0.005291`."""
        some = [step for step in self.steps if step.values]
        if style == "logs" and self.operator == "×":
            logs = [step.log_values[name] / math.log(BASES[base]) for step in some]
            total = self.log10[name] * math.log(10) / math.log(BASES[base])
            return f"{add_up(logs)} = {signed(total)}" if len(some) != 1 else add_up(logs)
        joined = join([step.written(name, style) for step in some], self.operator)
        total_of = self.products[name]
        if self.operator == "+":
            return f"{joined} = {write_value(total_of, style)}" if len(some) != 1 else joined
        return write_product(joined, total_of, self.log10[name] * math.log(10), len(some), style)

    def written(self, style: Style = "fractions", base: LogBase = "10") -> str:
        """All of it, in fractions as they were counted, in decimals, or as a sum of logs to a base.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain"], "play": ["y", "y", "n"]}, target="play")
        >>> print(model.working({"sky": "sun"}).written("logs").splitlines()[2])
        log10 L(y) = −0.1761 − 0.1249 = −0.301
        """
        check_style(style, base, BASES)
        logs = style == "logs" and self.operator == "×"
        before = ("ln " if base == "e" else f"log{base} ") if logs else ""
        headings = [log_heading(before, step.heading) for step in self.steps if step.values]
        lines = []
        for name, part in self.parts:
            lines += [f"{name}:", *(f"  {line}" for line in part.written(style, base).splitlines())]
        lines += [q.written(style) for q in self.quantities]
        lines.append(f"{before}{self.sign.format(self.each)} = {join(headings, '+' if logs else self.operator)}")
        lines += [f"{before}{self.sign.format(clean(name))} = {self.line(name, style, base)}" for name in self.classes]
        lines += shorten([*self.notes])
        if self.best is None:
            why = "No class wins" if self.scores else "Every product is 0"
            if self.scores and self.remarks:  # which say so
                return "\n".join(lines)
            return "\n".join([*lines, f"{why}: the row cannot be classified."])
        mark = "score" if self.scores else "P"
        chances = ", ".join(f"{mark}({clean(name)}) = {p:.4f}" for name, p in self.posterior.items())
        tied = sum(p == self.posterior[self.best] for p in self.posterior.values()) > 1
        return "\n".join([*lines, f"{chances}: {clean(self.best)}{' (the first of equals)' if tied else ''}"])

    def __str__(self) -> str:
        return self.written()

    def to_dict(self, style: Style = "fractions", base: LogBase = "10") -> dict[str, object]:
        """Everything as plain values, for JSON; what is infinite or has no value is None."""
        plain = plain_value

        def step(s: Step) -> dict[str, object]:
            return {
                "name": s.name,
                "heading": s.heading,
                "value": s.cell,
                "power": s.power,
                "values": {name: plain(v) for name, v in s.values.items()},
                "log_values": {name: plain(v) for name, v in s.log_values.items()},
                "note": s.note,
            }

        return {
            "lines": self.written(style, base).splitlines(),
            "members": [{"name": name, "working": part.to_dict(style, base)} for name, part in self.parts],
            "operator": self.operator,
            "quantities": [
                {"name": q.name, "values": {n: plain(v) for n, v in q.values.items()}} for q in self.quantities
            ],
            "tables": [
                {"title": t.title, "header": list(t.header), "rows": [[plain(c) for c in row] for row in t.rows]}
                for t in self.tables
            ],
            "steps": [step(s) for s in self.steps],
            "products": {name: plain(v) for name, v in self.products.items()},
            "log10": {name: plain(v) for name, v in self.log10.items()},
            "posterior": dict(self.posterior),
            "prediction": self.best,
        }


def multiply(values: Sequence[Quotient | float], log: float, exact: bool = True) -> Fraction | float:
    """The product of some values: a fraction where all were counted, else what `log` is the log of."""
    counted = [v for v in values if isinstance(v, Quotient)]
    if len(counted) < len(values) or not exact:
        return exp(log)  # scores of texts may be large
    if any(v.value == 0 for v in counted):
        return Fraction(0)
    # Two long products and one reduction; reducing at every step is slow where there are thousands.
    return prod((v.top for v in counted), start=Fraction(1)) / prod((v.bottom for v in counted), start=Fraction(1))
