"""Functions that only kernels call: how they are marked, compiled into kernels, and told from their sources."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np


def checks_bounds() -> bool:
    """Whether kernels are to check every index."""
    return os.environ.get("LIKELY_BOUNDS", "") not in ("", "0")


class Inner:
    """A function that only kernels call: compiled into them."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self._compiled: Any = None

    def compiled(self) -> Any:
        if self._compiled is None:
            import numba

            options: dict[str, Any] = {"boundscheck": True} if checks_bounds() else {"forceinline": True, "_nrt": False}
            self._compiled = numba.njit(nogil=True, error_model="numpy", **options)(with_inner(self.function))
        return self._compiled


def inner(function: Callable[..., object]) -> Any:
    """Mark a function that only kernels call."""
    assert isinstance(function, FunctionType)
    return Inner(function)


class _Zeros(Inner):
    """How many of a whole number's lowest binary digits are 0: one instruction of the processor, not a loop."""

    def compiled(self) -> Any:
        from numba.cpython.unsafe.numbers import trailing_zeros as instruction

        return instruction


def _zeros(value: int) -> int:
    return (value & -value).bit_length() - 1


trailing_zeros: Any = _Zeros(cast(FunctionType, _zeros))
"""For kernels: the number of zeros below the lowest 1 of a whole number that is not 0."""


class _LeadingZeros(Inner):
    """How many of a 64-bit whole number's highest binary digits are 0: one instruction of the processor."""

    def compiled(self) -> Any:
        from numba.cpython.unsafe.numbers import leading_zeros as instruction

        return instruction


class _CountBits(Inner):
    """How many of a 64-bit whole number's binary digits are 1: one instruction of the processor."""

    def compiled(self) -> Any:
        from numba.core import types
        from numba.extending import intrinsic

        @intrinsic
        def instruction(typing: Any, x: Any) -> Any:
            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.ctpop(args[0])

            return types.uint64(types.uint64), build

        return instruction


class _UpperProduct(Inner):
    """The upper half of the product of two 64-bit whole numbers: one instruction of the processor."""

    def compiled(self) -> Any:
        from llvmlite import ir
        from numba.core import types
        from numba.extending import intrinsic

        @intrinsic
        def instruction(typing: Any, x: Any, y: Any) -> Any:
            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                wide = ir.IntType(128)
                product = builder.mul(*(builder.zext(arg, wide) for arg in args))
                return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

            return types.uint64(types.uint64, types.uint64), build

        return instruction


class _ArrayAt(Inner):
    """An array over memory that begins at an address, of a shape: so that one call takes the arrays of many columns."""

    def __init__(self, kind: Any) -> None:
        super().__init__(cast(FunctionType, _view))
        self.kind = kind

    def compiled(self) -> Any:
        from numba import core, from_dtype
        from numba.extending import intrinsic
        from numba.np import arrayobj

        kind, types, arrays = from_dtype(np.dtype(self.kind)), cast(Any, core.types), cast(Any, arrayobj)

        @intrinsic
        def instruction(typing: Any, address: Any, shape: Any) -> Any:
            array = types.Array(kind, len(shape), "C")

            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                out = context.make_array(array)(context, builder)
                sizes = [builder.extract_value(args[1], k) for k in range(len(shape))]
                step = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind)))
                steps = [step]
                for size in sizes[:0:-1]:
                    steps.insert(0, builder.mul(steps[0], size))
                data = builder.inttoptr(args[0], out.data.type)
                arrays.populate_array(out, data=data, shape=sizes, strides=steps, itemsize=step, meminfo=None)
                return out._getvalue()

            return array(types.int64, types.UniTuple(types.int64, len(shape))), build

        return instruction


def _view(address: int, shape: Any) -> Any:
    raise NotImplementedError  # it is asked of kernels only, which are compiled


def _leading(value: int) -> int:
    return 64 - value.bit_length()


def _ones(value: int) -> int:
    return value.bit_count()


def _upper(x: int, y: int) -> int:
    return x * y >> 64


leading_zeros: Any = _LeadingZeros(cast(FunctionType, _leading))
"""For kernels: the number of zeros above the highest 1 of an unsigned number of 64 bits that is not 0."""
count_bits: Any = _CountBits(cast(FunctionType, _ones))
"""For kernels: the number of 1s of an unsigned number of 64 bits."""
upper_product: Any = _UpperProduct(cast(FunctionType, _upper))
"""For kernels: the upper 64 bits of the product of two unsigned numbers of 64 bits."""

floats_at: Any = _ArrayAt(np.float64)
ints_at: Any = _ArrayAt(np.int32)
longs_at: Any = _ArrayAt(np.int64)
bytes_at: Any = _ArrayAt(np.uint8)
hashes_at: Any = _ArrayAt(np.uint64)
"""For kernels: floats_at(address, shape) is the array of this shape whose cells begin at an address. Who hands over an
address has seen to it that so many cells of this kind are there, contiguous, and stay until the call has ended."""


def with_inner(function: FunctionType) -> FunctionType:
    """The function, with the inner functions it calls compiled."""
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Inner):
            names[name] = names[name].compiled()
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def digest_sources(function: FunctionType, about: Sequence[object]) -> str:
    """What changes with the source of a kernel and of its inner functions, with its constants and with `about`."""
    files, constants = _ingredients(function)
    source = b"".join(_source(file) for file in files) + repr(constants).encode() + _source(__file__)
    return hashlib.sha256(source + repr(about).encode()).hexdigest()[:20]


@cache
def _source(file: str) -> bytes:
    """What a file holds; several kernels are made of each."""
    return Path(file).read_bytes()


def _ingredients(function: FunctionType) -> tuple[list[str], dict[str, str]]:
    """The files that a kernel is made of, those of its inner functions too, and the numbers that it takes from any."""
    files, constants, waiting = {function.__code__.co_filename}, {}, [function]
    done = {function}
    while waiting:
        one = waiting.pop()
        for name in one.__code__.co_names:
            value = one.__globals__.get(name)
            if isinstance(value, Inner) and value.function not in done:
                done.add(value.function)
                files.add(value.function.__code__.co_filename)
                waiting.append(value.function)
            elif isinstance(value, (int, float, np.generic)):
                constants[name] = repr(value)
    return sorted(files), dict(sorted(constants.items()))
