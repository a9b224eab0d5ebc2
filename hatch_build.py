"""How a wheel is made: with the machine code of all kernels in it, so that nothing is compiled where it is installed.

LIKELY_KERNELS=later leaves the code out, as editable installations always do: then numba compiles at first use (extra
`compile`). LIKELY_KERNELS=required fails where it cannot be built. LIKELY_LINKER=zig links for old systems too.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILER = ["llvmlite>=0.44", "msgspec>=0.19", "numba>=0.61", "numpy>=2.0", "pyarrow>=18.1"]
"""What imports the modules that hold kernels, and what compiles them."""
PLACE = "likely/machinery/native/libraries"


class KernelsHook(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Puts libraries of kernels into a wheel, and says which machines it is for."""

    def dependencies(self) -> list[str]:
        if _are_left_out():
            return []
        has_linker = any(map(shutil.which, ("cc", "gcc", "clang")))
        return [*COMPILER, *([] if has_linker and os.environ.get("LIKELY_LINKER") != "zig" else ["ziglang"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel" or _are_left_out():
            return
        from packaging.tags import platform_tags

        sys.path.insert(0, str(Path(self.root, "src")))
        self.folder = tempfile.mkdtemp()
        try:
            from likely.machinery.prebuild import GLIBC, build_all, platform_of_zig

            libraries = build_all(Path(self.folder))
        except (Exception, SystemExit) as error:
            if os.environ.get("LIKELY_KERNELS") == "required":
                raise
            self.app.display_warning(f"Kernels are left to be compiled at first use (likely[compile]): {error}")
            return
        platform = next(iter(platform_tags()))
        if sys.platform == "linux" and os.environ.get("LIKELY_LINKER") == "zig":
            platform = f"manylinux_{GLIBC.replace('.', '_')}_{platform_of_zig()}"
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{platform}"
        for path in libraries:
            build_data["force_include"][str(path)] = f"{PLACE}/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)


def _are_left_out() -> bool:
    return os.environ.get("LIKELY_KERNELS") == "later"
