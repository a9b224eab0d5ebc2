"""What is shown of a result, before it is printed or drawn: one tree, and four faces: text, HTML, Markdown, JSON.

The kinds of the tree are sentences (plain words), tables, charts, marked texts and documents within documents. Terminal
(cli/terminal.py) and page (page/templates/page.html) fold over the same kinds.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TypeAlias

from likely.errors import write_arguments
from likely.machinery.words import Figure, align_columns, cut, escape_text, finite, tie, width
from likely.present.charts.bars import bar
from likely.present.charts.drawing import Chart, cut_middle, standalone
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
    spare: tuple[str | tuple[str, ...], ...] = ()
    """The columns that a narrow terminal leaves out, by their names, least needed first; those of a tuple at once."""

    def first(self, rows: int) -> Table:
        """The same with no more rows than these."""
        return self if len(self.rows) <= rows else replace(self, rows=self.rows[:rows])

    def with_column(self, name: str, cells: Sequence[str], number: bool = False) -> Table:
        """The same with one column more."""
        rows = tuple((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        right = self.right | {len(self.header)} if number else self.right
        return replace(self, header=(*self.header, name), rows=rows, right=right)

    def keep(self, places: Sequence[int]) -> Table:
        """The same with these columns only."""
        rows = tuple(tuple(row[k] for k in places) for row in self.rows)
        right = frozenset(new for new, old in enumerate(places) if old in self.right)
        return replace(self, header=tuple(self.header[k] for k in places), rows=rows, right=right)


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


# As text, for a terminal and `print`: in so many places, columns that are least needed are left out, then long words
# are cut in their middle; what is still too wide goes on below.

NUMBER = re.compile(r"[+−-]?\d[\d.,]*")
NARROWEST, GAP, INDENT = 12, 2, 2
"""Places that words are not cut below, between columns and before the first."""


def to_text(document: Document, places: int | None = None) -> str:
    """A document as lines; charts are left out. Tables take no more `places` than there are, or than a terminal has."""
    return "\n".join(_lines(document, places or shutil.get_terminal_size((100, 24)).columns))


def in_python(document: Document) -> Document:
    """The same with keyword arguments where sentences name options of the command line."""
    parts = (write_arguments(part) if type(part) is str else part for part in document.parts)
    return replace(document, headline=write_arguments(document.headline), parts=tuple(p for p in parts if p != "."))


def to_headline(document: Document) -> str:
    """The first line of a document."""
    return document.headline.partition("\n")[0]


def _lines(document: Document, places: int) -> Iterator[str]:
    yield document.headline
    above: Part = Passage("", ())
    for part in document.parts:
        if isinstance(part, Chart):
            continue
        if isinstance(part, Table):
            yield from ("", *((part.title,) if part.title else ()))
            for piece in fit_table(part, places - INDENT):
                yield align_columns([piece.header, *piece.rows], piece.right, " " * INDENT)
        elif isinstance(part, Passage):
            marked = "".join(f"[{text}{mark}]" if mark else text for text, mark, _ in part.stretches)
            yield from ("", part.title, *(f"  {line}".rstrip() for line in marked.strip("\n").split("\n")))
        elif isinstance(part, Document):
            yield from ("", *_lines(part, places))
        else:
            yield from (part,) if isinstance(above, str) else ("", part)
        above = part


def fit_table(table: Table, places: int) -> list[Table]:
    """A table in so many places; as several, one below the other, where even that is too wide for one.

    >>> long = Table("", ("name", "n", "error"), (("a" * 30, "1", "0.5"),), frozenset({1, 2}), spare=("error",))
    >>> [(t.header, t.rows) for t in fit_table(long, 20)]
    [(('name', 'n'), (('aaaaaaaaa…aaaaaaa', '1'),))]
    """
    for names in table.spare:
        if sum(_widths(table)) <= places:
            return [table]
        left_out = (names,) if isinstance(names, str) else names
        table = table.keep([k for k, head in enumerate(table.header) if head not in left_out])
    table = _cut_words(table, places)
    widths = _widths(table)
    if sum(widths) <= places:
        return [table]
    room = max(places - widths[0] - GAP, NARROWEST)
    table = replace(table, header=(table.header[0], *(_cut(head, room, 1) for head in table.header[1:])))
    widths, out, kept = _widths(table), [], [0]
    for k in range(1, len(widths)):
        if len(kept) > 1 and sum(widths[j] for j in (*kept, k)) > places:
            out.append(table.keep(kept))
            kept = [0]
        kept.append(k)
    return [*out, table.keep(kept)]


def _widths(table: Table) -> list[int]:
    """What each column takes, with the gap before it."""
    columns = zip(*(table.header, *table.rows), strict=True)
    return [max(map(width, cells)) + (GAP if k else 0) for k, cells in enumerate(columns)]


def _cut_words(table: Table, places: int) -> Table:
    """The same with the longest words cut, a column of words after the other, as far as that is needed."""
    words = [k for k in range(len(table.header)) if k not in table.right]
    rows = [table.header, *table.rows]
    while (over := sum(widths := _widths(table)) - places) > 0:
        longest = max(words, key=lambda k: widths[k], default=0)
        taken = widths[longest] - (GAP if longest else 0)
        if not words or taken <= NARROWEST:
            break
        others = [widths[k] - (GAP if k else 0) for k in words if k != longest]
        room = max(NARROWEST, taken - over, min(taken - 1, max(others, default=0)))
        rows = [tuple(_cut(c, room, taken) if k == longest else c for k, c in enumerate(row)) for row in rows]
        table = replace(table, header=rows[0], rows=tuple(rows[1:]))
        if _widths(table)[longest] == widths[longest]:  # numbers stay as they are
            words.remove(longest)
    return table


def _cut(cell: str, most: int, longest: int) -> str:
    """A cell in `most` places of so many that the longest takes: of bars the lengths, of words the middles. A number is
    never cut: it would be another one.

    >>> _cut("id=124146 1467.7, age=39 2.5", 15, 40), _cut("124,146.5", 5, 40)
    ('id=124146 …', '124,146.5')
    """
    if set(cell) == {"▇"}:
        return cell[: max(1, round(most * len(cell) / longest))]
    if NUMBER.fullmatch(cell):
        return cell
    found, room = cell, most
    while cell and width(found) > most and " " in cell:  # names differ at their ends, sentences say most at first
        found, room = cut(cell, room), room - 1
        last = len(found) - 1
        if found != cell and any(m.start() < last < m.end() for m in NUMBER.finditer(cell)):
            found = f"{cell[: max(m.start() for m in NUMBER.finditer(cell) if m.start() < last)]}…"
    while cell and width(found) > most:
        found, room = cut_middle(cell, room), room - 1
    return found


# As HTML, for a notebook: tables that take its own style, charts that bring theirs. Everything from data is escaped.

NOTEBOOK_STYLE = (
    ".likely table td,.likely table th{text-align:left!important;padding:1px .7em 1px 0;vertical-align:top}"
    ".likely table .n{text-align:right!important;white-space:nowrap}"
    ".likely .bar{width:9em;height:10px}.likely .bar rect{height:10px;fill:#14858f}"
    ".likely mark{color:inherit;background:none;border-bottom:2px solid #14858f}"
    ".likely mark.no{border-color:#c8552c}.likely p.w{font-weight:bold}"
)


def to_html(document: Document) -> str:
    """A document as HTML that stands in a page of others."""
    return f'<div class="likely"><style>{NOTEBOOK_STYLE}</style>{"".join(_elements(document))}</div>'


def _elements(document: Document) -> Iterator[str]:
    first, *rest = document.headline.split("\n")
    yield f"<p><strong>{escape_text(first, 1000)}</strong>{''.join(f'<br>{escape_text(r, 1000)}' for r in rest)}</p>"
    for part in document.parts:
        if isinstance(part, Chart):
            yield f"<div>{part if 'xmlns=' in part[:60] else standalone(part)}</div>"
        elif isinstance(part, Table):
            title = f"<p><strong>{escape_text(part.title, 1000)}</strong></p>" if part.title else ""
            yield f"{title}<table>{_html_rows(part)}</table>"
        elif isinstance(part, Passage):
            yield f"<p><strong>{escape_text(part.title, 1000)}</strong></p><p>{_html_passage(part)}</p>"
        elif isinstance(part, Document):
            yield from _elements(part)
        else:
            warns = ' class="w"' if part.startswith("Warning") else ""
            yield f"<p{warns}>{escape_text(part, 2000)}</p>"


def _html_rows(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        sides = (' class="n"' if k in table.right else "" for k in range(len(cells)))
        return "".join(f"<{tag}{side}>{_html_cell(cell)}</{tag}>" for cell, side in zip(cells, sides, strict=True))

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    return f"<thead><tr>{row(table.header, 'th')}</tr></thead><tbody>{body}</tbody>"


def _html_cell(cell: str) -> str:
    if not cell:
        return ""
    if set(cell) == {"▇"}:  # of a ledger too: a bar is drawn, not written
        return f'<svg class="bar" style="width:{len(cell) / 2:g}em" aria-hidden="true"><rect width="100%"/></svg>'
    return escape_text(cell, 400)


def _html_passage(passage: Passage) -> str:
    out = []
    for words, mark, strength in passage.stretches:
        told = escape_text(words, 4000) if words else ""
        side = ' class="no"' if strength < 0 else ""
        out.append(f"<mark{side}>{told}<sup>{escape_text(mark)}</sup></mark>" if mark else told)
    return "".join(out)


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
