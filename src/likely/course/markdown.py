"""HTML of the Markdown that chapters are written in: headings, paragraphs, lists, tables, code, pictures, links.

Knows this part of Markdown and no more; tests/course/test_markdown.py holds it against Python-Markdown, which the site
uses, on every chapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
CODE = re.compile(r"(`[^`]+`)")
PICTURE = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<there>[^)\s]+)\)")
LINK = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<there>[^)\s]+)\)")
STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
EMPHASIS = re.compile(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])")
HEADING = re.compile(r"(#{1,4}) (.+)")
RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
INDENT = "    "
"""Before the lines of a formula."""

Resolve = Callable[[str], str]
"""What a link or a picture of the document leads to on the page."""


def to_html(text: str, resolve: Resolve = str) -> str:
    """The blocks of a document as HTML.

    >>> to_html("A *fair* coin: `P = 1/2`.")
    '<p>A <em>fair</em> coin: <code>P = 1/2</code>.</p>'
    """
    return "\n".join(_blocks(_drop_comments(text).split("\n"), resolve))


def _drop_comments(text: str) -> str:
    """The text without HTML comments; those inside fenced code stay."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if k % 2 else COMMENT.sub("", part) for k, part in enumerate(parts))


def _blocks(lines: list[str], resolve: Resolve) -> Iterator[str]:
    k = 0
    while k < len(lines):
        line = lines[k]
        if not line.strip():
            k += 1
        elif line.startswith("```"):
            end = next((j for j in range(k + 1, len(lines)) if lines[j].rstrip() == "```"), len(lines))
            code = escape("\n".join(lines[k + 1 : end]), quote=False)
            yield f"<pre><code>{code}\n</code></pre>"
            k = end + 1
        elif line.startswith(INDENT):
            end = next((j for j in range(k, len(lines)) if not lines[j].startswith(INDENT)), len(lines))
            code = escape("\n".join(part.removeprefix(INDENT) for part in lines[k:end]), quote=False)
            yield f"<pre><code>{code}\n</code></pre>"
            k = end
        elif heading := HEADING.fullmatch(line):
            level = len(heading[1])
            yield f"<h{level}>{inline(heading[2], resolve)}</h{level}>"
            k += 1
        else:
            end = next((j for j in range(k, len(lines)) if not lines[j].strip() or _opens(lines[j])), len(lines))
            yield _paragraph(lines[k:end], resolve)
            k = end


def _opens(line: str) -> bool:
    return line.startswith("```") or HEADING.fullmatch(line) is not None


def _paragraph(lines: list[str], resolve: Resolve) -> str:
    """A table, a list or a paragraph, by how it begins."""
    if len(lines) > 1 and lines[0].startswith("|") and RULE.fullmatch(lines[1].strip()):
        return _table(lines, resolve)
    if lines[0].startswith("- "):
        items = re.split(r"^- ", "\n".join(lines), flags=re.MULTILINE)[1:]
        return "<ul>\n" + "\n".join(f"<li>{inline(_joined(item), resolve)}</li>" for item in items) + "\n</ul>"
    words = _joined("\n".join(lines))
    return f"<p>{inline(words, resolve)}</p>"


def _joined(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def _table(lines: list[str], resolve: Resolve) -> str:
    def row(line: str, cell: str) -> str:
        cells = [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        return "<tr>" + "".join(f"<{cell}>{inline(words, resolve)}</{cell}>" for words in cells) + "</tr>"

    body = "\n".join(row(line, "td") for line in lines[2:])
    return f"<table>\n<thead>\n{row(lines[0], 'th')}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def inline(text: str, resolve: Resolve = str) -> str:
    """Words inside a block: code first, so that nothing in it is taken for a mark.

    >>> inline("**P(a|b)** is `a*b*c` < 1")
    '<strong>P(a|b)</strong> is <code>a*b*c</code> &lt; 1'
    """
    parts = CODE.split(text)
    return "".join(
        f"<code>{escape(part[1:-1], quote=False)}</code>" if k % 2 else _marked(part, resolve)
        for k, part in enumerate(parts)
    )


def _marked(text: str, resolve: Resolve) -> str:
    def picture(found: re.Match[str]) -> str:
        # The words were escaped with the text; inside an attribute quotes count too.
        return f'<img alt="{found["words"].replace(chr(34), "&quot;")}" src="{resolve(found["there"])}" />'

    def link(found: re.Match[str]) -> str:
        return f'<a href="{resolve(found["there"])}">{found["words"]}</a>'

    text = PICTURE.sub(picture, escape(text, quote=False))
    return EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", LINK.sub(link, text)))
