"""The normal density of one number: its height, its area between two values, and how that is worked out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from likely.errors import SettingError, shown


@dataclass(frozen=True)
class Normal:
    """The normal density of a mean and a standard deviation.

    >>> round(Normal(0, 1).between(-1, 1), 4), round(Normal(73, 6.2).density(66), 4)
    (0.6827, 0.034)
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.mean):
            raise SettingError(f"The mean is {shown(self.mean)}. It must be a finite number.")
        if not 0 < self.deviation < math.inf:
            raise SettingError(f"The standard deviation is {shown(self.deviation)}. It must be a number above zero.")

    def standard(self, x: float) -> float:
        """How many standard deviations x lies above the mean."""
        return (x - self.mean) / self.deviation

    def density(self, x: float) -> float:
        """The height of the curve, not a probability: it may be above 1."""
        return math.exp(-(self.standard(x) ** 2) / 2) / (self.deviation * math.sqrt(2 * math.pi))

    def between(self, low: float, high: float) -> float:
        """P(low <= x <= high), exact in the far tails too."""
        if not low <= high:
            raise SettingError(f"{shown(low)} is above {shown(high)}. Give the lower value first.")
        a, b = self.standard(low) / math.sqrt(2), self.standard(high) / math.sqrt(2)
        if a > 0:
            return 0.5 * (math.erfc(a) - math.erfc(b))
        if b < 0:
            return 0.5 * (math.erfc(-b) - math.erfc(-a))
        return 0.5 * (math.erf(b) - math.erf(a))

    def working(self, low: float, high: float) -> list[str]:
        """The lines of a board: values in standard deviations, the areas below them, and their difference."""
        out = [f"P({_word(low)} ≤ x ≤ {_word(high)}) of the normal density N({self.mean:g}, {self.deviation:g}²)"]
        for x in (low, high):
            if math.isfinite(x):
                z, below = self.standard(x), self.between(-math.inf, x)
                mean = f"- {self.mean:g}" if self.mean >= 0 else f"+ {-self.mean:g}"
                out.append(
                    f"  z = ({x:g} {mean}) / {self.deviation:g} = {z:.4g}, P(x ≤ {x:g}) = Φ({z:.4g}) = {below:.6g}"
                )
        return [*out, f"  = {self.between(low, high):.6g}"]


def _word(x: float) -> str:
    return f"{x:g}" if math.isfinite(x) else ("∞" if x > 0 else "-∞")
