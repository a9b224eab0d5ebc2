"""Runs a command again and again, each time with another of its changes of files failing; prints what was wrong.

Started with the library of faults.c loaded: driver.py SHIM TABLE COMMAND…
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import sys
from pathlib import Path

import likely
from likely.cli import run

OLD = b"the old file"


def prepare(folder: Path, table: str) -> None:
    """Small tables and models."""
    lines = table.splitlines(keepends=True)
    folder.mkdir()
    (folder / "t.csv").write_text(table)
    (folder / "half.csv").write_text("".join(lines[:8]))
    for k, part in enumerate((lines[1:8], lines[8:])):
        (folder / f"{k}.piece.csv").write_text("".join([lines[0], *part]))
    for name in ("a", "b"):
        likely.fit(folder / "t.csv", "play", likely.NaiveBayes()).save(folder / f"{name}.likely")
    os.chdir(folder)


def ran(words: list[str]) -> tuple[int, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, "" if err.closed else err.buffer.getvalue().decode()  # type: ignore[attr-defined]


def main(shim: str, table: str, words: list[str]) -> None:
    faults = ctypes.CDLL(shim)
    text, top, out = Path(table).read_text(), Path.cwd(), words[words.index("-o") + 1]
    prepare(top / "sound", text)
    faults.fault_begin(str(top / "sound").encode(), 0)
    code, err = ran(words)
    calls = faults.fault_end()
    assert code == 0, err
    new, wrong = Path(out).read_bytes(), []
    for at in range(1, calls + 1):
        folder = top / str(at)
        prepare(folder, text)
        Path(out).write_bytes(OLD)
        faults.fault_begin(str(folder).encode(), at)
        code, err = ran(words)
        faults.fault_end()
        left = Path(out).read_bytes()
        if code not in (0, 2) or "Traceback" in err:
            wrong.append(f"call {at} of {calls}: exit {code}: {err}")
        if left not in (OLD, new) or (code == 0 and left != new):
            wrong.append(f"call {at} of {calls}: exit {code} and neither the old file nor the new one: {err}")
        wrong += [f"call {at} of {calls}: {path.name} is left" for path in folder.rglob("*") if ".part" in path.name]
        code, err = ran(words)  # nothing that was left behind may be in the way
        if code != 0 or Path(out).read_bytes() != new:
            wrong.append(f"call {at} of {calls}, then again: exit {code}: {err}")
    print(json.dumps([calls, wrong]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
