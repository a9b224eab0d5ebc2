"""The chapters are all there, hold what they should, and become pages that open without a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from likely.classroom.course import chapters
from likely.classroom.course.answers import ANSWERS
from likely.classroom.course.chapters import CLONE, Chapter, copy_course, find_chapter, page_of, read_chapters, to_html
from likely.errors import LikelyError

CHAPTERS = read_chapters()


def name_of(chapter: Chapter) -> str:
    return chapter.name


def test_there_are_eight_chapters_in_order() -> None:
    assert [c.number for c in CHAPTERS] == list(range(1, 9))
    assert CHAPTERS[2].title == "Naive Bayes by counting"
    with pytest.raises(LikelyError, match="no chapter 9"):
        find_chapter(9)


def test_every_exercise_can_be_checked_and_has_a_hint() -> None:
    asked = [name for chapter in CHAPTERS for name in chapter.exercises()]
    assert asked == sorted(ANSWERS)
    for chapter in CHAPTERS:
        own = chapter.exercises()
        assert len(own) == chapter.text.count("**Exercise ") >= 3
        assert all(name[0] == str(chapter.number) and hint for name, hint in own.items())


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
    assert sorted(pages) == list(range(1, 9)) and all(page.exists() for page in pages.values())
    assert len(list((tmp_path / "course").glob("*.ipynb"))) == 8
    assert (tmp_path / "course" / "examples" / "weather.csv").exists()
