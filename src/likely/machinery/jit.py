"""`kernel` turns a function over arrays into machine code that is called without the GIL.

Code comes from the library that was built with the package; where that lacks it, numba compiles, once, and object code
is kept on disk (decision 0129). Kernels may use arrays and numbers only: nothing that allocates, raises or touches
Python. In hot loops a place that comes from an array is made np.uint64: of a signed one numba asks at every access
whether it counts from the end. With LIKELY_BOUNDS=1 kernels check each index, compiled anew in every process.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from likely.errors import LikelyError
from likely.machinery.native.blocks import BLOCK as BLOCK
from likely.machinery.native.blocks import blank_bits as blank_bits
from likely.machinery.native.blocks import lower_block as lower_block
from likely.machinery.native.blocks import nonzero_bits as nonzero_bits
from likely.machinery.native.inner import bytes_at as bytes_at
from likely.machinery.native.inner import (
    checks_bounds,
    digest_sources,
)
from likely.machinery.native.inner import count_bits as count_bits
from likely.machinery.native.inner import floats_at as floats_at
from likely.machinery.native.inner import hashes_at as hashes_at
from likely.machinery.native.inner import inner as inner
from likely.machinery.native.inner import ints_at as ints_at
from likely.machinery.native.inner import leading_zeros as leading_zeros
from likely.machinery.native.inner import longs_at as longs_at
from likely.machinery.native.inner import trailing_zeros as trailing_zeros
from likely.machinery.native.inner import upper_product as upper_product
from likely.machinery.native.object_code import Declared, compile_in_process, load_address
from likely.machinery.native.prebuilt import find_address

KINDS = {"i4": np.int32, "i8": np.int64, "u1": np.uint8, "u8": np.uint64, "f8": np.float64, "b1": np.bool_}
_lock = threading.RLock()


@contextmanager
def _told_without_compiler() -> Iterator[None]:
    """A sentence where code must be compiled and nothing is there that could."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("numba", "llvmlite"):
            raise
        raise LikelyError(
            "This installation has no machine code for this computer, and no compiler. "
            "Install one: pip install 'likely[compile]'."
        ) from None


class Kernel:
    """A compiled function. Arrays must be contiguous and of the declared kinds; anything else is refused."""

    def __init__(self, function: FunctionType, signature: str, returns: int) -> None:
        self.function, self.returns = function, returns
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.parts = [part.strip() for part in signature.split(",") if part.strip()]
        self._expected = [(np.dtype(KINDS[p[:2]]), p.count("[]")) for p in self.parts]
        if "b1" in self.parts:
            raise TypeError(f"{self.__name__}: a kernel takes no b1 by itself. Declare it i8.")
        self._call: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._call is None:
            self.prepare()
        return self._call(*args)

    def prepare(self) -> None:
        """Find its machine code, or compile it and keep that on disk."""
        with _lock:
            self._call = self._call or self._ready()

    def _ready(self) -> Callable[..., Any]:
        if not checks_bounds():
            address = find_address(self.symbol)
            if address is None and sys.platform == "linux":  # where keeping object code is tested
                with _told_without_compiler():
                    address = load_address(self.declared)
            if address is not None:
                return self._native(address)
        with _told_without_compiler():
            return compile_in_process(self.declared)

    @property
    def symbol(self) -> str:
        """What it is called in the library that comes with the package; a changed source is another symbol."""
        return "likely_" + digest_sources(self.function, (self.declared.name, self.parts, self.returns))

    @property
    def declared(self) -> Declared:
        return Declared(self.function, tuple(self.parts), self.returns)

    def _native(self, address: int) -> Callable[..., Any]:
        word, real, pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
        types: list[Any] = [pointer, pointer]
        for kind, dimensions in self._expected:
            scalar = [real if kind == np.float64 else word]
            types += [pointer, pointer, word, word, pointer, *[word] * (2 * dimensions)] if dimensions else scalar
        entry = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)
        results, expected, name = self.returns, self._expected, self.__name__
        out_type, address_of = ctypes.c_int64 * max(results, 1), _find_address_of()

        def call(*args: Any) -> Any:
            out, error = out_type(), ctypes.c_void_p()
            flat: list[Any] = [ctypes.addressof(out), ctypes.addressof(error)]
            for (kind, dimensions), value in zip(expected, args, strict=True):
                if not dimensions:
                    flat.append(float(value) if kind == np.float64 else int(value))
                    continue
                if value.dtype != kind or value.ndim != dimensions or not value.flags.c_contiguous:
                    raise TypeError(
                        f"{name}: wants a contiguous {kind} array of {dimensions} dimensions, not {value.dtype}"
                    )
                flat += (None, None, value.size, value.itemsize, address_of(value), *value.shape, *value.strides)
            entry(*flat)
            return None if not results else (out[0] if results == 1 else tuple(out))

        return call


@cache
def _find_address_of() -> Callable[[Any], int]:
    """How to ask where the cells of an array begin: that is half the cost of a call, so the quick way if it holds.

    An array of numpy begins, after what every object has, with the address of its cells.
    """
    head, word_at = object.__basicsize__, ctypes.c_size_t.from_address

    def ask(array: Any) -> int:
        return array.__array_interface__["data"][0]  # type: ignore[no-any-return]

    def look(array: Any) -> int:
        return word_at(id(array) + head).value

    samples = [np.zeros(5), np.arange(12).reshape(3, 4)[1:], np.frombuffer(b"bytes", np.uint8), np.empty((0, 2))]
    quick = sys.implementation.name == "cpython" and all(look(array) == ask(array) for array in samples)
    return look if quick else ask


def address(array: Any, kind: Any) -> int:
    """Where the cells of an array begin, for a kernel that takes many columns; refused if they are of another kind or
    not contiguous. The caller keeps the array alive until the kernel has ended."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"wants a contiguous array of {np.dtype(kind)}, not of {array.dtype}")
    return _find_address_of()(array)


def kernel(signature: str, returns: int = 0) -> Callable[[Callable[..., object]], Any]:
    """Compile a function: `signature` lists its parameters (f8, i4 …; [] for an array), `returns` counts results."""

    def decorate(function: Callable[..., object]) -> Kernel:
        assert isinstance(function, FunctionType)
        return Kernel(function, signature, returns)

    return decorate
