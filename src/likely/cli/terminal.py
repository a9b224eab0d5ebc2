"""Printing: rich on a terminal, plain text when piped. The only file that knows rich."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from likely.report.contents import Page, Table

PATIENCE = 1.0
"""Seconds before a progress line appears."""


def on_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def show(page: Page) -> None:
    """Print a page."""
    if on_terminal():
        _rich(page)
    else:
        _plain(page)


def _plain(page: Page) -> None:
    lines = [page.headline]
    for table in page.tables:
        lines += ["", table.title, *_aligned(table)]
    if page.remarks:
        lines += ["", *page.remarks]
    text = "\n".join(lines) + "\n"
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _aligned(table: Table) -> list[str]:
    widths = [max(len(r[k]) for r in (table.header, *table.rows)) for k in range(len(table.header))]

    def line(cells: tuple[str, ...]) -> str:
        padded = (
            c.rjust(w) if k in table.right else c.ljust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True))
        )
        return ("  " + "  ".join(padded)).rstrip()

    return [line(table.header), *(line(r) for r in table.rows)]


def _rich(page: Page) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(page.headline, style="bold"))
    for table in page.tables:
        console.print()
        drawn = RichTable(
            title=Text(table.title),
            title_justify="left",
            box=None,
            header_style="dim",
            pad_edge=False,
            padding=(0, 2, 0, 0),
        )
        for k, name in enumerate(table.header):
            drawn.add_column(Text(name), justify="right" if k in table.right else "left", overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text(cell) for cell in row))  # Text: data is never taken for markup
        console.print(drawn)
    if page.remarks:
        console.print()
        for remark in page.remarks:
            console.print(Text(remark, style="yellow" if remark.startswith("Beware") else "dim"))


def say(sentence: str) -> None:
    """A remark on standard error, so that piped output stays clean."""
    plain, encoding = "".join(c if c.isprintable() else "?" for c in sentence), sys.stderr.encoding or "utf-8"
    sys.stderr.write(plain.encode(encoding, "replace").decode(encoding) + "\n")


def progress() -> Callable[[int], None] | None:
    """A line that counts rows, once a sweep has taken more than a second; none away from a terminal."""
    if not sys.stderr.isatty():
        return None
    started = last = time.monotonic()

    def tell(rows: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - started > PATIENCE and now - last > 0.1:
            last = now
            sys.stderr.write(f"\r\x1b[2K{rows:,} rows … {now - started:.0f} s\r")
            sys.stderr.flush()

    return tell


def clear_progress() -> None:
    """Take the progress line away."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()
