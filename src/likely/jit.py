"""The one place that knows numba: `kernel` compiles a function to machine code, without the GIL, kept on disk.

Kept beside the module, or in the user's cache folder where the package folder is read-only; where neither can be
written, kernels still work and are compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` on its first call; release the GIL while it runs."""
    try:
        return cast(F, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # no folder can hold the cache (tests/sums/test_cache.py)
        return cast(F, numba.njit(nogil=True)(function))
