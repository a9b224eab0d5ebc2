"""What is presented, before it is printed or drawn: tables, marked texts, reports; and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

from likely.present.charts.bars import bar
from likely.present.charts.drawing import Chart

# What is presented, before it is printed or drawn: tables, marked texts, sections of a page, reports of commands.


class Bar(str):
    """A cell that shows a share of the longest bar: blocks among words, a drawing on a page.

    >>> str(Bar(0.25)), Bar(0.25).__html__()[:16]
    ('▇▇▇▇▇', '<svg class="bar"')
    """

    share: float
    kind: str

    def __new__(cls, share: float, places: int = 20, kind: str = "accent") -> Bar:
        out = super().__new__(cls, "▇" * round(places * min(share, 1.0)))
        out.share, out.kind = share, kind
        return out

    def __html__(self) -> str:
        return bar(self.share, self.kind)


class Link(str):
    """A cell whose words lead to another place of a page, where there is one."""

    place: str

    def __new__(cls, words: str, place: str) -> Link:
        out = super().__new__(cls, words)
        out.place = place
        return out

    def __html__(self) -> str:
        words = escape(str(self))
        return f'<a href="#{self.place}">{words}</a>' if self.place else words


class Shaded(str):
    """A cell with a ground that says something on a page: `style` is a class of its style sheet."""

    style: str

    def __new__(cls, words: str, style: str) -> Shaded:
        out = super().__new__(cls, words)
        out.style = style
        return out


@dataclass(frozen=True)
class Table:
    """A small table; `right` names the columns of numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells are words; a `Bar` or a `Chart` is drawn on a page."""
    right: frozenset[int] = field(default_factory=frozenset)

    def first(self, rows: int) -> Table:
        """The same with no more rows than these."""
        return self if len(self.rows) <= rows else replace(self, rows=self.rows[:rows])

    def with_column(self, name: str, cells: Sequence[str], number: bool = False) -> Table:
        """The same with one column more."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        right = self.right | {len(self.header)} if number else self.right
        return replace(self, header=(*self.header, name), rows=rows, right=right)


@dataclass(frozen=True)
class Passage:
    """A text whose words are marked: stretches as they may be printed, with a mark and its strength from -1 to 1."""

    title: str
    stretches: tuple[tuple[str, str, float], ...]
    """The text, what is marked there ('+1.2'; empty: nothing), and how strong that is."""


@dataclass(frozen=True)
class Section:
    """One part of what is shown of a result: sentences, tables and charts about one question."""

    key: str
    """By which it is linked to, and found."""
    name: str
    """In a list of contents."""
    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    """What is said below."""


@dataclass(frozen=True)
class Report:
    """What one command says: a headline, tables, marked texts, then remarks."""

    headline: str
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()


def numbers_from(start: int, width: int) -> frozenset[int]:
    """The columns of numbers of a table: all from `start` on."""
    return frozenset(range(start, width))


# A report of words and tables as Markdown. Words of any origin are escaped, so that none is taken for markup.

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def as_markdown(report: Report) -> str:
    """A report as Markdown (GitHub's, which has tables).

    >>> print(as_markdown(Report("a <b>", (Table("t", ("x", "n"), (("p|q", "1"),), frozenset({1})),))))
    # a \\<b\\>
    <BLANKLINE>
    ## t
    <BLANKLINE>
    | x | n |
    | :--- | ---: |
    | p\\|q | 1 |
    <BLANKLINE>
    """
    first, *rest = report.headline.split("\n")
    lines = [f"# {marked(first)}", ""]
    if rest:
        lines += [marked(" ".join(rest)), ""]
    for table in report.tables:
        lines += [f"## {marked(table.title)}", "", *_table(table), ""]
    for passage in report.passages:
        text = "".join(f"**{marked(words)}**" if mark else marked(words) for words, mark, _ in passage.stretches)
        lines += [f"## {marked(passage.title)}", "", text, ""]
    if report.remarks:
        lines += [*(f"- {marked(remark)}" for remark in report.remarks), ""]
    return "\n".join(lines)


def marked(text: str) -> str:
    """Words in which nothing is markup."""
    return _MARKS.sub(r"\\\1", text.replace("\n", " "))


def _table(table: Table) -> list[str]:
    def row(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(marked(cell) for cell in cells) + " |"

    rules = " | ".join("---:" if k in table.right else ":---" for k in range(len(table.header)))
    return [row(table.header), f"| {rules} |", *(row(cells) for cells in table.rows)]
