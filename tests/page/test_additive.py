"""What pairs and larger sets of attributes say is the same in the page's script, weights before terms included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conformance.interacting import COUNT, KINDS, SKY, TARGET, TYPES, WIND, additive, training
from conformance.test_conformance import asked
from page.test_conformance import SCORE, agree, script, told  # noqa: F401
from page.test_whatif import chances
from page.test_writing import safe

import likely
from likely.models import shapes
from likely.portable.describe import portable
from likely.portable.reading import cells_of, portable_of
from likely.portable.scoring import scores
from likely.portable.writing import text_of


def test_every_kind_scores_in_the_browser_as_in_python(script: Any) -> None:  # noqa: F811
    for kind in KINDS:
        agree(script, additive(*kind), asked())


def test_weights_before_pairs_and_sets(script: Any) -> None:  # noqa: F811
    for kind in ((2, "level", 3), (3, "skip", 2)):
        form = portable(additive(*kind))
        assert isinstance(form.score, shapes.Sum)
        powers = tuple(0.25 + k for k, _ in enumerate(form.score.terms))
        form = replace(form, score=replace(form.score, powers=powers))
        rows, read = asked(), portable_of(text_of(form))
        found = script.evaluate(SCORE, [text_of(form), [{n: told(v) for n, v in row.items()} for row in rows]])
        for row, (logs, _) in zip(rows, found, strict=True):
            assert logs == pytest.approx(scores(read, cells_of(read, row)), rel=1e-12, abs=1e-12)


LEDGER = """([portable, rows]) => {
  const { cellsOf, revived, ledgerOf } = globalThis.likelyScript;
  const form = revived(JSON.parse(portable));
  return rows.map((row) => ledgerOf(form, cellsOf(form, new Map(Object.entries(row))), 1, 0).entries);
}"""


LEARNERS = {
    "forest": likely.Forest(trees=9),
    "pool": likely.Pool((likely.Additive(order=3, rounds=20), likely.Forest(trees=9)), weights=(0.5, 0.6)),
    "pairs": likely.Additive(order=2, rounds=30),
    "default": None,
    "joint table": likely.NaiveBayes(blocks=((SKY, "other"),)),
    "full": likely.FullBayes(),
    "linear": likely.LinearDiscriminant(),
    "mixture": likely.Mixture(("NaiveBayes", "Prior"), weights=(0.7, 0.3)),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_page_tells_evidence_by_attribute_as_explain_does(watched: Any, name: str) -> None:
    from likely.present.page.writing import bundle

    watched.tab.goto("about:blank")
    watched.tab.add_script_tag(
        content=bundle() + "globalThis.likelyScript = { cellsOf, revived, ledgerOf };", type="module"
    )
    watched.tab.wait_for_function("globalThis.likelyScript")
    for classes in (2, 3):
        table = {**training(classes)}
        table["other"] = table[SKY][5:] + table[SKY][:5]
        types = {**TYPES, "other": "nominal"}
        if name in ("full", "linear"):  # which take numbers alone
            types = {n: kind for n, kind in types.items() if n not in (SKY, COUNT, "other")}
            table = {n: column for n, column in table.items() if n not in (SKY, COUNT, "other")}
        model = likely.fit(table, TARGET, LEARNERS[name], types=types)
        whole: dict[str, Any] = {SKY: "sun", COUNT: 1.0, WIND: 11.5, "z": 2.0, "other": "rain"}
        asked = [whole, {SKY: "sun", WIND: 4.0}, {}]
        rows = [{n: v for n, v in row.items() if n in table} for row in asked]
        found = watched.tab.evaluate(LEDGER, [text_of(portable(model)), rows])
        for row, entries in zip(rows, found, strict=True):
            said = likely.explain(model, row, of=model.classes[1], against=model.classes[0]).entries
            wanted = {(e.name or None): e for e in said if e.kind in ("prior", "value")}
            assert wanted
            told = {entry["name"]: entry for entry in entries}
            assert {*told} <= {*wanted}
            for one, entry in wanted.items():
                ratio = told[one]["ratio"] if one in told else 0.0
                assert ratio == pytest.approx(entry.log_ratio, abs=1e-9), (row, one)
                parts = {p["name"]: p["ratio"] for p in told[one]["parts"]} if one in told else {}
                shares = {p.name: p.log_ratio for p in entry.parts if p.kind == "share"}
                for label in {*parts} | {*shares}:  # what rounding leaves of 0 may have a line in one of them
                    assert parts.get(label, 0.0) == pytest.approx(shares.get(label, 0.0), abs=1e-9)


CHANGES = """([portable, rows]) => {
  const { cellsOf, revived, changesOf, startsOf } = globalThis.likelyScript;
  const form = revived(JSON.parse(portable));
  return form.attributes.filter((a) => a.kind === "number").map((a) => startsOf(form, a.name));
}"""


def test_all_cuts_of_a_number_are_tried(watched: Any) -> None:
    """A cut that only a pair or a tree makes may be where the decision turns."""
    from likely.present.page.writing import bundle

    watched.tab.goto("about:blank")
    watched.tab.add_script_tag(
        content=bundle() + "globalThis.likelyScript = { cellsOf, revived, changesOf, startsOf };", type="module"
    )
    watched.tab.wait_for_function("globalThis.likelyScript")
    for kind in ((1, "skip", 2), (2, "skip", 2), ("any", "level", 3)):
        form = portable(additive(*kind))
        assert isinstance(form.score, shapes.Sum)
        cuts: dict[str, set[float]] = {WIND: set(), "z": set()}
        for term in form.score.terms:
            if isinstance(term, shapes.BinTable):
                cuts[term.name] |= set(term.starts.tolist())
            for axis in getattr(term, "axes", ()):
                if axis.name in cuts:
                    cuts[axis.name] |= set(axis.edges.tolist())
        weighed = replace(form.score, powers=(0.5,) * len(form.score.terms))
        for one in (form, replace(form, score=weighed)):
            found = watched.tab.evaluate(CHANGES, [text_of(one), []])
            assert found == [sorted(cuts[name]) for name in (WIND, "z")]


def test_the_page_of_adult_is_small_and_alive(watched: Any, tmp_path: Path, shared: Path) -> None:
    """Of what `look` learns where nobody says otherwise; packed numbers answer as the library does."""
    from likely import look
    from likely.present.page.writing import page

    record = look(shared / "data" / "adult.csv", "income", picture=True)
    text = page(record)
    assert len(text.encode()) <= 250 * 1024
    safe(text)
    assert 'class="chart values-chart"' in text and 'class="chart heat-map"' in text
    assert "share of the class" not in text.split('id="attributes"')[1].split("</section>")[0]
    (tmp_path / "page.html").write_text(text, "utf-8")
    watched.tab.goto((tmp_path / "page.html").as_uri())
    watched.tab.locator("#w[data-done]").wait_for(state="attached")
    model = record.model
    assert model is not None
    for more in (
        {},
        {"age": "71", "race": "Other"},
        {"occupation": "Sales", "fnlwgt": None},
        {"capital-gain": "7298", "fnlwgt": "178688"},
    ):
        watched.tab.evaluate(SET, more)
        values = dict(watched.tab.evaluate("[...globalThis.likelyWhatIf.state.values]"))
        row = {name: value for name, value in values.items() if value is not None}
        wanted = dict(zip(model.classes, model.posterior(row).matrix[0].tolist(), strict=True))
        assert chances(watched.tab) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    shown = watched.tab.locator("#whatif").inner_text()
    assert "capital-gain" in shown and " × " not in shown.split("Why")[1] and "others together" in shown
    watched.tab.locator('#w-ledger [data-opens="others"]').click()
    watched.tab.locator('#w-ledger tr[data-name="age"] .w-open').click()
    assert watched.tab.locator("#w-ledger .w-word").nth(1).inner_text().startswith(("by itself", "with "))
    watched.is_quiet()


SET = """(values) => {
  const w = globalThis.likelyWhatIf;
  for (const [name, value] of Object.entries(values)) w.state.values.set(name, value);
  w.reset();
}"""
