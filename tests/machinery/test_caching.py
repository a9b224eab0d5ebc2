"""What is kept between processes: found again, whole or not at all, and only from whom it may be trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import likely
from likely.machinery.caching import folders, keep, kept
from likely.present.page import writing


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LIKELY_CACHE", str(tmp_path / "held"))
    return tmp_path / "held"


def test_what_is_kept_is_found_whole_or_not_at_all(cache: Path) -> None:
    assert kept("one") is None
    keep("one", b"some code")
    assert kept("one") == b"some code" and [p.name for p in cache.iterdir()] == ["one"]
    (cache / "one").write_bytes((cache / "one").read_bytes()[:-1])
    assert kept("one") is None


def test_what_others_may_have_written_is_not_trusted(cache: Path) -> None:
    keep("one", b"some code")
    (cache / "one").chmod(0o666)
    assert kept("one") is None


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(cache: Path) -> None:
    cache.write_text("a file, where a folder should be")
    keep("one", b"some code")
    assert kept("one") is None


def test_without_a_wish_it_is_beside_the_package_or_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIKELY_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.sep + "somewhere")
    beside, own = folders()
    assert beside == Path(likely.__file__).parent / "__pycache__" and own == Path(os.sep, "somewhere", "likely")


def test_the_template_is_compiled_once(cache: Path, examples: Path) -> None:
    record = likely.look(examples / "weather.csv", "play", picture=True)
    writing._template.cache_clear()
    first = writing.page(record)
    (whole, *_), held = sorted(cache.glob("*.template")), {p: p.read_bytes() for p in cache.glob("*.template")}
    assert whole.stat().st_size > 1000
    import jinja2

    def refused(*_: object) -> None:
        raise AssertionError("the template was compiled again")

    writing._template.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2.Environment, "compile", refused)
        assert writing.page(record) == first
    for path in held:
        path.write_bytes(b"broken")
    writing._template.cache_clear()
    assert writing.page(record) == first
    assert {p: p.read_bytes() for p in held} == held
    writing._template.cache_clear()
