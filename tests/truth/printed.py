"""What a command printed, taken apart as a reader would: sentences, and tables with a title, a header and cells.

Knows the layout of a terminal and nothing of likely.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field


@dataclass
class Table:
    """A title, and lines of cells below a header."""

    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[list[str]]:
        """Columns are where at least two blanks stand below each other in every line."""
        lines = [
            "".join(c + "\0" if unicodedata.east_asian_width(c) in "WF" else c for c in line) for line in self.lines
        ]
        width = max(map(len, lines))
        lines = [line.ljust(width) for line in lines]
        blank = [all(line[k] == " " for line in lines) for k in range(width)]
        cuts = [m.span() for m in re.finditer(r"  +", "".join(" " if b else "x" for b in blank))]
        inner = [span for span in cuts if span[0] > 0 and span[1] < width]
        bounds = [cuts[0][1] if cuts and cuts[0][0] == 0 else 0]
        for start, end in inner:
            bounds += [start, end]
        bounds.append(width)
        pairs = list(zip(bounds[::2], bounds[1::2], strict=True))
        return [[line[a:b].replace("\0", "").strip() for a, b in pairs] for line in lines]

    @property
    def header(self) -> list[str]:
        return self.cells[0]

    @property
    def rows(self) -> list[list[str]]:
        return self.cells[1:]

    def row(self, name: str) -> dict[str, str]:
        """The line that begins with this name, by the header."""
        return dict(zip(self.header, next(row for row in self.rows if row[0] == name), strict=True))


@dataclass
class Printed:
    """Everything a command said."""

    sentences: list[str]
    tables: list[Table]

    def table(self, beginning: str) -> Table:
        return next(one for one in self.tables if one.title.startswith(beginning))

    def has(self, beginning: str) -> bool:
        return any(one.title.startswith(beginning) for one in self.tables)


def read_printed(text: str) -> Printed:
    """A line above indented lines is the title of their table; every other line is a sentence."""
    sentences: list[str] = []
    tables: list[Table] = []
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("  "):
            tables[-1].lines.append(line)
        elif k + 1 < len(lines) and lines[k + 1].startswith("  "):
            tables.append(Table(line))
        elif line:
            sentences.append(line)
    return Printed(sentences, tables)
