"""What every test may ask for: the example tables, the larger tables where they are at hand, and how hypothesis runs.

Must not import likely, so that a broken package fails in the tests that need it and not in collecting the others.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example of a property may compile a kernel. Examples are derived from the test itself, so that
# a clone that passes here passes everywhere; what random examples found is kept as an @example. LIKELY_RANDOM=1 tries
# others.
settings.register_profile("suite", deadline=None, print_blob=True, derandomize=True, database=None, max_examples=40)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("random" if os.environ.get("LIKELY_RANDOM") else "suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays to the end: who looks for garbage, as some tests do, need not walk it each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """Examples in docstrings are looked for in modules, not among tests: that takes longer than to collect these."""
    found = yield
    return [one for one in found if not (isinstance(one, DoctestModule) and file_path.name.startswith("test_"))]


TOGETHER = (
    r"(tests/spark)/",  # starting Spark takes longer than most of its tests
    r"(tests/page/\w+)\.py",  # they share pages, which take longer to make than to look at
    r"(tests/plugins/test_reading_option)\.py",  # a copy of the house
    r"(tests/docs/test_(?:site|types))\.py",  # a site, and what type checkers say of all programs
    r"(tests/web/test_app(?:_browser)?)\.py",  # a running app
    r"(tests/truth/test_models)\.py::\w+(\[.*\])",  # a model of each table
)
"""Tests that one worker runs, because they share what is dear: those of which such a pattern finds the same groups."""


def group_of(test: str) -> str:
    """The name of the tests that are run together with this one; its own, for most."""
    found = (re.match(pattern, test) for pattern in TOGETHER)
    return next(("".join(one.groups()) for one in found if one), test)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Large groups first, then test by test. (xdist's own groups have no effect with pytest 9.2: it renames tests.)"""
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return Grouped(config, log)


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by playwright, started once for all tests; skipped by name without one."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install likely[test]")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the small tables that come with the project."""
    return ROOT / "examples"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the clone, which holds larger tables; a test that needs it is skipped without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder `shared` beside the clone, and there is none")
    return folder
