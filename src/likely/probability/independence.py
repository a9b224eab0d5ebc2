"""Entropy, mutual information and (conditional) independence of the variables of a distribution.

Information is in bits, as floats, since logs are; independence is exact for a table that is the whole truth, a G test
for a sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likely.errors import SettingError, shown
from likely.machinery.distributions import chi_square_tail
from likely.probability.numbers import Number, as_float, equal, log, plain, rounded
from likely.probability.writing import event_text, printable

if TYPE_CHECKING:
    from likely.probability.cells import Cell
    from likely.probability.distribution import Distribution

FEW = 5
"""A cell that should hold fewer rows than this makes the p-value rough (Cochran's rule)."""


@dataclass(frozen=True)
class Independence:
    """Whether a and b are independent (given c); true or false as `bool(...)`, a sentence as `str(...)`.

    For a sample, `statistic` is G = 2 Σ n · ln(n / expected), `p_value` the chance of so large a G if they were
    independent, and the answer is true unless that is below `level`. For a table that is the whole truth they are None.

    >>> from likely.probability import Joint
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
