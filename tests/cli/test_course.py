"""likely course: the list, a page where there is no browser, answers, and a folder to work in."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No window opens while tests run, and pages go to a cache of their own; the addresses that were asked for."""
    asked: list[str] = []
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("LIKELY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) is None)
    return asked


def test_the_list(run) -> None:
    out = run("course").done().out
    assert "  3  Naive Bayes by counting (5 exercises)" in out and out.count(" exercises)") == 15


def test_without_a_browser_it_says_where_the_page_is(run, no_browser: list[str], monkeypatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    out = run("course", 3).done().out
    page = Path(out.removeprefix("Chapter 3 is in ").strip())
    assert page.is_absolute() and "P(no) = 0.7954, P(yes) = 0.2046: no" in page.read_text(encoding="utf-8")
    assert (page.parent / "4-densities.html").exists() and not no_browser


def test_with_a_browser_it_opens_the_page(run, no_browser: list[str], monkeypatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert "open in the browser" in run("course", 2).done().out
    assert no_browser[0].startswith("file://") and no_browser[0].endswith("/2-bayes-rule.html")
    assert "is in" in run("course", 2, "--no-browser").done().out and len(no_browser) == 1


def test_answers(run) -> None:
    out = run("course", 1, "--answer", "1.1=3/5", "--answer", "1.2 = 13/14", "--answer", "1.3=7").done().out
    first, second, third = out.splitlines()
    assert first == "1.1: right. It is 3/5." and "counted twice" in second and "Hint: the condition is" in third
    assert run("course", "--answer", "1.1=60 %").done().out == "1.1: right. It is 3/5.\n"


def test_what_cannot_be(run, tmp_path: Path) -> None:
    run("course", 16).refused("no chapter 16")
    run("course", 1, "--answer", "1.1").refused("equals sign")
    run("course", 1, "--answer", "1.7=1").refused("no exercise '1.7'")
    run("course", 1, "--answer", "1.1=").refused("finite number")
    run("course", 3, "--answer", "1.1=0.6").refused("chapter 1")
    run("course", 1, "--answer", "12.1=0.6").refused("chapter 12")
    (tmp_path / "cache").write_text("a file is in the way")
    run("course", 1).refused("--out")


def test_a_folder_to_work_in(run, tmp_path: Path) -> None:
    assert "15 chapters" in run("course", "-o", "here").done().out
    assert (tmp_path / "here" / "3-counting.ipynb").exists()
    assert (
        "0.6"
        in run("joint", "here/examples/weather.csv", "outlook", "play", "--query", "P(play=yes | outlook=rainy)")
        .done()
        .out
    )


@pytest.mark.parametrize("name", ["3-counting.ipynb", "examples/weather.csv", "4-densities.html"])
def test_what_somebody_changed_is_kept(run, tmp_path: Path, name: str) -> None:
    run("course", "-o", "here").done()
    run("course", "-o", "here").done()  # all as it was written
    path = tmp_path / "here" / name
    original = path.read_bytes()
    path.write_bytes(original + b"my own work\n")
    (tmp_path / "here" / "2-bayes-rule.html").unlink()
    run("course", "-o", "here").refused(path.name, "--force")
    assert path.read_bytes() == original + b"my own work\n"
    assert not (tmp_path / "here" / "2-bayes-rule.html").exists()  # nothing is written by halves
    run("course", "-o", "here", "--force").done()
    assert path.read_bytes() == original
