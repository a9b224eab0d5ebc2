"""A report of words and tables as Markdown. Words of any origin are escaped, so that none is taken for markup."""

from __future__ import annotations

import re

from likely.present.sections import Report, Table

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
