"""Where `likely look` writes its page, and how it was asked for. Parses nothing, computes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from likely.cli import terminal
from likely.errors import InputError, LikelyError, shown
from likely.sums import state
from likely.sums.columns.counts import Counts

if TYPE_CHECKING:
    from likely.evaluate.look import Look

MOST_NAME = 80
OURS = b'<meta name="generator" content="likely'
SMALL = 120_000
"""Rows times classes times features squared (learners look at pairs of them), up to which learners are compared
unasked: it takes about a second."""


def page_name(target: str) -> str:
    """A file name made of a target's name: safe on every system, and never a path.

    >>> page_name("income"), page_name("../a b"), page_name("<script>"), page_name("")
    ('income.html', 'a_b.html', 'script.html', 'page.html')
    """
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in target)
    while "__" in kept:
        kept = kept.replace("__", "_")
    kept = kept.strip("._-")
    while len(kept.encode()) > MOST_NAME:
        kept = kept[:-1]
    # Names that Windows keeps for devices.
    odd = kept.upper().partition(".")[0] in {
        "CON",
        "PRN",
        "AUX",
        "NUL",
        *(f"{d}{k}" for d in ("COM", "LPT") for k in range(10)),
    }
    return f"{kept or 'page'}{'_' if odd else ''}.html"


def place(target: str) -> str:
    """The page's file in this folder; another name where a file of that name is not a page of ours."""
    name = page_name(target)
    try:
        with open(name, "rb") as file:
            ours = OURS in file.read(4096)
    except FileNotFoundError:
        ours = True
    except OSError:
        ours = False
    return name if ours else name.removesuffix(".html") + ".likely.html"


def write_page(record: Look, data: str, out: str | None, how: Any, study: bool, arguments: tuple[str, ...]) -> None:
    """Make the page, write it, and say where; a folder that cannot be written is no reason to fail.

    `arguments` are those of the command, which the page repeats.
    """
    from likely import __version__
    from likely.present.page.writing import page

    more: dict[str, Any] = {}
    if (
        record.attributes
        and data != "-"
        and record.decisions is None
        and (study or (not record.texts and record.rows * len(record.classes) * _features(record) ** 2 <= SMALL))
    ):
        more = _studied(record, data, how, study)
    command = shlex.join(["likely", *arguments])
    made = page(record, command=command, version=__version__, data=data, **more)
    path = place(record.target) if out is None else out
    try:
        state.write(path, made.encode("utf-8", "replace"))
    except InputError as error:
        if out is not None:
            raise
        terminal.say(f"The page was not written. {error}")
        return
    terminal.say(f"The page is in {shown(path, 200)}: open it in a browser.")


def _features(record: Look) -> int:
    """A number is one feature, a nominal attribute as many as it has levels."""
    columns = {} if record.model is None else record.model.summary.columns
    levels = sum(len(held.labels) - 1 for held in columns.values() if isinstance(held, Counts))
    return 1 + len(record.attributes) + levels


def _studied(record: Look, data: str, how: Any, study: bool) -> dict[str, Any]:
    """A learning curve, and a comparison of learners, where there are rows enough."""
    from likely.evaluate.compare import compare
    from likely.evaluate.curve import curve

    out: dict[str, Any] = {}
    with terminal.counting() as progress:
        reading = {**how.reading, "progress": progress, "seed": record.dealing.seed}
        studies: dict[str, Callable[[], Any]] = {
            "curve": lambda: curve(data, record.target, how.learner, **reading),
            "comparison": lambda: compare(data, record.target, folds=record.dealing.folds, **reading),
        }
        for name, made in studies.items():
            try:
                out[name] = made()
            except LikelyError as error:  # too few rows, for the most part
                if study:
                    terminal.say(f"The page has no {name}. {error}")
    return out
