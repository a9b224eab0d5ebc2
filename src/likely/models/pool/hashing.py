"""Numbers that look random but follow from a seed and the place of a row in its table. Knows nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def mixed(seed: int, start: int, rows: int) -> NDArray[np.uint64]:
    """64 mixed bits for each of the rows start, start + 1 …, by seed and number alone: batches do not matter.

    >>> bool((mixed(7, 0, 4)[2:] == mixed(7, 2, 2)).all())
    True
    """
    key = _scrambled(np.array([seed % 2**64], np.uint64) + _STEP)
    return _scrambled(key + (np.arange(start + 1, start + rows + 1).astype(np.uint64) * _STEP))


def shares(seed: int, start: int, rows: int) -> NDArray[np.float64]:
    """A number from 0 up to 1 for each row."""
    return (mixed(seed, start, rows) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _scrambled(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))
