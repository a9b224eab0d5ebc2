"""Printing: rich on a terminal, plain text when piped. The only file that knows rich."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from likely.machinery.threads import listening

if TYPE_CHECKING:
    from likely.present.document import Document, Part

STRONG = 0.5
"""Words of a marked text that weigh this share of the strongest have their weight beside them."""
BAR = 20
"""Places of a bar of progress."""
WIDEST = 100_000
"""Places of a line in a file or pipe, which has no edge."""
PATIENCE, REDRAWN = 0.5, 0.2
"""Seconds before a progress line appears, and between two drawings of it."""


_PLAINER = str.maketrans(
    {"▇": "#", "→": ">", "×": "x", "÷": "/", "–": "-", "…": "~", "±": "~", "≈": "~", "≥": ">", "Σ": "sum", "∞": "inf"}
)
"""For a terminal or file that can take only ASCII."""


def on_terminal() -> bool:
    """Whether standard output can show more than plain text."""
    able = os.environ.get("TERM", "dumb") != "dumb" and (sys.stdout.encoding or "").lower().startswith("utf")
    return sys.stdout.isatty() and able


def show(document: Document) -> None:
    """Print a document; charts are left out."""
    if on_terminal():
        _rich(document)
    else:
        from likely.present.document import to_text

        write(to_text(document, WIDEST))


def answer(as_json: bool, json: Callable[[], bytes], report: Callable[[], Document]) -> None:
    """Print a result as JSON, or as a report."""
    if as_json:
        write_bytes(json())
    else:
        show(report())


def write_bytes(line: bytes) -> None:
    """A line as it is."""
    sys.stdout.buffer.write(line + b"\n")


def write(words: str) -> None:
    """Lines as they are, on a terminal too; in ASCII where standard output can take no more."""
    text, encoding = words + "\n", sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAINER).encode(encoding, "replace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()


def _rich(document: Document) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    from likely.present.charts.drawing import Chart
    from likely.present.document import Passage, Table, fit_table

    console = Console(highlight=False)
    console.print(Text(document.headline, style="bold"))
    above: Part = Passage("", ())
    for part in document.parts:
        if isinstance(part, Chart):
            continue
        if not (isinstance(part, str) and isinstance(above, str)):
            console.print()
        above = part
        if isinstance(part, str):
            console.print(Text(part, style="yellow" if part.startswith("Warning") else "dim"))
        elif isinstance(part, Table):
            console.print(Text(part.title, style="bold"))
            for piece in fit_table(part, console.width):
                drawn = RichTable(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
                for k, name in enumerate(piece.header):
                    drawn.add_column(Text(name), justify="right" if k in piece.right else "left", overflow="fold")
                for row in piece.rows:
                    drawn.add_row(*(Text(cell) for cell in row))  # Text: data is never taken for markup
                console.print(drawn)
        elif isinstance(part, Passage):
            console.print(Text(part.title, style="bold"))
            marked = Text()
            for text, mark, strength in part.stretches:
                # Strong words are bold and the sign is told by the mark too: not everyone sees colours.
                colour = "green" if strength > 0 else "red"
                style = "" if not mark else f"bold {colour}" if abs(strength) >= STRONG else colour
                marked.append(f"[{text}{mark}]" if mark and abs(strength) >= STRONG else text, style)
            console.print(Padding(marked, (0, 0, 0, 2)))


def say(sentence: str) -> None:
    """A remark on standard error, so that piped output stays clean."""
    from likely.errors import masked

    plain, encoding = "".join(c if c.isprintable() else "?" for c in masked(sentence)), sys.stderr.encoding or "utf-8"
    sys.stderr.write(plain.encode(encoding, "replace").decode(encoding) + "\n")


@contextmanager
def counting(data: object = None) -> Iterator[Callable[[int], None] | None]:
    """A line that counts rows, of about how many, and names the step being done, once work has taken a while.

    None away from a terminal. It is taken away when the work ends, however it ends.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return
    line = _Line(data)
    with listening(line.tell):
        try:
            yield line.count
        finally:
            line.end()


class _Line:
    """The last line of a terminal, drawn anew some times a second: one step may take long."""

    def __init__(self, data: object) -> None:
        self._data = data
        self._total: int | None = None
        self._started, self._words, self._shown = time.monotonic(), "", False
        self._rows, self._begun = 0, self._started
        self._ended = threading.Event()
        self._drawing = threading.Thread(target=self._draw, daemon=True)
        self._drawing.start()

    def tell(self, step: str) -> None:
        self._words, self._rows = step, 0

    def count(self, rows: int) -> None:
        if rows < self._rows or not self._rows:
            self._begun = time.monotonic()  # a sweep begins
        self._words, self._rows = "", rows

    def _draw(self) -> None:
        from likely.intake.reading import expect_rows

        pause = PATIENCE
        while not self._ended.wait(pause):
            if pause == PATIENCE:
                self._total = expect_rows(self._data)
            pause = REDRAWN
            now = time.monotonic()
            words = self._words or (count_words(self._rows, self._total, now - self._begun) if self._rows else "")
            if words:
                took = duration(now - self._started)
                self._shown = True
                room = shutil.get_terminal_size().columns - len(took) - 4
                sys.stderr.write(f"\r\x1b[2K{words[:room]} … {took}\r")
                sys.stderr.flush()

    def end(self) -> None:
        self._ended.set()
        self._drawing.join()
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def count_words(rows: int, total: int | None, seconds: float) -> str:
    """How far a sweep has come, and how long it will take.

    >>> count_words(250_000, 1_000_000, 3.0)
    'Reading: ▇▇▇▇▇···············  25 %, 250,000 rows, about 9 s left'
    """
    if not total:
        return f"Reading: {rows:,} rows"
    share = min(rows / total, 0.99)  # the total is only about right
    filled = round(BAR * share)
    rest = seconds * (1 - share) / share
    left = f", about {duration(rest)} left" if seconds >= PATIENCE and rest >= 1 else ""
    return f"Reading: {'▇' * filled}{'·' * (BAR - filled)} {100 * share:3.0f} %, {rows:,} rows{left}"


def duration(seconds: float) -> str:
    """Seconds, or minutes and seconds.

    >>> duration(3.4), duration(125)
    ('3 s', '2 min 5 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
