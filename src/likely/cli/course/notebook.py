"""The commands inside a Jupyter notebook: `%load_ext likely.cli.course` gives `%likely joint examples/weather.csv …`.

Knows the one hook that IPython calls, and imports nothing of it. The notebooks of the course begin with it.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any


class Picture:
    """A picture that a command has written; a notebook shows it."""

    def __init__(self, path: Path) -> None:
        self.svg = path.read_text(encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} bytes of SVG>"


def run_line(line: str) -> Picture | None:
    """Run a command as in a terminal; the picture that it wrote, if it wrote one."""
    from likely.cli import run

    words = shlex.split(line)
    run(words)
    written = [Path(word) for flag, word in pairwise(words) if flag in ("-o", "--out")]
    return next((Picture(path) for path in written if path.suffix == ".svg" and path.exists()), None)


def enter_workspace() -> Path:
    """A folder of this process's own as the working folder, with the example tables in examples/.

    A notebook may lie anywhere, and what its commands write must not lie about there; the folder goes with the process.
    """
    from likely.course.pages import copy_examples

    folder = Path(tempfile.mkdtemp(prefix="likely-course-"))
    copy_examples(folder)
    os.chdir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext`."""
    shell.register_magic_function(run_line, "line", "likely")
    print(f"Commands run in {enter_workspace()}; the example tables are in examples/ there.")
