"""Chapters as pages that open without a network, and the course as a folder to work in.

Knows files and HTML. Pictures are part of their page, so that a page can be moved or sent by itself.
"""

from __future__ import annotations

import base64
import shutil
from html import escape
from pathlib import Path

from likely.course.chapters import Chapter, course_folder, examples_folder, read_chapters
from likely.course.markdown import to_html
from likely.errors import InputError, shown
from likely.machinery.native.caching import cache_folders

STYLE = """
body { font: 17px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; }
h1, h2, h3 { line-height: 1.25; margin-top: 2rem; }
pre { font-size: 13px; line-height: 1.4; background: #f5f5f3; border: 1px solid #ddd; border-radius: 4px;
  padding: .7rem; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: .88em; }
table { border-collapse: collapse; } th, td { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; }
img { max-width: 100%; height: auto; }
nav { display: flex; justify-content: space-between; gap: 1rem; font-size: 15px; }
"""


def page_of(chapter: Chapter) -> str:
    """A chapter as one HTML page, with its pictures in it and links to the chapters before and after."""
    ways = _ways(chapter)
    body = to_html(chapter.text, lambda there: _resolve(chapter, there))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="likely course">\n<title>{chapter.number}. {escape(chapter.title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{ways}\n<main>\n{body}\n</main>\n{ways}\n</body>\n</html>\n"
    )


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


def write_pages(folder: Path | None = None) -> dict[int, Path]:
    """Write every page into a folder, the user's cache if none is named; the file of each chapter.

    All are written, because they lead to each other.
    """
    place = cache_folders()[-1] / "course" if folder is None else folder
    written = {}
    try:
        place.mkdir(parents=True, exist_ok=True)
        for chapter in read_chapters():
            path = place / f"{chapter.name}.html"
            path.write_text(page_of(chapter), encoding="utf-8")
            written[chapter.number] = path
    except OSError as error:
        raise InputError(
            f"The pages cannot be written to {shown(place, 200)}: {error.strerror}. Name a folder with --out."
        ) from None
    return written


def copy_course(folder: Path) -> dict[int, Path]:
    """Write pages, notebooks and example tables into a folder where commands and notebooks run as they stand."""
    written = write_pages(folder)
    for notebook in sorted(course_folder().glob("*.ipynb")):
        shutil.copyfile(notebook, folder / notebook.name)
    copy_examples(folder)
    return written


def copy_examples(folder: Path) -> None:
    """Put the example tables into examples/ of a folder; files of the same names there are replaced."""
    place = folder / "examples"
    place.mkdir(parents=True, exist_ok=True)
    for path in sorted(examples_folder().iterdir()):
        if path.suffix in {".csv", ".toml", ".txt"}:
            shutil.copyfile(path, place / path.name)
