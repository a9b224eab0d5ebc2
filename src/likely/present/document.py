"""What is shown of a result, before it is printed or drawn: one tree, and two of its faces, Markdown and JSON.

The kinds of the tree are sentences (plain words), tables, charts, marked texts and documents within documents. Terminal
(cli/terminal.py) and page (page/templates/page.html) fold over the same kinds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TypeAlias

from likely.machinery.words import Figure, finite, tie
from likely.present.charts.bars import bar
from likely.present.charts.drawing import Chart
from likely.sums import state


class Styled(str):
    """Words that a page shows in its own way: `style` is a class of its style sheet, `markup` HTML of ours in their
    place."""

    style: str
    markup: str

    def __new__(cls, words: str, style: str = "", markup: str = "") -> Styled:
        out = super().__new__(cls, words)
        out.style, out.markup = style, markup
        return out

    def __html__(self) -> str:
        return self.markup or escape(tie(str(self)))


def bar_cell(share: float, places: int = 20, kind: str = "accent") -> Styled:
    """A cell that shows a share of the longest bar: blocks among words, a drawing on a page.

    >>> str(bar_cell(0.25)), bar_cell(0.25).__html__()[:16]
    ('▇▇▇▇▇', '<svg class="bar"')
    """
    return Styled("▇" * round(places * min(share, 1.0)), "bar-cell", bar(share, kind))


def link_cell(words: str, place: str) -> Styled:
    """A cell whose words lead to another place of a page, where there is one."""
    return Styled(words, markup=f'<a href="#{place}">{escape(words)}</a>' if place else "")


@dataclass(frozen=True)
class Table:
    """A small table; `right` names the columns of numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells are words; a `Styled` cell or a `Chart` is drawn on a page."""
    right: frozenset[int] = field(default_factory=frozenset)
    style: str = ""
    """How a page sets it: a class of its style sheet."""
    key: str = ""
    """By which scripts of a page find it."""
    label: str = ""
    """What it is called on a page where it has no title."""

    def first(self, rows: int) -> Table:
        """The same with no more rows than these."""
        return self if len(self.rows) <= rows else replace(self, rows=self.rows[:rows])

    def with_column(self, name: str, cells: Sequence[str], number: bool = False) -> Table:
        """The same with one column more."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        right = self.right | {len(self.header)} if number else self.right
        return replace(self, header=(*self.header, name), rows=rows, right=right)


def numbers_from(start: int, width: int) -> frozenset[int]:
    """The columns of numbers of a table: all from `start` on."""
    return frozenset(range(start, width))


@dataclass(frozen=True)
class Passage:
    """A text whose words are marked: stretches as they may be printed, with a mark and its strength from -1 to 1."""

    title: str
    stretches: tuple[tuple[str, str, float], ...]
    """The text, what is marked there ('+1.2'; empty: nothing), and how strong that is."""


@dataclass(frozen=True)
class Document:
    """What is shown of a result, or of one question about it: a headline, then the parts in order."""

    headline: str
    parts: tuple[Part, ...] = ()
    key: str = ""
    """By which it is linked to."""
    name: str = ""
    """In a list of contents."""
    style: str = ""
    """How a page sets it."""

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(part for part in self.parts if isinstance(part, Table))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Its sentences."""
        return tuple(part for part in self.parts if isinstance(part, str) and not isinstance(part, Chart))


Part: TypeAlias = str | Table | Passage | Document
"""A sentence, a `Chart` (SVG), a table, a marked text, or a document of its own."""


# As Markdown (GitHub's, which has tables). Words of any origin are escaped, so that none is taken for markup.

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def to_markdown(document: Document) -> str:
    """A document as Markdown; charts are left out.

    >>> print(to_markdown(Document("a <b>", (Table("t", ("x", "n"), (("p|q", "1"),), frozenset({1})), "So it is."))))
    # a \\<b\\>
    <BLANKLINE>
    ## t
    <BLANKLINE>
    | x | n |
    | :--- | ---: |
    | p\\|q | 1 |
    <BLANKLINE>
    - So it is.
    <BLANKLINE>
    """
    first, *rest = document.headline.split("\n")
    lines = [f"# {marked(first)}", ""]
    if rest:
        lines += [marked(" ".join(rest)), ""]
    for part in document.parts:
        if isinstance(part, Table):
            lines += [f"## {marked(part.title)}", "", *_table_lines(part), ""]
        elif isinstance(part, Passage):
            text = "".join(f"**{marked(words)}**" if mark else marked(words) for words, mark, _ in part.stretches)
            lines += [f"## {marked(part.title)}", "", text, ""]
    if document.remarks:
        lines += [*(f"- {marked(remark)}" for remark in document.remarks), ""]
    return "\n".join(lines)


def marked(text: str) -> str:
    """Words in which nothing is markup."""
    return _MARKS.sub(r"\\\1", text.replace("\n", " "))


def _table_lines(table: Table) -> list[str]:
    def row(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(marked(cell) for cell in cells) + " |"

    rules = " | ".join("---:" if k in table.right else ":---" for k in range(len(table.header)))
    return [row(table.header), f"| {rules} |", *(row(cells) for cells in table.rows)]


def to_json(document: Document) -> bytes:
    """A document as JSON: tables as lists of records, with numbers as numbers; a fraction stays as it is written."""

    def value(cell: str, numeric: bool) -> object:
        if isinstance(cell, Figure):
            return finite(cell.value)
        return None if numeric and cell == "–" else str(cell)

    tables = []
    for t in document.tables:
        numeric = [k in t.right for k in range(len(t.header))]
        rows = [{h: value(c, n) for h, c, n in zip(t.header, r, numeric, strict=True) if h} for r in t.rows]
        tables.append({"title": t.title, "rows": rows})
    return state.as_json({"headline": document.headline, "tables": tables, "remarks": list(document.remarks)})
