"""The one place that knows numba and llvmlite: `kernel` turns a function over arrays into machine code, kept on disk.

A kernel is compiled by numba once; its object code is kept beside the module or in the user's cache folder. Later
processes load it without importing numba, which alone would take longer than most commands (decision 0003).
Kernels run without the GIL. They may use arrays and numbers only: nothing that allocates, raises or touches Python.
With LIKELY_BOUNDS=1 they are compiled anew in every process and check each index: slow, for tests (scripts/fuzz).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np

from likely.machinery.caching import read_cached, write_cached

KINDS = {"i4": np.int32, "i8": np.int64, "u1": np.uint8, "u8": np.uint64, "f8": np.float64, "b1": np.bool_}
_FORMAT = b"likely kernel 1\n"
_lock = threading.RLock()


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
            self._compiled = numba.njit(nogil=True, error_model="numpy", **options)(_with_inner(self.function))
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


def _leading(value: int) -> int:
    return 64 - value.bit_length()


def _upper(x: int, y: int) -> int:
    return x * y >> 64


leading_zeros: Any = _LeadingZeros(cast(FunctionType, _leading))
"""For kernels: the number of zeros above the highest 1 of an unsigned number of 64 bits that is not 0."""
upper_product: Any = _UpperProduct(cast(FunctionType, _upper))
"""For kernels: the upper 64 bits of the product of two unsigned numbers of 64 bits."""


def _with_inner(function: FunctionType) -> FunctionType:
    """The function, with the inner functions it calls compiled."""
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Inner):
            names[name] = names[name].compiled()
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


class Kernel:
    """A compiled function. Arrays must be contiguous and of the declared kinds; anything else is refused."""

    def __init__(self, function: FunctionType, signature: str, returns: int) -> None:
        self.function, self.returns = function, returns
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.parts = [part.strip() for part in signature.split(",") if part.strip()]
        self._expected = [(np.dtype(KINDS[p[:2]]), p.count("[]")) for p in self.parts]
        self._call: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._call is None:
            with _lock:
                self._call = self._call or self._ready()
        return self._call(*args)

    def _ready(self) -> Callable[..., Any]:
        # Object code is loaded where that is tested; elsewhere, and with checks of indices, each process compiles.
        if sys.platform != "linux" or checks_bounds():
            import numba

            compiled = numba.njit(nogil=True, error_model="numpy", boundscheck=checks_bounds())
            plain: Any = compiled(_with_inner(self.function))
            return plain  # type: ignore[no-any-return]
        return self._native(_address(self))

    def _native(self, address: int) -> Callable[..., Any]:
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        types: list[Any] = [pointer, pointer]
        for _, dimensions in self._expected:
            types += [pointer, pointer, word, word, pointer, *[word] * (2 * dimensions)] if dimensions else [word]
        entry = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)
        results, expected, name = self.returns, self._expected, self.__name__
        out_type, address_of = ctypes.c_int64 * max(results, 1), _find_address_of()

        def call(*args: Any) -> Any:
            out, error = out_type(), ctypes.c_void_p()
            flat: list[Any] = [ctypes.addressof(out), ctypes.addressof(error)]
            for (kind, dimensions), value in zip(expected, args, strict=True):
                if not dimensions:
                    flat.append(int(value))
                    continue
                if value.dtype != kind or value.ndim != dimensions or not value.flags.c_contiguous:
                    raise TypeError(
                        f"{name}: wants a contiguous {kind} array of {dimensions} dimensions, not {value.dtype}"
                    )
                flat += (None, None, value.size, value.itemsize, address_of(value), *value.shape, *value.strides)
            entry(*flat)
            return None if not results else (out[0] if results == 1 else tuple(out))

        return call

    def compiled(self) -> tuple[str, list[str], bytes]:
        """Let numba compile: the symbol, the outside symbols that are declared, the object code."""
        import numba

        arguments = ", ".join(p[:2] + f"[{':,' * (p.count('[]') - 1)}::1]" * ("[]" in p) for p in self.parts)
        result = ("void", "i8", f"UniTuple(i8, {self.returns})")[min(self.returns, 2)]
        options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        # Arrays are not counted by who refers to them: nothing is allocated here, and counting costs half the time.
        options["_nrt"] = False
        dispatcher = numba.njit(f"{result}({arguments})", nogil=True, error_model="numpy", **options)(
            _with_inner(self.function)
        )
        overload: Any
        (overload,) = dispatcher.overloads.values()
        library = overload.library
        lines = library.get_llvm_str().splitlines()
        outside = [x.split("@")[1].split("(")[0] for x in lines if x.startswith("declare") and "@llvm." not in x]
        return overload.fndesc.llvm_func_name, outside, library.serialize_using_object_code()[2][0]


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


def kernel(signature: str, returns: int = 0) -> Callable[[Callable[..., object]], Any]:
    """Compile a function: `signature` lists its parameters (f8, i4 …; [] for an array), `returns` counts results."""

    def decorate(function: Callable[..., object]) -> Kernel:
        assert isinstance(function, FunctionType)
        return Kernel(function, signature, returns)

    return decorate


# -- object code on disk ------------------------------------------------------------------------------------

_engine: Any = None


def _llvm() -> Any:
    """llvmlite and the engine that object code is loaded into."""
    global _engine
    import llvmlite.binding as llvm

    if _engine is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
        _engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    return llvm


def _address(wanted: Kernel) -> int:
    """Where the machine code of a kernel begins, loaded from disk or compiled now."""
    llvm = _llvm()
    compiled = _read(_file_name(wanted, llvm))
    if compiled is None:
        compiled = wanted.compiled()
        _keep(_file_name(wanted, llvm), compiled)
    symbol, outside, code = compiled
    stop = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
    for name in outside:
        # Calls that a kernel declares but never makes (raising, freeing): they must resolve to something.
        if llvm.address_of_symbol(name) is None and not hasattr(ctypes.CDLL(None), name):
            llvm.add_symbol(name, stop)
    _engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine.finalize_object()
    return int(_engine.get_function_address(symbol))


def _file_name(wanted: Kernel, llvm: Any) -> str:
    """A name that changes with the source, the signature, the compiler and the processor."""
    files, constants = _ingredients(wanted.function)
    source = b"".join(_source(file) for file in files) + repr(constants).encode()
    name, features = _processor()
    about = (wanted.parts, wanted.returns, sys.version_info[:2], llvm.llvm_version_info, name)
    key = hashlib.sha256(source + repr(about).encode() + features.encode() + _source(__file__))
    return f"{wanted.function.__module__}.{wanted.__name__}-{key.hexdigest()[:20]}.kernel"


@cache
def _source(file: str) -> bytes:
    """What a file holds; several kernels are made of each."""
    return Path(file).read_bytes()


@cache
def _processor() -> tuple[str, str]:
    """The processor's name, and what it can do."""
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


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


def _read(name: str) -> tuple[str, list[str], bytes] | None:
    body = read_cached(name)
    if body is None or not body.startswith(_FORMAT):
        return None
    header, _, code = body[len(_FORMAT) :].partition(b"\n")
    symbol, *outside = header.decode().split(" ")
    return symbol, outside, code


def _keep(name: str, compiled: tuple[str, list[str], bytes]) -> None:
    symbol, outside, code = compiled
    write_cached(name, _FORMAT + " ".join([symbol, *outside]).encode() + b"\n" + code)
