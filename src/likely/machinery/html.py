"""Small tables as HTML, for notebooks: everything from data is escaped. Knows words and numbers, nothing of models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

MOST_LINES = 20


def escape_text(text: object, most: int = 60) -> str:
    """Words of any origin inside HTML: cut, one line, escaped.

    >>> escape_text("<b>\\n")
    '&lt;b&gt;�'
    """
    whole = str(text)
    whole = whole if len(whole) <= most else whole[: most - 1] + "…"
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in whole))


def share_bar(value: float) -> str:
    """A share from 0 to 1 as a bar that needs no style."""
    return f'<progress max="1" value="{min(max(value, 0.0), 1.0):.4f}"></progress>'


def html_table(
    title: str,
    header: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    bars: Collection[int] = (),
    remarks: Sequence[str] = (),
) -> str:
    """A small table with a title above and remarks below. Cells of the columns `bars` are HTML of ours (`share`).

    >>> html_table("t", ("a",), [("<",)])
    '<div class="likely"><p><strong>t</strong></p><table><thead><tr><th>a</th></tr></thead><tbody>...&lt;...</div>'
    """
    rows = list(lines)

    def cell(k: int, word: str) -> str:
        side = ' align="right"' if k in right else ""
        return f"<td{side}>{word if k in bars else escape_text(word)}</td>"

    head = "".join(f"<th>{escape_text(h)}</th>" for h in header)
    body = "".join(f"<tr>{''.join(cell(k, w) for k, w in enumerate(line))}</tr>" for line in rows[:MOST_LINES])
    below = [*remarks, *([f"{len(rows) - MOST_LINES} more."] if len(rows) > MOST_LINES else [])]
    return (
        f'<div class="likely"><p><strong>{escape_text(title, 200)}</strong></p><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{''.join(f'<p>{escape_text(r, 300)}</p>' for r in below)}</div>"
    )
