"""A tally of numbers as densities and bins read it: values, where each stands, and its weight in each class.

Knows what a tally that has dropped low bits can still tell; knows no settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.sums.columns.numbers import Numbers
from likely.sums.exact import Exact

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ValueTally:
    """Distinct values in order. Where bits were dropped, a value stands for all numbers from it up to the next step."""

    values: NDArray[np.float64]
    centres: NDArray[np.float64]
    """The middle of what each value stands for; the value itself while no bit has been dropped."""
    steps: NDArray[np.float64]
    """How wide that is; 0 while no bit has been dropped."""
    table: Exact
    """(values, classes), exact."""
    weights: NDArray[np.float64]
    """The same, rounded once."""
    whole: NDArray[np.float64]
    """What each value weighs in all classes together."""
    level: int

    def cut(self, place: int, above: bool = True) -> float:
        """A number between value `place - 1` and value `place`: the middle.

        Where bits were dropped, the number that parts the two exactly: the dropping was towards zero. `above` says
        whether the number itself is to lie above the cut or below it.
        """
        low, high = float(self.values[place - 1]), float(self.values[place])
        if self.level:
            least = high if high > 0 else float(np.nextafter(low, np.inf))
            return least if above else float(np.nextafter(least, -np.inf))
        middle = low / 2 + high / 2
        for found in (float(f"{middle:.12g}"), middle):  # (2.4 + 2.5) / 2 is 2.45, and not 2.4500000000000002
            if low < found < high:
                return found
        return high if above else low


def read_tally(numbers: Numbers) -> ValueTally:
    """Read the tally of a column."""
    return numbers.cached("tallied", _read_tally)


def _read_tally(numbers: Numbers) -> ValueTally:
    values, table = numbers.tally()
    centres, steps = values, np.zeros(len(values))
    if numbers.level:
        bits = values.view(np.uint64)
        with np.errstate(over="ignore", invalid="ignore"):
            centres = (bits + np.uint64(1 << (numbers.level - 1))).view(np.float64)
            steps = np.abs((bits + np.uint64(1 << numbers.level)).view(np.float64) - values)
        # The topmost step may reach beyond the doubles.
        centres = np.where(np.isfinite(centres), centres, values)
        steps = np.where(np.isfinite(steps), steps, 0.0)
    whole = table.sum(1).floats() if len(values) else np.zeros(0)
    return ValueTally(values, centres, steps, table, table.floats(), whole, numbers.level)
