"""The app as people use it, in a real browser: from a file to a page, costs, a model, predictions, and to its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
from page.conftest import Watched

import likely

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install likely[web]")
EXAMPLES = Path(__file__).parents[2] / "examples"
WEATHER = EXAMPLES / "weather_mixed.csv"
LONG = 60_000
"""Milliseconds: a kernel may have to be compiled first."""
EVIL = "<img src=x onerror=window.bad=1>"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as a process, with a folder for temporary files of its own."""
    folder = tmp_path_factory.mktemp("temporary")
    started = subprocess.Popen(
        [sys.executable, "-m", "likely", "app", "--no-open"],
        stdout=subprocess.PIPE, cwd=EXAMPLES, env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert started.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", started.stdout.readline().decode())
    assert found
    yield found[0]
    assert [name[:11] for name in os.listdir(folder)] == ["likely-app-"]
    started.send_signal(signal.SIGINT)
    assert started.wait(30) == 0
    assert not os.listdir(folder)  # tables, models and pages are gone


@pytest.fixture
def app(browser: Any, address: str) -> Iterator[Watched]:
    """A tab with the app, which must be quiet and ask nobody else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    watched = Watched(context.new_page())
    watched.tab.set_default_timeout(LONG)
    watched.tab.goto(address + "#open")
    yield watched
    assert not watched.complaints, watched.complaints
    assert all(url.startswith(address) or url.startswith("data:") for url in watched.requests), watched.requests
    context.close()


def fits(tab: Any) -> bool:
    return bool(tab.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def learn(tab: Any) -> Any:
    """Learn, and wait for the page."""
    tab.click("#learn")
    tab.wait_for_selector("iframe")
    frame = tab.frame_locator("iframe")
    frame.locator("h1").wait_for()
    return frame


def download(tab: Any, words: str, folder: Path) -> Path:
    with tab.expect_download() as held:
        tab.click(f"text={words}")
    path = folder / held.value.suggested_filename
    held.value.save_as(path)
    return path


def test_from_a_file_to_a_page_costs_a_model_and_predictions(app: Watched, tmp_path: Path) -> None:
    tab = app.tab
    tab.set_input_files("#open-file", WEATHER)
    tab.wait_for_selector("tr[data-column=play]")
    assert tab.locator("tr.target").count() == 0 and tab.locator("#learn").is_disabled()
    assert tab.locator("tr[data-column=temperature] select option:checked").inner_text() == "automatic: number"
    assert tab.locator("tr[data-column=outlook] .examples").inner_text() == "sunny · overcast · rainy"

    tab.select_option("tr[data-column=temperature] select", "nominal")
    tab.wait_for_selector("tr[data-column=temperature]:has-text('as asked')")
    tab.select_option("tr[data-column=windy] select", "ignore")
    tab.wait_for_selector("tr[data-column=windy].out:has-text('as asked')")
    tab.select_option("#learner", "NaiveBayes")
    tab.select_option("#target", "play")
    frame = learn(tab)
    types = {"temperature": "nominal", "windy": "ignore"}
    assert "play in weather_mixed.csv" in frame.locator("main").inner_text()
    frame.locator("#whatif .w-field select").first.select_option(index=1)  # the page plays, in its sandbox too

    tab.click(".steps >> text=Costs")
    tab.fill("#cost-0-1", "5")
    tab.click("#costs-apply")
    tab.wait_for_selector("#decided")
    loss = likely.Loss({"no": {"no": 0.0, "yes": 5.0}, "yes": {"no": 1.0, "yes": 0.0}})
    record = likely.look(WEATHER, "play", "NaiveBayes", loss=loss, types=types)
    assert record.decisions is not None
    assert float(tab.locator(".facts dd").first.inner_text()) == pytest.approx(record.decisions.mean, abs=5e-4)

    tab.click(".steps >> text=Download")
    model = likely.load(download(tab, "Model (.likely)", tmp_path))
    own = likely.fit(WEATHER, "play", "NaiveBayes", loss=loss, types=types)
    assert model.to_bytes() == own.to_bytes()
    assert "play in weather_mixed.csv" in download(tab, "Page (.html)", tmp_path).read_text("utf-8")
    tab.set_input_files("#predict-file", WEATHER)
    tab.wait_for_selector("text=Download predictions.csv")
    table = pyarrow.csv.read_csv(download(tab, "Download predictions.csv", tmp_path))
    answers = own.posterior(WEATHER)
    assert table["prediction"].to_pylist() == answers.best
    assert table["p(yes)"].to_pylist() == answers.matrix[:, 1].tolist()
    tab.click("#export-sql")
    tab.wait_for_selector("text=Download model.sql")
    assert download(tab, "Download model.sql", tmp_path).read_bytes().decode() == likely.export(own, "sql")
    assert tab.inner_text("pre") == (
        "likely look weather_mixed.csv play --type temperature=nominal --type windy=ignore --loss costs.toml"
    )


def test_a_path_missing_values_comparing_and_cancelling(app: Watched) -> None:
    tab = app.tab
    tab.focus("#open-path")
    tab.keyboard.type("iris.csv")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("tr[data-column=species]")
    tab.click("text=Missing values")
    tab.fill("#missing", "0.2\nNA")
    tab.click("#missing-apply")
    few = (EXAMPLES / "iris.csv").read_text().count(",0.2,")
    tab.wait_for_selector(f"tr[data-column=petal_width]:has-text('{few / 1.5:.1f} %')")

    tab.select_option("#target", "petal_length")
    assert tab.locator("#bins").is_visible()  # a number of many values
    tab.select_option("#target", "species")
    assert not tab.locator("#bins").is_visible()

    tab.click(".steps >> text=Compare")
    tab.click("#compare")
    tab.click("#cancel")
    tab.wait_for_selector("#compare:enabled")
    assert tab.locator("text=Use it").count() == 0
    tab.click(".steps >> text=Columns")
    tab.select_option("#learner", "LinearDiscriminant")
    learn(tab)
    assert "Linear" in tab.frame_locator("iframe").locator("main").inner_text()


def test_a_sample_and_the_sheets_of_a_workbook(app: Watched, tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    tab = app.tab
    assert "Excel" in tab.inner_text(".drop")
    tab.click("#sample")
    tab.wait_for_selector("tr[data-column=species]")
    assert not tab.locator("#sheet").count()
    names = tab.locator("#learner option").all_inner_texts()
    assert len({*names}) == len(names) and "Auto" not in names
    tab.click("#open-another")
    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        for name, cells in (("Cover", ["title"]), ("Data", ["x", "y"])):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, cells)
            for k in range(40):
                sheet.write_row(k + 1, 0, [f"{cell} {k % 2}" for cell in cells])
    tab.set_input_files("#open-file", tmp_path / "two.xlsx")
    tab.wait_for_selector("tr[data-column=title]")
    tab.select_option("#sheet", "Data")
    tab.wait_for_selector("tr[data-column=y]")
    tab.select_option("#target", "y")
    tab.select_option("#learner", "NaiveBayes")
    tab.fill("#settings", "pseudo_count=0.5")
    tab.locator("#settings").blur()
    learn(tab)
    tab.click(".steps >> text=Download")
    text = tab.inner_text("pre")
    assert "--sheet Data" in text and "pseudo_count=0.5" in text


def test_a_title_above_the_names_of_columns(app: Watched, tmp_path: Path) -> None:
    """Also where the table cannot be read with it: one says in which row the names are."""
    tab, rows = app.tab, "".join(f"{'sun' if k % 2 else 'rain'},{k % 5},{'yn'[k % 2]}\n" for k in range(60))
    for title in ("Survey of 2009,,", "Survey of 2009"):
        (tmp_path / "titled.csv").write_text(f"{title}\nsky,wind,play\n{rows}")
        tab.set_input_files("#open-file", tmp_path / "titled.csv")
        tab.wait_for_selector("#header-row")
        tab.fill("#header-row", "2")
        tab.locator("#header-row").blur()
        tab.wait_for_selector("tr[data-column=play]")
        tab.click("#open-another")


def test_names_from_data_are_shown_as_they_are(app: Watched, tmp_path: Path) -> None:
    tab = app.tab
    path = tmp_path / "evil.csv"
    rows = "".join(f'{k % 3},"{EVIL}{k % 2}",{"yes" if k % 3 else "<b>no</b>"}\n' for k in range(60))
    path.write_text(f'"{EVIL}","</script><script>window.bad=2</script>","{EVIL} y"\n{rows}')
    tab.set_input_files("#open-file", path)
    tab.wait_for_selector(".columns-table")
    assert tab.locator("tbody th").first.inner_text() == EVIL
    assert tab.locator(".examples").nth(1).inner_text() == f"{EVIL}0 · {EVIL}1"
    tab.select_option("#target", f"{EVIL} y")
    tab.select_option("#learner", "NaiveBayes")
    learn(tab)
    for view in ("Costs", "Download", "Columns"):
        tab.click(f".steps >> text={view}")
        assert tab.locator("main").inner_text()
    assert tab.evaluate("window.bad === undefined") and tab.locator("main img, main b").count() == 0


def test_what_fails_is_a_sentence_and_tables_are_kept_apart(app: Watched) -> None:
    tab = app.tab
    for name in ("weather.csv", "iris.csv"):
        tab.click("#open-another") if tab.locator("#open-another").is_visible() else None
        tab.fill("#open-path", name)
        tab.keyboard.press("Enter")
        tab.wait_for_selector(f"h1:has-text('{name}')")
        tab.wait_for_selector(".columns-table")
    tab.select_option("tr[data-column=species] select", "number")
    tab.wait_for_selector(".problem:has-text('species')")
    assert tab.locator("tr[data-column=species] select option:checked").inner_text() == "automatic: nominal"
    tab.click("nav.tables >> text=weather.csv >> nth=-1")
    tab.wait_for_selector("tr[data-column=play]")
    assert not tab.locator(".problem").count()
    tab.reload()
    tab.wait_for_selector("tr[data-column=play]")  # where one was, one is again
    before = tab.locator("nav.tables li").count()
    tab.click("nav.tables li.here .close")
    tab.wait_for_selector(f"nav.tables ul:not(:has(li:nth-child({before})))")
    tab.click("#open-another")
    tab.fill("#open-path", "nothing.csv")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".problem:has-text('nothing.csv')")


def test_work_that_ends_before_its_order_is_answered_is_shown_all_the_same(app: Watched) -> None:
    """As on a busy machine: the answer to the order already says how it ended."""
    tab = app.tab

    def answer_late(route: Any) -> None:
        route.fetch()
        there = re.sub(r"/(read|learn)$", "?known=-1", route.request.url)
        answer = route.fetch(url=there, method="GET")
        while answer.json()["job"]["state"] in ("waiting", "running"):
            answer = route.fetch(url=there, method="GET")
        route.fulfill(response=answer)

    tab.fill("#open-path", "iris.csv")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("tr[data-column=species]")
    tab.route(re.compile(r"/tables/\d+/(read|learn)$"), answer_late)
    tab.select_option("tr[data-column=species] select", "number")
    tab.wait_for_selector(".problem:has-text('species')")
    assert tab.locator("tr[data-column=species] select option:checked").inner_text() == "automatic: nominal"
    tab.select_option("#target", "species")
    tab.select_option("#learner", "NaiveBayes")
    learn(tab)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_is_used_by_key(browser: Any, address: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    tab = context.new_page()
    tab.set_default_timeout(LONG)
    tab.goto(address + "#open")
    tab.wait_for_selector(".drop")
    assert fits(tab)
    tab.fill("#open-path", "weather_mixed.csv")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".columns-table")
    assert fits(tab)
    tab.select_option("#target", "play")
    tab.select_option("#learner", "NaiveBayes")
    tab.focus("#learn")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("iframe")
    for view in ("Page", "Compare", "Costs", "Download"):
        tab.focus(f".steps >> text={view}")
        tab.keyboard.press("Enter")
        tab.wait_for_selector(f".steps [aria-current]:has-text('{view}')")
        assert fits(tab), view
    context.close()
