"""Kernels compiled by numba, one by one, and their object code: kept on disk, loaded with llvmlite (decision 0129)."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, cast

from likely.machinery.native.caching import read_cached, write_cached
from likely.machinery.native.inner import checks_bounds, digest_sources, with_inner

_FORMAT = b"likely kernel 1\n"
_engine: Any = None
MATHEMATICS = frozenset({"exp", "log", "sqrt", "pow", "log1p", "expm1", "floor", "ceil", "fabs", "memset", "memcpy"})
"""What libraries of C bring. Any other outside symbol would be one that a kernel must not call."""


@dataclass(frozen=True)
class Declared:
    """A function that is to become machine code: its parameters (f8, i4 …; [] for an array), how many results."""

    function: FunctionType
    parts: tuple[str, ...]
    returns: int

    @property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__name__}"


def compile_in_process(declared: Declared) -> Callable[..., Any]:
    """What numba makes of a function, for this process alone; with checks of indices where they are wished."""
    import numba

    plain = numba.njit(nogil=True, error_model="numpy", boundscheck=checks_bounds())(with_inner(declared.function))
    return cast(Callable[..., Any], plain)


def compile_library(declared: Declared) -> tuple[str, Any]:
    """Let numba compile for the processor that it was told: the symbol, and numba's library of code."""
    import numba

    arguments = ", ".join(p[:2] + f"[{':,' * (p.count('[]') - 1)}::1]" * ("[]" in p) for p in declared.parts)
    result = ("void", "i8", f"UniTuple(i8, {declared.returns})")[min(declared.returns, 2)]
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    # Arrays are not counted by who refers to them: nothing is allocated here, and counting costs half the time.
    options["_nrt"] = False
    dispatcher = numba.njit(f"{result}({arguments})", nogil=True, error_model="numpy", **options)(
        with_inner(declared.function)
    )
    overload: Any
    (overload,) = dispatcher.overloads.values()
    return overload.fndesc.llvm_func_name, overload.library


def outside_symbols(library: Any) -> list[str]:
    """What the code of a library declares and does not hold."""
    lines = library.get_llvm_str().splitlines()
    return [x.split("@")[1].split("(")[0] for x in lines if x.startswith("declare") and "@llvm." not in x]


def compile_object(declared: Declared, name: str, processor: str) -> bytes:
    """The code of one kernel under this name, for a linker; numba was told the same processor (NUMBA_CPU_NAME)."""
    llvm = _llvm()
    symbol, library = compile_library(declared)
    strange = set(outside_symbols(library)) - MATHEMATICS
    if strange:
        raise SystemExit(f"{declared.name} calls {', '.join(sorted(strange))}, which no library has.")
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=processor, features="", opt=3, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(library.get_llvm_str().replace(symbol, name))
    # Whatever else the module defines is of this kernel alone: its names must not meet those of other kernels.
    for value in (*module.global_variables, *module.functions):
        if not value.is_declaration and value.name != name:
            value.linkage = "internal"
    return machine.emit_object(module)  # type: ignore[no-any-return]


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


def load_address(declared: Declared) -> int:
    """Where the machine code of a kernel begins, loaded from disk or compiled now."""
    llvm = _llvm()
    name = _file_name(declared, llvm)
    held = _read(name)
    if held is None:
        symbol, library = compile_library(declared)
        held = symbol, outside_symbols(library), library.serialize_using_object_code()[2][0]
        _keep(name, held)
    symbol, outside, code = held
    stop = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
    for other in outside:
        # Calls that a kernel declares but never makes (raising, freeing): they must resolve to something.
        if llvm.address_of_symbol(other) is None and not hasattr(ctypes.CDLL(None), other):
            llvm.add_symbol(other, stop)
    _engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine.finalize_object()
    return int(_engine.get_function_address(symbol))


def _file_name(declared: Declared, llvm: Any) -> str:
    """A name that changes with the source, the signature, the compiler and the processor."""
    about = (declared.parts, declared.returns, sys.version_info[:2], llvm.llvm_version_info, *_processor())
    return f"{declared.name}-{digest_sources(declared.function, about)}.kernel"


@cache
def _processor() -> tuple[str, str]:
    """The processor's name, and what it can do."""
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


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
