"""The what-if of the page in a real browser: every control is operated, and what it shows is what Python says."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched

import likely
from likely import Model, ask
from likely.models.naive.product import tempered
from likely.present.page.writing import page_of_model

EXAMPLES = Path(__file__).parents[2] / "examples"
UGLY = {
    "<script>alert(1)</script>": ["</script><b>", "a'b", 'c"d', "a'b"] * 10,
    '"><img src=x onerror=alert(2)>': [1.5, 2.5, -3.0, 1e6] * 10,
    "-x=y $(touch no)": ["u", "v", "w\nz", "ü [red]"] * 10,
    "when": ["2020-01-01", "2020-03-01", "2021-01-01", None] * 10,
    "t'ar=get": ["<i>yes</i>", "no & no", "<i>yes</i>", "don't"] * 10,
}


def opened(watched: Watched, tmp_path: Path, model: Model, hash: str = "") -> Any:
    """The page of a model, opened from disk, once it has said all."""
    path = tmp_path / "page.html"
    path.write_text(page_of_model(model, data="data.csv"), encoding="utf-8")
    watched.tab.goto("about:blank")
    watched.tab.goto(f"{path.as_uri()}{hash}")
    settled(watched.tab)
    return watched.tab


def part(tab: Any) -> Any:
    """The what-if; the rest of the page has names of attributes, too."""
    return tab.locator("#whatif")


def settled(tab: Any) -> None:
    """Wait until also what takes longer was reckoned after the last change."""
    tab.locator("#w[data-done]").wait_for(state="attached")
    tab.evaluate("globalThis.likelyWhatIf.later()")
    tab.locator("#w:not([data-busy])").wait_for(state="attached")


def chances(tab: Any) -> dict[str, float]:
    rows = tab.locator("#w-bars tr[data-class]")
    return {r.get_attribute("data-class"): float(r.get_attribute("data-p")) for r in rows.all()}


def same(tab: Any, model: Model, row: dict[str, Any]) -> None:
    """Probabilities and ledger are those of Python."""
    wanted = dict(zip(model.classes, model.posterior(row).matrix[0].tolist(), strict=True))
    assert chances(tab) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    # Of two classes the page always speaks for the second, of more for the most probable one.
    two = {"of": model.classes[1]} if len(model.classes) == 2 else {}
    ledger = likely.explain(model, row, **two)  # type: ignore[arg-type]
    nats = {
        r.get_attribute("data-name"): r.get_attribute("data-nats")
        for r in tab.locator("#w-ledger tr:not(.w-word)").all()
    }
    for entry in ledger.entries:
        if entry.log_ratio:
            assert float(nats[entry.name].replace("Infinity", "inf")) == pytest.approx(entry.log_ratio, abs=1e-11)


def same_chances(tab: Any, model: Model) -> None:
    """The classes that are shown are as probable as Python says."""
    found = model.posterior(row_in(tab))
    for name, p in chances(tab).items():
        assert p == pytest.approx(found.prob(name), rel=1e-10, abs=1e-12)


def row_in(tab: Any) -> dict[str, str]:
    return dict(tab.evaluate("[...globalThis.likelyWhatIf.state.values].filter(([, v]) => v !== null)"))


@pytest.fixture(scope="module")
def weather() -> Model:
    return likely.fit(EXAMPLES / "weather_mixed.csv", target="play")


def test_a_tempered_model_asks_and_draws_as_the_plain_one(watched: Watched, tmp_path: Path) -> None:
    plain = likely.fit(EXAMPLES / "weather_mixed.csv", "play", likely.NaiveBayes())
    model = tempered(plain, 0.3)
    tab = opened(watched, tmp_path, model)
    assert tab.locator("#whatif .w-response").count() == 4  # how the answer moves with each attribute
    part(tab).get_by_label("Start from").select_option("everything unknown")
    settled(tab)
    same(tab, model, {})
    found = [q for q in ask(model, {}).questions if q.drop > 1e-12]
    names = [li.get_attribute("data-name") for li in tab.locator("#w-questions li").all()]
    drops = [float(li.get_attribute("data-drop")) for li in tab.locator("#w-questions li").all()]
    assert names == [q.attribute for q in found] and drops == pytest.approx([q.drop for q in found], abs=1e-7)
    assert tab.locator("svg.graph").count() == 1


def test_equally_probable_classes_are_named(watched: Watched, tmp_path: Path) -> None:
    table = {"a": ["u", "v", "v", "u"], "k": ["p", "p", "p", "q"]}
    model = likely.fit(table, "k", likely.NaiveBayes(pseudo_count=0))
    tab = opened(watched, tmp_path, model)
    part(tab).get_by_label("a", exact=True).select_option("u")
    settled(tab)
    assert chances(tab) == {"p": 0.5, "q": 0.5}
    assert tab.locator("#w-tie").inner_text() == "p and q are equally probable; p comes first."
    assert tab.locator("#w-action").inner_text() == "p"
    part(tab).get_by_label("a", exact=True).select_option("v")
    settled(tab)
    assert tab.locator("#w-tie").is_hidden()


def test_lines_of_a_pool_are_those_of_explain(watched: Watched, tmp_path: Path) -> None:
    members = (likely.NaiveBayes(), likely.Logistic(numbers="binned"), likely.Additive(order=2))
    joint = likely.FullBayes(shrinkage="auto")
    for learner in (
        likely.Pool(members, weights=(0.25, 0.5, 0.4)),
        likely.Pool((joint, members[0]), weights=(0.75, 0.125)),
        likely.Pool((joint,), weights=(0.75,)),
    ):
        model = likely.fit(EXAMPLES / "iris.csv", "species", learner)
        tab = opened(watched, tmp_path, model)
        assert tab.locator("#w-note").inner_text() == ""
        for row in (row_in(tab), {"petal_width": "1.55", "sepal_width": "2.8"}, {"petal_length": "4.9"}):
            tab = opened(watched, tmp_path, model, "#" + "&".join(f".{k}={v}" for k, v in row.items()))
            same(tab, model, row)
            lines = [float(r.get_attribute("data-nats")) for r in tab.locator("#w-ledger tr:not(.w-total)").all()]
            together = tab.locator("#w-ledger .w-total").get_attribute("data-nats")
            assert math.fsum(lines) == pytest.approx(float(together), abs=1e-9)
        part(tab).locator("summary", has_text="Share").click()
        tab.wait_for_function("document.querySelector('#w-cli').value !== ''")
        said = shlex.split(tab.locator("#w-cli").input_value().splitlines()[0])
        said[2] = str(EXAMPLES / "iris.csv")
        subprocess.run([sys.executable, "-m", *said], cwd=tmp_path, capture_output=True, text=True, check=True)
        again = likely.load(tmp_path / "model.likely")
        assert again.posterior(row).matrix.tolist() == model.posterior(row).matrix.tolist()
    watched.is_quiet()


def test_every_control_of_the_weather(watched: Watched, tmp_path: Path, weather: Model) -> None:
    tab = opened(watched, tmp_path, weather)
    same(tab, weather, row_in(tab))  # a typical row of the first class
    part(tab).get_by_label("Start from").select_option("everything unknown")
    settled(tab)
    same(tab, weather, {})
    found = [q for q in ask(weather, {}).questions if q.drop > 1e-12]
    asked = [
        (li.get_attribute("data-name"), float(li.get_attribute("data-drop")))
        for li in tab.locator("#w-questions li").all()
    ]
    assert [name for name, _ in asked] == [q.attribute for q in found]
    assert [drop for _, drop in asked] == pytest.approx([q.drop for q in found], abs=1e-7)

    part(tab).get_by_label("outlook", exact=True).select_option("sunny")
    part(tab).get_by_label("humidity", exact=True).fill("90.5")
    same(tab, weather, {"outlook": "sunny", "humidity": 90.5})
    slider = part(tab).get_by_label("temperature, from")
    slider.focus()
    slider.press("ArrowRight")
    row = row_in(tab)
    assert row.keys() == {"outlook", "humidity", "temperature"}
    same(tab, weather, row)
    tab.locator(".w-field", has_text="temperature").get_by_label("unknown").check()
    part(tab).get_by_label("humidity", exact=True).fill("much")
    assert part(tab).get_by_label("humidity", exact=True).get_attribute("aria-invalid") == "true"
    assert "no number" in tab.locator(".w-field", has_text="humidity").inner_text()
    same(tab, weather, {"outlook": "sunny"})
    part(tab).get_by_label("outlook", exact=True).select_option("(another level)")
    same(tab, weather, {"outlook": "(another level)"})
    assert tab.locator("#w-start").input_value() == "own"
    part(tab).get_by_role("button", name="start again").click()
    assert row_in(tab) == {} and tab.locator("#w-start").input_value() == ""
    part(tab).get_by_label("Start from").select_option("a typical row of yes")
    same(tab, weather, row_in(tab))
    assert len(row_in(tab)) == 4
    part(tab).get_by_label("Evidence for").select_option("yes")
    part(tab).get_by_label("against").select_option("no")
    assert "Bits for yes" in tab.locator("#w-ledger-of").inner_text()
    watched.is_quiet()


def test_the_decision_follows_the_costs(watched: Watched, tmp_path: Path, weather: Model) -> None:
    tab = opened(watched, tmp_path, weather, "#.outlook=sunny&.windy=true")
    same(tab, weather, {"outlook": "sunny", "windy": "true"})
    row = {"outlook": "sunny", "windy": True}
    assert tab.locator("#w-action").inner_text() == likely.decide(weather, row).action
    part(tab).locator("summary", has_text="cost").click()
    part(tab).get_by_label("cost of no where it is yes").fill("9")
    costs = {"no": {"no": 0, "yes": 1}, "yes": {"no": 9, "yes": 0}}
    wanted = likely.decide(weather, row, costs)
    assert tab.locator("#w-action").inner_text() == wanted.action
    assert float(tab.locator("#w-action").get_attribute("data-expected")) == pytest.approx(
        wanted.expected_loss(), rel=1e-12
    )
    part(tab).get_by_label("may also say").check()
    part(tab).get_by_label("at a cost of").fill("0.05")
    wanted = likely.decide(weather, row, likely.Loss(costs, abstain=0.05))
    assert tab.locator("#w-action").inner_text() == wanted.action == "don't know"
    # The link brings back everything, costs too.
    link = tab.evaluate("location.href")
    tab.goto("about:blank")
    tab.goto(link)
    settled(tab)
    assert tab.locator("#w-action").inner_text() == "don't know"
    assert part(tab).get_by_label("cost of no where it is yes").input_value() == "9"
    same(tab, weather, {"outlook": "sunny", "windy": "true"})
    watched.is_quiet()


def test_what_alone_would_change_the_decision(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(EXAMPLES / "iris.csv", "species", likely.NaiveBayes())
    row = {"petal_length": "4.5", "petal_width": "1.5", "sepal_length": "6", "sepal_width": "3"}
    tab = opened(watched, tmp_path, model, "#" + "&".join(f".{k}={v}" for k, v in row.items()))
    found = {li.get_attribute("data-name"): li.get_attribute("data-after") for li in tab.locator("#w-changes li").all()}
    wanted = {a.name: a.nearest for a in likely.counterfactual(model, row).alone}
    assert found.keys() == wanted.keys() and found
    now = likely.decide(model, row).action
    for name, value in found.items():
        assert likely.decide(model, {**row, name: value}).action != now
        assert abs(float(value) - wanted[name]) <= 0.05 * abs(wanted[name] - float(row[name])) + 1e-9
    tab.locator("#w-changes button").first.click()
    assert tab.locator("#w-action").inner_text() != now
    tab.locator("#w-nomogram summary").click()
    settled(tab)
    assert tab.locator(".w-nomogram").get_attribute("role") == "img"
    assert tab.locator(".w-nomogram circle").count() == 6  # four values, their total, its probability
    watched.is_quiet()


def test_ugly_names_are_text_and_nothing_else(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(UGLY, "t'ar=get", likely.NaiveBayes(), types={"when": "date"})
    tab = opened(watched, tmp_path, model)
    same(tab, model, row_in(tab))
    part(tab).get_by_label("-x=y $(touch no)", exact=True).select_option("w\nz")
    part(tab).get_by_label("when", exact=True).fill("2020-02-29")
    row = row_in(tab)
    assert row["-x=y $(touch no)"] == "w\nz" and row["when"] == "2020-02-29"
    same(tab, model, row)
    part(tab).locator("summary", has_text="Share").click()
    tab.wait_for_function("document.querySelector('#w-cli').value !== ''")
    command = tab.locator("#w-cli").input_value().splitlines()
    told = ["--learner", "NaiveBayes", "-o", "model.likely"]
    assert shlex.split(command[0]) == ["likely", "fit", "data.csv", "t'ar=get", *told]
    told = tab.locator("#w-python").input_value()
    for which in ("link", "cli", "python"):
        tab.locator(f"#w-copy-{which}").click()
        tab.locator(f"#w-copy-{which}", has_text=re.compile("copied|Ctrl")).wait_for()
    command_line = shlex.split("\n".join(command[1:]))
    model.save(tmp_path / "model.likely")
    done = subprocess.run(
        [sys.executable, "-m", *command_line, "--json"] if "--" not in command_line else
        [sys.executable, "-m", *command_line[:2], "--json", *command_line[2:]],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["posterior"] == pytest.approx(chances(tab), rel=1e-12)
    namespace: dict[str, Any] = {}
    exec(told.replace('"model.likely"', repr(str(tmp_path / "model.likely"))), namespace)
    assert namespace["row"] == row
    assert tab.evaluate("document.querySelectorAll('#whatif img, #whatif b, #whatif i, #whatif script').length") == 0
    watched.is_quiet()


def test_three_hundred_columns(watched: Watched, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table: dict[str, Any] = {f"column {k}": rng.normal(size=90).round(3) for k in range(200)}
    table |= {f"level {k}": rng.choice(["a", "b", "c"], 90) for k in range(99)}
    table["t"] = [f"class {k % 3}" for k in range(90)]
    table["strong"] = [str(k % 3) for k in range(90)]
    model = likely.fit(table, "t", likely.NaiveBayes(), types={"strong": "nominal"})
    tab = opened(watched, tmp_path, model)
    assert (tmp_path / "page.html").stat().st_size < 2_000_000
    assert tab.locator(".w-field").count() == 12
    assert tab.locator(".w-field .w-name").first.inner_text() == "strong"
    part(tab).get_by_role("button", name="Show all 300").click()
    assert tab.locator(".w-field").count() == 300
    part(tab).get_by_label("Find an attribute").fill("level 98")
    assert tab.locator(".w-field").count() == 1
    part(tab).get_by_label("level 98").select_option("b")
    same_chances(tab, model)
    part(tab).get_by_label("Find an attribute").fill("nothing")
    assert tab.locator("#w-none").is_visible()
    part(tab).get_by_label("Start from").select_option("everything unknown")
    settled(tab)
    assert tab.locator("#w-questions li").first.get_attribute("data-name") == "strong"
    watched.is_quiet()


def test_fifty_classes_at_the_width_of_a_phone(watched: Watched, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    codes = np.arange(500) % 50
    table = {"x": codes + rng.normal(size=500), "y": rng.normal(size=500), "t": [f"class {k}" for k in codes]}
    model = likely.fit(table, "t", likely.NaiveBayes(), types={"x": "number", "y": "number"})
    watched.tab.set_viewport_size({"width": 390, "height": 844})
    tab = opened(watched, tmp_path, model, "#.x=17.2&.y=0.5")
    assert tab.locator("#w-bars tr").count() == 13
    same_chances(tab, model)
    part(tab).get_by_label("against").select_option("all others")
    together = float(tab.locator("#w-ledger .w-total").get_attribute("data-nats"))
    assert together == pytest.approx(likely.explain(model, row_in(tab), against="rest").log_odds, abs=1e-9)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.locator("#w-said").is_visible()
    watched.is_quiet()


def test_names_that_mean_something_to_javascript(watched: Watched, tmp_path: Path) -> None:
    names = ["__proto__", "constructor", "toString", "hasOwnProperty"]
    table: dict[str, Any] = {name: ["__proto__", "constructor", "valueOf", "length"] * 10 for name in names}
    table["x"] = [*range(40)]
    table["y"] = ["__proto__", "constructor", "toString", "NaN."] * 10
    model = likely.fit(table, "y", likely.NaiveBayes(), types={"x": "number"} | dict.fromkeys(names, "nominal"))
    tab = opened(watched, tmp_path, model)
    for name in names:
        part(tab).get_by_label(name, exact=True).select_option("constructor")
    row = dict.fromkeys(names, "constructor") | {"x": row_in(tab)["x"]}
    assert row_in(tab) == row
    same(tab, model, row)
    part(tab).get_by_label("Evidence for").select_option("toString")
    assert "Bits for toString" in tab.locator("#w-ledger-of").inner_text()
    link = tab.evaluate("location.href")
    tab.goto("about:blank")
    tab.goto(link)
    settled(tab)
    assert row_in(tab) == row
    watched.is_quiet()


def test_texts_are_taken_apart_by_words(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(
        {"sms": ["win a prize now", "are you home", "free prize", "see you soon"] * 8, "label": ["spam", "ham"] * 16},
        target="label",
        types={"sms": "text"},
        learner=likely.NaiveBayes(text=likely.Text()),
    )
    tab = opened(watched, tmp_path, model)
    part(tab).get_by_label("sms").fill("You WIN a free prize, prize & more")
    same(tab, model, {"sms": "You WIN a free prize, prize & more"})
    words = [r.get_attribute("data-name") for r in tab.locator("#w-ledger .w-word").all()]
    assert words[0] == "prize ×2" and "you" in words
    watched.is_quiet()


def test_a_model_that_is_no_sum_says_so(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(EXAMPLES / "weather_mixed.csv", target="play", learner=likely.OneDependence())
    tab = opened(watched, tmp_path, model, "#.outlook=sunny")
    wanted = dict(zip(model.classes, model.posterior({"outlook": "sunny"}).matrix[0].tolist(), strict=True))
    assert chances(tab) == pytest.approx(wanted, rel=1e-12)
    assert "the mean over all orders" in tab.locator("#w-whole").inner_text()
    entries = likely.explain(model, {"outlook": "sunny"}, of="yes", against="no").entries
    lines = tab.locator("#w-ledger tr:not(.w-total)")
    shown = {r.get_attribute("data-name"): float(r.get_attribute("data-nats")) for r in lines.all()}
    assert shown == pytest.approx({e.name: e.log_ratio for e in entries if e.log_ratio}, abs=1e-12)
    asked = {
        li.get_attribute("data-name"): float(li.get_attribute("data-drop"))
        for li in tab.locator("#w-questions li").all()
    }
    drops = {q.attribute: q.drop for q in ask(model, {"outlook": "sunny"}).questions if q.drop > 1e-12}
    assert asked == pytest.approx(drops, abs=1e-7)
    watched.is_quiet()


def test_naive_bayes_stands_in_for_a_model_that_cannot_be_taken_along(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(EXAMPLES / "weather_mixed.csv", target="play", learner=likely.Neighbors())
    tab = opened(watched, tmp_path, model, "#.outlook=sunny")
    assert "Its answers are not those of Neighbors." in tab.locator("#w-note").inner_text()
    same(tab, likely.fit(EXAMPLES / "weather_mixed.csv", target="play"), {"outlook": "sunny"})
    watched.is_quiet()


def test_what_training_had_nothing_like_is_said(watched: Watched, tmp_path: Path) -> None:
    """The page remarks on the rows that `explain` remarks on, in the same words."""
    rng = np.random.default_rng(4)
    tall = np.round(rng.normal(size=400), 2)
    table = {
        "tall": tall.tolist(),
        "heavy": np.round(3 * tall + rng.normal(scale=0.2, size=400), 2).tolist(),
        "hair": ["long" if v > 0.3 else "short" if v < -0.3 else "none" for v in tall],
        "wins": ["yes" if v > 0 else "no" for v in tall + rng.normal(scale=0.5, size=400)],
    }
    model = likely.fit(table, "wins")
    tab = opened(watched, tmp_path, model)
    rows: list[dict[str, Any]] = [
        {"tall": 1.5, "heavy": 4.5, "hair": "long"},
        {"tall": 1.5, "heavy": -4.5, "hair": "long"},
        {"tall": -1.5, "hair": "long"},
        {"tall": 99, "hair": "long"},
        {"hair": "short"},
        {},
    ]
    told = []
    for row in rows:
        for name in ("tall", "heavy", "hair"):
            tab.evaluate(
                "([name, value]) => globalThis.likelyWhatIf.state.values.set(name, value)",
                [name, row.get(name) and str(row[name])],
            )
        tab.evaluate("globalThis.likelyWhatIf.reset()")
        settled(tab)
        said = [r for r in likely.explain(model, row).remarks if "beyond all" in r or "hardly occurred" in r]
        shown = tab.locator("#w-novel")
        assert shown.inner_text() == " ".join(said) and shown.is_hidden() == (not said)
        told.append(bool(said))
    assert told == [False, True, True, True, False, False]


def test_how_sure_an_answer_is(watched: Watched, tmp_path: Path) -> None:
    """The sentence of the page is that of `explain`, for rows whole, partly known and unknown."""
    model = likely.fit(EXAMPLES / "penguins.csv", "sex")
    tab = opened(watched, tmp_path, model)
    rows = [
        {"species": "Gentoo", "body_mass_g": 5000, "bill_depth_mm": 14.5},
        {"species": "Adelie"},
        {"body_mass_g": 4000.5},
        {},
    ]
    for row in rows:
        tab.locator("#w-start").select_option("")
        for name, value in row.items():
            tab.evaluate("([n, v]) => { likelyWhatIf.state.values.set(n, v); likelyWhatIf.reset(); }", [name, value])
        settled(tab)
        said = tab.locator("#w-sure").text_content().replace("\N{NO-BREAK SPACE}", " ")
        found = likely.sureness(model, row)
        assert said == f"{found.words()}."
    plain = likely.fit(EXAMPLES / "penguins.csv", "sex", likely.NaiveBayes())
    assert opened(watched, tmp_path, plain).locator("#w-sure").is_hidden()
    watched.is_quiet()
