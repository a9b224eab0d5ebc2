"""Builds the library of all kernels: `python -m likely.machinery.prebuild all FOLDER`; `cache`: compiles them for here.

numba compiles each kernel for a kind of processor, LLVM writes a position-independent object, and a linker (zig's, or
that of the C compiler) joins them. Run when a wheel is made, never by who uses likely.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from likely.machinery.jit import Kernel
from likely.machinery.native.object_code import compile_object
from likely.machinery.native.prebuilt import VARIANTS, library_name, machine_name

GLIBC = "2.17"
"""The oldest C library that code linked by zig runs with: that of manylinux2014."""


def find_kernels() -> Iterator[Kernel]:
    """Every kernel of every module that defines one."""
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        if "\n@kernel(" not in file.read_text(encoding="utf-8"):
            continue
        name = ".".join(["likely", *file.relative_to(package).with_suffix("").parts])
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Kernel) and value.function.__module__ == name:
                yield value


def linker() -> list[str] | None:
    """A command that links objects to a shared library; zig's makes one for old systems too."""
    if importlib.util.find_spec("ziglang") is not None:
        words = [sys.executable, "-m", "ziglang", "cc"]
        if sys.platform == "linux":
            words += ["-target", f"{platform_of_zig()}-linux-gnu.{GLIBC}"]
        return words
    found = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None)
    return None if found is None else [found]


def platform_of_zig() -> str:
    return "aarch64" if machine_name() == "arm64" else machine_name()


def link(objects: list[Path], to: Path) -> None:
    """One shared library of all objects."""
    command = linker()
    if command is None:
        raise SystemExit("No linker was found: install a C compiler, or the package ziglang.")
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "objects.txt")  # more than a command line takes
        listed.write_text("\n".join(f'"{path.as_posix()}"' for path in objects))
        mathematics = [] if sys.platform == "win32" else ["-lm"]
        subprocess.run([*command, "-shared", "-s", "-o", str(to), f"@{listed}", *mathematics], check=True)


def build(variant: str, folder: Path) -> Path:
    """The library for one kind of processor."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for number, kernel in enumerate(find_kernels()):
            objects.append(Path(scratch, f"{number}.o"))
            objects[-1].write_bytes(compile_object(kernel.declared, kernel.symbol, variant))
        link(objects, folder / library_name(variant))
    return folder / library_name(variant)


def build_all(folder: Path) -> list[Path]:
    """The libraries for this machine, each by a process of its own: numba is told the processor when it is imported."""
    variants = VARIANTS.get(machine_name(), ())
    if not variants:
        raise SystemExit(
            f"No kind of processor is known for {machine_name()}."
        )  # a wheel without code is for any machine
    words = [sys.executable, "-m", "likely.machinery.prebuild"]
    running = [subprocess.Popen([*words, v, str(folder)], env=_environment(v)) for v in variants]
    if any([process.wait() for process in running]):  # all of them end before one is complained of
        raise SystemExit("The kernels could not be compiled.")
    return [folder / library_name(variant) for variant in variants]


def _environment(variant: str) -> dict[str, str]:
    places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]  # pip puts what a build needs there
    path = os.pathsep.join(filter(None, places))
    return {**os.environ, "PYTHONPATH": path, "NUMBA_CPU_NAME": variant, "NUMBA_CPU_FEATURES": ""}


def fill_cache() -> None:
    """Compile what no library and no earlier process has compiled for this computer, each kernel once."""
    for kernel in find_kernels():
        kernel.prepare()


if __name__ == "__main__":
    if sys.argv[1] == "all":
        build_all(Path(sys.argv[2]))
    elif sys.argv[1] == "cache":
        fill_cache()
    else:
        build(sys.argv[1], Path(sys.argv[2]))
