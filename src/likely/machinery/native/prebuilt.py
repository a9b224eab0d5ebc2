"""Machine code that was built with the package: a shared library for each kind of processor, found by symbol.

A symbol holds a digest of the sources, so code of other sources is never called. Knows no numba and no llvmlite.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "libraries"
"""Where `build` puts libraries; a clone has none."""
VARIANTS = {"x86_64": ("x86-64-v3", "x86-64-v2"), "arm64": ("generic",)}
"""Kinds of processors that code is built for, by machine; the fastest first. The last one runs on all of them."""
_OF_V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"}
_SUFFIXES = {"win32": "dll", "darwin": "dylib"}


def machine_name() -> str:
    """The kind of this machine, by one name."""
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(name := platform.machine().lower(), name)


def library_name(variant: str) -> str:
    return f"kernels-{machine_name()}-{variant}.{_SUFFIXES.get(sys.platform, 'so')}"


def find_address(symbol: str) -> int | None:
    """Where the code of this symbol begins; None where no library holds it."""
    library = _load_library()
    try:
        return None if library is None else ctypes.cast(library[symbol], ctypes.c_void_p).value
    except AttributeError:
        return None


@cache
def _load_library() -> ctypes.CDLL | None:
    """The best library that this processor can run."""
    for variant in VARIANTS.get(machine_name(), ()):
        path = FOLDER / library_name(variant)
        if path.exists() and _runs(variant):
            try:
                return ctypes.CDLL(str(path))
            except OSError:  # made for another system
                continue
    return None


def _runs(variant: str) -> bool:
    """Whether this processor has what a variant needs; only Linux says so in a file."""
    if variant != "x86-64-v3":
        return True
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            flags = next(line for line in lines if line.startswith("flags"))
    except (OSError, StopIteration):
        return False
    return set(flags.split()) >= _OF_V3
