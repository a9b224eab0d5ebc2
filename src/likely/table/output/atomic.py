"""How a file is replaced whole: written beside its place first, then put there by one rename.

A kill at any moment leaves the old file or the new one. Knows paths only.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def create_beside(target: Path) -> tuple[int, Path]:
    """An open, empty file in the folder of `target`, for nobody else to read."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    return handle, Path(name)


def put_in_place(temporary: Path, target: Path) -> None:
    """Let `temporary` become `target`, with the permissions that an ordinary write would have left."""
    os.chmod(temporary, _mode(target))
    os.replace(temporary, target)


def _mode(target: Path) -> int:
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
