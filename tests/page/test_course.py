"""Exercises on the page of a chapter: what it says of an answer is what `check` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely.classroom.course import check
from likely.classroom.course.chapters import copy_course

GIVEN = {
    "3.2": ("125/197", " 0.635 ", "63.5 %", "0.63", "0.643", "1/63", "0.016", "7", "6.3e-1", "-1"),
    "3.3": ("1/8", "1/6", "12.5%", "0.12"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    return copy_course(tmp_path_factory.mktemp("course"))


def ask(watched: Any, exercise: str, answer: str) -> str:
    form = watched.tab.locator(f"form.answer:has(input[aria-label='Answer to {exercise}'])")
    form.locator("input").fill(answer)
    form.locator("button").click()
    return str(form.locator("output").inner_text())


def test_a_page_says_what_the_terminal_says(watched: Any, pages: dict[int, Path]) -> None:
    watched.tab.goto(pages[3].as_uri())
    for exercise, answers in GIVEN.items():
        for answer in answers:
            assert f"{exercise}: {ask(watched, exercise, answer)}" == str(check(exercise, answer)), answer
    assert "Write a number" in ask(watched, "3.2", "about half")
    assert watched.tab.locator("form.answer").count() == 5
    watched.is_quiet()


@pytest.mark.parametrize(
    "exercise, right, near", [("6.1", "3", "3.001"), ("10.1", "−6", "-6.2"), ("10.3", "1/86", "0")]
)
def test_counts_negative_numbers_and_zero(
    watched: Any, pages: dict[int, Path], exercise: str, right: str, near: str
) -> None:
    watched.tab.goto(pages[int(exercise.partition(".")[0])].as_uri())
    assert (
        f"{exercise}: {ask(watched, exercise, right)}" == str(check(exercise, right)) and check(exercise, right).right
    )
    assert f"{exercise}: {ask(watched, exercise, near)}" == str(check(exercise, near))
    watched.is_quiet()
