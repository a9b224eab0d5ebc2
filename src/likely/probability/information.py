"""Entropy and mutual information of a joint table, in bits. Floats, since logs are; the ratios inside are exact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from likely.probability.numbers import Number, as_float, log

if TYPE_CHECKING:
    from likely.probability.joint import Joint


def entropy(joint: Joint, names: tuple[str, ...], given: tuple[str, ...]) -> float:
    """H(names | given) = −Σ P(names, given) · log₂ P(names | given)."""
    whole = joint.marginal(*dict.fromkeys((*given, *names)))
    below = joint.marginal(*given).cells
    size = len(given)
    return _bits(-as_float(p) * log(p / below[cell[:size]]) for cell, p in whole.cells.items())


def mutual_information(joint: Joint, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> float:
    """I(a; b | given) = Σ P(a, b, c) · log₂ [P(a, b | c) / (P(a | c) · P(b | c))].

    Never below zero but by rounding, which is taken off; independent fractions give 0 exactly.
    """
    return _bits(as_float(p) * log(ratio) for p, ratio in ratios(joint, a, b, given))


def ratios(joint: Joint, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> list[tuple[Number, Number]]:
    """For each possible cell its probability, and how many times more probable it is than under independence."""
    whole = joint.marginal(*a, *b, *given)
    first, second = joint.marginal(*a, *given).cells, joint.marginal(*b, *given).cells
    below, out = joint.marginal(*given).cells, []
    for cell, p in whole.cells.items():
        of_a, of_b, of_c = cell[: len(a)], cell[len(a) : len(a) + len(b)], cell[len(a) + len(b) :]
        # Two quotients, since the product of two small floats may be zero.
        out.append((p, (p / first[of_a + of_c]) * (below[of_c] / second[of_b + of_c])))
    return out


def _bits(nats: object) -> float:
    return max(0.0, math.fsum(nats)) / math.log(2)  # type: ignore[arg-type]
