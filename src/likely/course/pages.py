"""Chapters as pages that open without a network, and the course as a folder to work in.

Knows files and HTML. Pictures are part of their page, so that a page can be moved or sent by itself.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from likely.course.chapters import Chapter, course_folder, examples_folder, read_chapters
from likely.course.markdown import to_html
from likely.errors import InputError, shown
from likely.machinery.native.caching import cache_folders
from likely.table.output.overwrite import check_unedited

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
