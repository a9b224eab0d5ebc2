"""The chapters of the course as files, as HTML, and as pages that open without a network."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from likely.errors import InputError, SettingError, shown
from likely.machinery.native.caching import cache_folders
from likely.table.output.files import check_unedited

# The chapters of the course as files: where they are, what they are called, the hints in them.

HERE = Path(__file__).parent
CLONE = HERE.parents[3]
"""The top folder of a clone; in an installed package a folder of others."""
TITLE = re.compile(r"^# (?P<number>\d+)\. (?P<title>.+)$", re.MULTILINE)
EXERCISE = re.compile(
    r"^\*\*Exercise (?P<name>\d+\.\d)\.\*\* (?P<question>.+?)\n<!-- hint: (?P<hint>.+?) -->\n"
    r"<!-- answer: (?P<answer>\S+) -->\n(?P<mistakes>(?:<!-- mistake .+? -->\n)*)",
    re.DOTALL | re.MULTILINE,
)
MISTAKE = re.compile(r"<!-- mistake (\S+): (.+?) -->", re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """What an exercise asks for: its hint, what is right, and numbers that a usual mistake gives, with what to say."""

    name: str
    hint: str
    answer: str
    mistakes: tuple[tuple[str, str], ...]

    @property
    def is_whole(self) -> bool:
        """Whether it asks for a count, which is right or wrong to the last digit."""
        return self.answer.isdigit()

    @property
    def written(self) -> str:
        """What is right, as it is told: a fraction or six digits."""
        return f"{float(self.answer):.6g}" if "." in self.answer else self.answer


@dataclass(frozen=True)
class Chapter:
    """A chapter: its number and title, the file it was read from, and its text."""

    number: int
    title: str
    path: Path
    text: str

    @property
    def name(self) -> str:
        """The name of its files, without their ending: 3-counting."""
        return self.path.stem

    def exercises(self) -> dict[str, Exercise]:
        """The exercises in their order."""
        return {
            found["name"]: Exercise(
                found["name"],
                " ".join(found["hint"].split()),
                found["answer"],
                tuple((value, " ".join(words.split())) for value, words in MISTAKE.findall(found["mistakes"])),
            )
            for found in EXERCISE.finditer(self.text)
        }


def course_folder() -> Path:
    """Where the chapters, their notebooks and pictures are."""
    return _folder("chapters", "docs/course")


def examples_folder() -> Path:
    """Where the example tables are."""
    return _folder("examples", "examples")


def _folder(packaged: str, in_clone: str) -> Path:
    """A folder that a wheel holds inside the package and a clone at its top."""
    for folder in (HERE / packaged, CLONE / in_clone):
        if folder.is_dir():
            return folder
    raise InputError(f"The course is not where it should be: {shown(HERE / packaged, 200)}. Install likely again.")


@cache
def read_chapters() -> tuple[Chapter, ...]:
    """Every chapter, in order."""
    found = []
    for path in course_folder().glob("[1-9]*-*.md"):
        text = path.read_text(encoding="utf-8")
        heading = TITLE.search(text)
        if heading is None:
            raise InputError(f"{shown(path, 200)} has no heading such as '# 3. Naive Bayes by counting'.")
        found.append(Chapter(int(heading["number"]), heading["title"], path, text))
    return tuple(sorted(found, key=lambda chapter: chapter.number))


def find_chapter(number: int) -> Chapter:
    """The chapter of this number."""
    chapters = read_chapters()
    for chapter in chapters:
        if chapter.number == number:
            return chapter
    raise SettingError(f"There is no chapter {number}. There are chapters 1 to {len(chapters)}.")


# HTML of the Markdown that chapters are written in: headings, paragraphs, lists, tables, code, pictures, links.

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


# Chapters as pages that open without a network, and the course as a folder to work in.

STYLE = """
body { font: 17px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; }
h1, h2, h3 { line-height: 1.25; margin-top: 2rem; }
pre { font-size: 13px; line-height: 1.4; background: #f5f5f3; border: 1px solid #ddd; border-radius: 4px;
  padding: .7rem; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: .88em; }
table { border-collapse: collapse; } th, td { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; }
img { max-width: 100%; height: auto; }
.answer { display: flex; gap: .5rem; flex-wrap: wrap; align-items: baseline; margin: -.5rem 0 1.5rem; font-size: 15px; }
.answer input { font: inherit; width: 9rem; padding: .1rem .4rem; } .answer button { font: inherit; cursor: pointer; }
.answer .right { color: #176b2c; font-weight: 600; }
nav { display: flex; justify-content: space-between; gap: 1rem; font-size: 15px; }
"""


def page_of(chapter: Chapter) -> str:
    """A chapter as one HTML page, with its pictures in it and links to the chapters before and after."""
    ways = _ways(chapter)
    body = _add_answers(to_html(chapter.text, lambda there: _resolve(chapter, there)), chapter)
    script = (HERE / "exercises.js").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="likely course">\n<title>{chapter.number}. {escape(chapter.title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{ways}\n<main>\n{body}\n</main>\n{ways}\n<script>\n{script}</script>\n"
        "</body>\n</html>\n"
    )


def _add_answers(body: str, chapter: Chapter) -> str:
    """A place to answer in behind each exercise; exercises.js says what `check` would."""

    def add(found: re.Match[str]) -> str:
        asked = chapter.exercises()[found["name"]]
        data = {"hint": asked.hint, "answer": asked.answer, "written": asked.written, "mistakes": asked.mistakes}
        return (
            f'{found[0]}\n<form class="answer" data-exercise="{escape(json.dumps(data))}"><input aria-label="Answer to '
            f'{asked.name}" autocomplete="off"> <button>Check</button> <output></output></form>'
        )

    return re.sub(r"<p><strong>Exercise (?P<name>\d+\.\d)\.</strong>.*?</p>", add, body, flags=re.DOTALL)


def _ways(chapter: Chapter) -> str:
    near = {c.number: c for c in read_chapters()}

    def way(number: int, arrow: str) -> str:
        there = near.get(number)
        return f'<a href="{there.name}.html">{arrow.format(escape(there.title))}</a>' if there else "<span></span>"

    return f"<nav>{way(chapter.number - 1, '← {}')}{way(chapter.number + 1, '{} →')}</nav>"


def _resolve(chapter: Chapter, there: str) -> str:
    """A picture as the data it is; another chapter as its page."""
    if there.endswith(".svg"):
        data = (chapter.path.parent / there).read_bytes()
        return f"data:image/svg+xml;base64,{base64.b64encode(data).decode()}"
    return there.removesuffix(".md") + ".html" if there.endswith(".md") else there


def write_pages() -> dict[int, Path]:
    """Write every page into the user's cache; the file of each chapter. All are written, as they lead to each other."""
    pages = _make_pages(cache_folders()[-1] / "course")
    _write({path: data for path, data in pages.values()})
    return {number: path for number, (path, _) in pages.items()}


def copy_course(folder: Path) -> dict[int, Path]:
    """Write pages, notebooks and example tables into a folder where commands and notebooks run as they stand.

    Nothing is written where one of the files is there already and was changed.
    """
    pages = _make_pages(folder)
    notebooks = {folder / path.name: path.read_bytes() for path in sorted(course_folder().glob("*.ipynb"))}
    files = {path: data for path, data in pages.values()} | notebooks | _read_examples(folder)
    check_unedited(files)
    _write(files)
    return {number: path for number, (path, _) in pages.items()}


def copy_examples(folder: Path) -> None:
    """Put the example tables into examples/ of a folder, unless one of them is there already and was changed."""
    files = _read_examples(folder)
    check_unedited(files)
    _write(files)


def _make_pages(folder: Path) -> dict[int, tuple[Path, bytes]]:
    """The file of each chapter in a folder, and what it holds."""
    return {c.number: (folder / f"{c.name}.html", page_of(c).encode()) for c in read_chapters()}


def _read_examples(folder: Path) -> dict[Path, bytes]:
    """The example tables by their places in a folder."""
    paths = sorted(path for path in examples_folder().iterdir() if path.suffix in {".csv", ".toml", ".txt"})
    return {folder / "examples" / path.name: path.read_bytes() for path in paths}


def _write(files: dict[Path, bytes]) -> None:
    for path, data in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            place = shown(path.parent, 200)
            raise InputError(f"Cannot write to {place}: {error.strerror}. Name another folder with --out.") from None
