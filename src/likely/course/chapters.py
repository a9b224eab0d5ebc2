"""The chapters of the course as files: where they are, what they are called, the hints in them.

A chapter is a document such as docs/course/3-counting.md, with the output of its commands in it. An installed package
holds the same files in its own folder. Knows text, not what it computes.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from likely.errors import InputError, SettingError, shown
from likely.machinery.records import dataclass

HERE = Path(__file__).parent
CLONE = HERE.parents[2]
"""The top folder of a clone; in an installed package a folder of others."""
TITLE = re.compile(r"^# (?P<number>\d)\. (?P<title>.+)$", re.MULTILINE)
EXERCISE = re.compile(
    r"^\*\*Exercise (?P<name>\d\.\d)\.\*\* (?P<question>.+?)\n<!-- hint: (?P<hint>.+?) -->", re.DOTALL | re.MULTILINE
)


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

    def exercises(self) -> dict[str, str]:
        """The exercises in their order, each with its hint on one line."""
        return {found["name"]: " ".join(found["hint"].split()) for found in EXERCISE.finditer(self.text)}


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
    for path in sorted(course_folder().glob("[1-9]-*.md")):
        text = path.read_text(encoding="utf-8")
        heading = TITLE.search(text)
        if heading is None:
            raise InputError(f"{shown(path, 200)} has no heading such as '# 3. Naive Bayes by counting'.")
        found.append(Chapter(int(heading["number"]), heading["title"], path, text))
    return tuple(found)


def find_chapter(number: int) -> Chapter:
    """The chapter of this number."""
    chapters = read_chapters()
    for chapter in chapters:
        if chapter.number == number:
            return chapter
    raise SettingError(f"There is no chapter {number}. There are chapters 1 to {len(chapters)}.")
