"""Names for arrays in signatures, kernels' above all: what kind of number they hold. Knows nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int32]"
Longs: TypeAlias = "NDArray[np.int64]"
Hashes: TypeAlias = "NDArray[np.uint64]"
Bytes: TypeAlias = "NDArray[np.uint8]"
Bools: TypeAlias = "NDArray[np.bool_]"
Whole: TypeAlias = "int | np.int64 | np.uint64"
"""A whole number within a kernel."""
