"""Runs a command again and again, each time with another of its large allocations failing; prints what was wrong.

Started with the library of memory.c loaded: memory_driver.py SHIM TABLE LEAST COMMAND… Allocations are large that ask
for at least so many bytes. Smaller ones come by the thousand, from programs that cannot go on without them.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

MOST = 75
"""Allocations of a command that fail, each in a run of its own, about; LIKELY_FAULTS=all lets all of them."""


def main(shim: str, table: str, least: int, words: list[str]) -> None:
    from driver import OLD, prepare, ran  # beside this file: where it is a program, not where it is only collected

    memory = ctypes.CDLL(shim)
    memory.memory_begin.argtypes = [ctypes.c_int, ctypes.c_size_t]
    text, out, folder = Path(table).read_text(), words[words.index("-o") + 1], Path.cwd() / "sound"
    prepare(folder, text)
    for _ in range(2):  # first everything is imported, and kernels are compiled
        shutil.rmtree("sums", ignore_errors=True)
        memory.memory_begin(0, least)
        code, err = ran(words)
        calls = memory.memory_end()
        assert code == 0, err
    new, wrong = Path(out).read_bytes(), []
    # A look asks for memory a thousand times. Evenly spread ones reach every step of it; LIKELY_FAULTS=all tries all.
    step = 1 if os.environ.get("LIKELY_FAULTS") == "all" else max(1, calls // MOST)
    for at in range(1, calls + 1, step):
        shutil.rmtree("sums", ignore_errors=True)
        Path(out).write_bytes(OLD)
        print(f"allocation {at} of {calls}", flush=True)  # should it end the process
        memory.memory_begin(at, least)
        code, err = ran(words)
        memory.memory_end()
        left = Path(out).read_bytes()
        last = err.rstrip().rpartition("\n")[2]  # after what may have been told of the rows
        # Python's glob takes a folder for empty that cannot be opened.
        if code == 2 and not (last.startswith("likely: ") and ("memory" in last or "No file matches" in last)):
            wrong.append(f"allocation {at} of {calls}: no sentence on memory: {err}")
        if code not in (0, 2) or "Traceback" in err:
            wrong.append(f"allocation {at} of {calls}: exit {code}: {err}")
        if left != (new if code == 0 else OLD):
            wrong.append(f"allocation {at} of {calls}: exit {code} and not the file that belongs to it: {err}")
        wrong += [f"allocation {at} of {calls}: {p.name} is left" for p in folder.rglob("*") if ".part" in p.name]
    print(json.dumps([calls, wrong]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
