"""Row weights as whole digits, so that a weighted sum is as exact as a count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.sums import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Weights:
    """weight[i] = sum of chunks[k, i] * 2**(32*(base+k)). One empty chunk stands for "every row weighs one"."""

    chunks: tuple[NDArray[np.int64], ...]
    base: int

    @property
    def plain(self) -> bool:
        return self.chunks[0].size == 0

    def nothing(self) -> NDArray[np.bool_]:
        """Which rows weigh nothing."""
        return np.bitwise_or.reduce(self.chunks) == 0  # type: ignore[no-any-return]

    def take(self, index: slice) -> Weights:
        return self if self.plain else Weights(tuple(c[index] for c in self.chunks), self.base)


EVERY_ROW_ONE = Weights((np.empty(0, np.int64),), 0)


def weights(values: NDArray[np.float64] | None) -> Weights:
    """Cut weights (finite, not negative) into digit planes; planes of zeros are dropped, so whole weights give one."""
    if values is None:
        return EVERY_ROW_ONE
    values = np.ascontiguousarray(values)
    least, most = kernels.exponents(values)
    if least > most:
        return Weights((np.zeros(len(values), np.int64),), 0)
    base = least >> 5
    planes = np.zeros(((most >> 5) - base + 3, len(values)), np.int64)
    positive = np.flatnonzero(values > 0)
    some = np.zeros((len(planes), len(positive)), np.int64)
    kernels.digits(values[positive], base, some)
    planes[:, positive] = some
    kept = np.flatnonzero(planes.any(axis=1))
    return Weights(tuple(planes[kept[0] : kept[-1] + 1]), int(base + kept[0]))
