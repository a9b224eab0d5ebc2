"""What is compiled once and kept on disk between processes: where, who may have written it, and whether it is whole.

Knows bytes and names; not what they mean.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def folders() -> list[Path]:
    """Where things may be kept: LIKELY_CACHE alone if it is set; else beside the package, or the user's cache."""
    asked = os.environ.get("LIKELY_CACHE")
    if asked:
        return [Path(asked)]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [Path(__file__).parents[1] / "__pycache__", Path(home) / "likely"]


def kept(name: str) -> bytes | None:
    """What was kept under this name; None where nothing was, or what is there is not to be trusted."""
    for folder in folders():
        path = folder / name
        try:
            status = path.stat()
            # Code is trusted like a module: only if nobody but root or this user can have written it.
            if status.st_uid not in (0, _user()) or status.st_mode & 0o022:
                continue
            data = path.read_bytes()
        except OSError:
            continue
        body, digest = data[:-32], data[-32:]
        if hashlib.sha256(body).digest() == digest:
            return body
    return None


def keep(name: str, body: bytes) -> None:
    """Write atomically into the first folder that can be written; if none can, the next process works it out again."""
    for folder in folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(dir=folder, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(body + hashlib.sha256(body).digest())
            os.chmod(part, 0o644)
            os.replace(part, folder / name)
        except OSError:
            continue
        return


def _user() -> int:
    """Who runs this process; where there are no such numbers, files have none either: 0."""
    return os.getuid() if hasattr(os, "getuid") else 0
