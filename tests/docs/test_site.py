"""The site is built strictly, shows what its pages compute, and opens without a network."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWS = {
    "course/3-counting.html": "L(yes) = 9/14 × 2/9 × 3/9 × 3/9 × 3/9 = 1/189 = 0.005291",
    "figures/a-people.html": "Every product is 0: the row cannot be classified.",
    "figures/b-weather.html": "P(no) = 0.7954, P(yes) = 0.2046: no",
    "figures/c-weather-mixed.html": "P(no) = 0.7921, P(yes) = 0.2079: no",
    "figures/d-iris.html": "full: densities 4.914e-07 and 2.589e-05, so c2",
    "figures/e-bayes.html": "{'say none': 0.0784, 'say cancer': 0.02976} so say cancer",
    "figures/f-spam.html": "multinomial: <Posterior: 'ham' 0.7619, 'spam' 0.2381>",
    "figures/g-four-days.html": "{'no': -1.732, 'yes': -1.319} in powers of ten",
    "figures/h-densities.html": "log P(data) = ",
    "figures/i-others.html": "y = 1.0571 + 1.9771 x",
    "howto/exporting.html": 'AS "p(yes)"',
    "start.html": "stay in {'go out': 1.768, 'stay in': 0.411}",
    "how-it-works.html": "exact: [3.]",
    "limits.html": "the sum is still exact: True",
    "examples.html": "A stream whose meaning changes",
    "cli.html": "likely window",
    "reference/verbs.html": ">>> ",
    "reference/learners.html": "Added to the count of every level in every class",
    "reference/things.html": "The last rows of a stream as a model",
    "reference/probability.html": "likely.classroom.bayes",
    "reference/sklearn.html": "NaiveBayesClassifier",
    "benchmarks/core.html": "Benchmarks of the core",
    "benchmarks.html": "LightGBM, tempered",
    "tutorial.html": "True",
    "gallery.html": "Open penguins-sex.html",
    "index.html": "explains every answer as a sum of evidence",
    "decisions/index.html": "0087",
}

pytestmark = pytest.mark.long  # links, programs and generated parts of documents are tested without building them


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if any(find_spec(name) is None for name in ("mkdocs", "mkdocstrings", "material")):
        pytest.skip("needs mkdocs, mkdocs-material and mkdocstrings-python (the extra `docs`)")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def test_pages_show_what_they_compute(site: Path) -> None:
    for page, words in SHOWS.items():
        assert words in text_of(site / page), page


def test_every_command_and_public_name_has_its_place(site: Path) -> None:
    import likely

    commands = text_of(site / "cli.html")
    named = subprocess.run(
        [sys.executable, "-m", "likely", "--help"], capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  ([a-z]+)  ", named, re.MULTILINE)
    assert len(listed) > 20 and not [name for name in listed if f"likely {name}" not in commands]
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    headed = set(re.findall(r'<h2 id="likely\.[\w.]*?(\w+)" class="doc', pages))
    assert set(likely.__all__) <= headed


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    asked = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["']?(?:https?:)?//""")
    assert not [page.name for page in site.rglob("*.html") if asked.search(page.read_text(encoding="utf-8"))]


def test_search_and_pages_work_from_a_folder(site: Path, browser: Any) -> None:
    tab = browser.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((site / "index.html").as_uri())
    tab.fill("input[name=query]", "temperature")
    tab.wait_for_selector(".md-search-result__item", timeout=20_000)
    for page in (site / "gallery").glob("*.html"):
        tab.goto(page.as_uri())
        assert tab.locator("h1, h2").count()
    tab.close()
    assert asked and all(url.startswith(("file:", "blob:", "data:")) for url in asked)


def test_every_page_of_the_gallery_is_there(site: Path) -> None:
    linked = set(re.findall(r'href="gallery/([\w-]+\.html)"', (site / "gallery.html").read_text(encoding="utf-8")))
    assert len(linked) >= 5 and linked == {page.name for page in (site / "gallery").glob("*.html")}


def test_learners_have_tables_of_parameters_with_meanings(site: Path) -> None:
    page = (site / "reference" / "learners.html").read_text(encoding="utf-8")
    assert "setting(" not in page
    assert page.count("<th>parameter</th>") >= 12


def test_the_map_for_language_models_leads_to_pages(site: Path) -> None:
    paths = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(paths) > 20 and not [path for path in paths if not (site / path).is_file()]


def test_decisions_are_found_from_one_page_alone(site: Path) -> None:
    assert not re.search(r'href="decisions/0', (site / "start.html").read_text(encoding="utf-8"))
    assert re.search(r'href="0001-', (site / "decisions" / "index.html").read_text(encoding="utf-8"))


def test_the_worked_examples_are_all_there() -> None:
    pages = {path.name[0] for path in (ROOT / "docs" / "figures").glob("?-*.md")}
    assert pages == {path.name[5] for path in (ROOT / "tests" / "figures").glob("test_?_*.py")}
