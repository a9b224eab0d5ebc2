"""Exercises and chapters of the course."""

from __future__ import annotations

import math
import re
from fractions import Fraction as F
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from course.worked import WORKED

from likely.classroom.course import chapters, check
from likely.classroom.course.chapters import CLONE, Chapter, copy_course, find_chapter, page_of, read_chapters, to_html
from likely.cli import run as run_command
from likely.errors import LikelyError

CHAPTERS = read_chapters()


def name_of(chapter: Chapter) -> str:
    return chapter.name


def test_there_are_fifteen_chapters_in_order() -> None:
    assert [c.number for c in CHAPTERS] == list(range(1, 16))
    assert CHAPTERS[2].title == "Naive Bayes by counting"
    with pytest.raises(LikelyError, match="no chapter 16"):
        find_chapter(16)


def test_every_exercise_can_be_checked_and_has_a_hint() -> None:
    asked = [name for chapter in CHAPTERS for name in chapter.exercises()]
    assert asked == list(WORKED)
    for chapter in CHAPTERS:
        own = chapter.exercises()
        assert len(own) == chapter.text.count("**Exercise ") == chapter.text.count("<!-- answer: ") >= 5
        assert sum(len(found.mistakes) for found in own.values()) == chapter.text.count("<!-- mistake ")
        assert all(name.startswith(f"{chapter.number}.") and found.hint for name, found in own.items())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)
def test_a_command_or_a_picture_stands_in_every_chapter_with_its_output(chapter: Chapter) -> None:
    blocks = re.findall(r"^<!-- (?:run|picture)[^\n]* -->\n(.*?)<!-- end -->", chapter.text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    assert all("$ likely " in block for block in blocks)


class _Seen(HTMLParser):
    """Elements with the attributes that matter, and words without the blanks between them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, [(k, v) for k, v in attrs if k in ("href", "src", "alt")]))

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.seen.append(" ".join(data.split()))


def seen(html: str) -> list[object]:
    parser = _Seen()
    parser.feed(html)
    return parser.seen


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)
def test_our_markdown_is_that_of_the_site(chapter: Chapter) -> None:
    markdown = pytest.importorskip("markdown", reason="needs Python-Markdown (the extra `docs`)")
    bare = re.sub(r"^<!-- .*? -->\n", "", chapter.text, flags=re.DOTALL | re.MULTILINE)
    assert seen(to_html(chapter.text)) == seen(markdown.markdown(bare, extensions=["tables", "fenced_code"]))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)
def test_a_page_needs_nothing_from_elsewhere(chapter: Chapter) -> None:
    page = page_of(chapter)
    assert f"<h1>{chapter.number}. " in page and "<!--" not in page
    names = {c.name for c in CHAPTERS}
    for there in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert there.startswith("data:image/svg+xml;base64,") or there.removesuffix(".html") in names, there
    assert page.count("<img ") == chapter.text.count("![")


def test_text_of_a_chapter_is_escaped() -> None:
    page = to_html('a < b & `<i>` **<u>** !["x"](p.svg)\n\n```\n<script>\n```')
    assert "<script" not in page and "<u>" not in page and "<i>" not in page
    assert 'alt="&quot;x&quot;"' in page


def test_an_installed_package_has_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "likely" / "course"
    (installed / "chapters").mkdir(parents=True)
    (installed / "examples").mkdir()
    monkeypatch.setattr(chapters, "HERE", installed)
    monkeypatch.setattr(chapters, "CLONE", tmp_path / "nowhere")
    assert chapters.course_folder() == installed / "chapters"
    assert chapters.examples_folder() == installed / "examples"
    (installed / "chapters").rmdir()
    with pytest.raises(LikelyError, match="Install likely again"):
        chapters.course_folder()


def test_the_wheel_holds_what_the_package_looks_for() -> None:
    import tomllib

    settings = tomllib.loads((CLONE / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {
        "docs/course": "likely/classroom/course/chapters",
        "examples": "likely/classroom/course/examples",
    }


def test_the_course_as_a_folder(tmp_path: Path) -> None:
    pages = copy_course(tmp_path / "course")
    assert sorted(pages) == list(range(1, 16)) and all(page.exists() for page in pages.values())
    assert len(list((tmp_path / "course").glob("*.ipynb"))) == 15
    assert (tmp_path / "course" / "examples" / "weather.csv").exists()


# Answers agree with what the library makes of the tables and with arithmetic done here by hand; mistakes are named.


def normal(x: float, values: list[float]) -> float:
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def share(a: float, b: float) -> float:
    return a / (a + b)


WARM = {"no": [85, 80, 65, 72, 71], "yes": [83, 70, 68, 64, 69, 75, 75, 72, 81]}
DAMP = {"no": [85, 90, 70, 95, 91], "yes": [86, 96, 80, 65, 70, 80, 70, 90, 75]}
MIXED = {
    "yes": 9 / 14 * 3 / 9 * 3 / 9 * normal(70, WARM["yes"]) * normal(95, DAMP["yes"]),
    "no": 5 / 14 * 2 / 5 * 3 / 5 * normal(70, WARM["no"]) * normal(95, DAMP["no"]),
}
BY_HAND = {
    "1.1": F(3, 5),
    "1.2": F(7 + 6 - 3, 14),
    "1.3": F(568 + 2060, 568 + 2060 + 6550 + 5174),
    "2.1": F(9, 1000) / (F(9, 1000) + F(99, 100) * F(5, 100)),
    "2.2": F(81, 10000) / (F(81, 10000) + F(99, 100) * F(25, 10000)),
    "2.3": F(99, 100) * F(5, 100) / F(9, 1000),
    "3.1": F(4, 5),
    "3.2": share(F(9, 14) * F(3 * 3 * 3 * 6, 9**4), F(5, 14) * F(2 * 1 * 4 * 2, 5**4)),
    "3.3": F(0 + 1, 5 + 3),
    "4.1": normal(70, WARM["no"]),
    "4.2": (math.erf(2 / math.sqrt(2)) + math.erf(1 / math.sqrt(2))) / 2,
    "4.3": share(MIXED["yes"], MIXED["no"]),
    "5.1": share(F(6 * 10 * 10, 20**3), F(12 * 4 * 4, 20**3)),
    "5.2": share(F(4, 6) * F(3, 6) * F(4, 6), F(2, 6) * F(2, 6) * F(4, 6)),
    "5.3": F(1, 4) * F(40, 100) + F(3, 4) * F(65, 100),
    "6.1": 3,
    "6.2": F(1, 9),
    "7.1": F(1 + 6, 14),
    "7.2": -(math.log2(0.8) + math.log2(0.5) + math.log2(0.1)) / 3,
    "7.3": F(1, 5),
    "8.1": math.log2(F(7, 11) / F(2, 7)),
    "8.2": F(5, 9) * (F(4, 8) / F(3, 12)) ** 3,
    "8.3": share(math.sqrt(0.9 * 0.6), math.sqrt(0.1 * 0.4)),
}


def iris(*columns: str) -> list[tuple[float, ...]]:
    import csv

    with open(CLONE / "examples" / "iris.csv", encoding="utf-8") as file:
        return [tuple(float(row[c]) for c in columns) for row in csv.DictReader(file)]


def line_at_four() -> float:
    rows = iris("petal_length", "petal_width")
    n, sx, sy = len(rows), sum(x for x, _ in rows), sum(y for _, y in rows)
    slope = (n * sum(x * y for x, y in rows) - sx * sy) / (n * sum(x * x for x, _ in rows) - sx * sx)
    return (sy - slope * sx) / n + slope * 4


EXERCISES = {name: found for chapter in CHAPTERS for name, found in chapter.exercises().items()}


@pytest.mark.parametrize("name", EXERCISES)
def test_answers_and_mistakes_come_from_the_tables(name: str) -> None:
    found = EXERCISES[name]
    stated = [float(F(value)) for value in (found.answer, *(value for value, _ in found.mistakes))]
    # Mistakes may be written with fewer digits than what is right.
    assert stated == pytest.approx([float(value) for value in WORKED[name]()], rel=2e-6)
    assert stated[0] == pytest.approx(float(WORKED[name]()[0]), rel=1e-7, abs=0)
    if name in BY_HAND or name == "6.3":
        assert stated[0] == pytest.approx(float({**BY_HAND, "6.3": line_at_four()}[name]), rel=1e-9)


@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_right_is_right_and_a_mistake_is_named(name: str) -> None:
    found = EXERCISES[name]
    verdict = check(name, found.answer)
    assert verdict.right and str(verdict).startswith(f"{name}: right. It is ")
    verdict = check(name, float(F(found.answer)) * 3 + 7)
    assert verdict.right is False and "Hint: " in str(verdict)
    for value, sentence in found.mistakes:
        verdict = check(name, value)
        assert verdict.right is False and sentence in str(verdict), "a mistake must differ from what is right"


def test_how_an_answer_may_be_written() -> None:
    assert all(check("1.1", given).right for given in ("3/5", "60 %", "0.6", 0.6, F(3, 5)))
    assert check("3.2", 0.635).right and check("3.2", "0.634").right
    assert "3 digits" in str(check("3.2", 0.63))
    # Three digits, the last two of them wrong: it was called close.
    assert "Hint: " in str(check("3.2", 0.643))
    assert check("6.1", 3.001).right is False
    assert check("1.1", ...).right is None
    with pytest.raises(LikelyError, match=r"no exercise '9\.9'"):
        check("9.9", 1)
    with pytest.raises(LikelyError, match="finite number"):
        check("1.1", "about half")


def test_the_confusion_matrix_of_chapter_7_is_printed_as_the_exercise_says(capfdbinary: Any) -> None:
    """It named a command that prints none."""
    assert run_command(["look", str(CLONE / "examples" / "weather.csv"), "play", "--learner", "NaiveBayes",
                        "--leave-one-out", "--no-page", "--all"]) == 0  # fmt: skip
    assert "True class (rows) against the class named" in capfdbinary.readouterr().out.decode()
    chapter = (CLONE / "docs" / "course" / "7-how-good.md").read_text(encoding="utf-8")
    assert "Run the last command with `--all` and read its confusion matrix." in chapter
