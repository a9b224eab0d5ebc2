"""What pairs and larger sets of attributes say is the same in the page's script, weights before terms included."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from conformance.interacting import KINDS, WIND, additive
from conformance.test_conformance import asked
from page.test_conformance import SCORE, agree, script, told  # noqa: F401

from likely.portable import forms
from likely.portable.describe import portable
from likely.portable.reading import cells_of
from likely.portable.scoring import scores
from likely.portable.writing import text_of


def test_every_kind_scores_in_the_browser_as_in_python(script: Any) -> None:  # noqa: F811
    for kind in KINDS:
        agree(script, additive(*kind), asked())


def test_weights_before_pairs_and_sets(script: Any) -> None:  # noqa: F811
    for kind in ((2, "level", 3), (3, "skip", 2)):
        form = portable(additive(*kind))
        assert isinstance(form.score, forms.Sum)
        weighed = tuple(forms.PowerTerm(0.25 + k, term) for k, term in enumerate(form.score.terms))
        form = replace(form, score=forms.Sum(form.score.constant, weighed))
        rows = asked()
        found = script.evaluate(SCORE, [text_of(form), [{n: told(v) for n, v in row.items()} for row in rows]])
        for row, (logs, _) in zip(rows, found, strict=True):
            assert logs == pytest.approx(scores(form, cells_of(form, row)), rel=1e-12, abs=1e-12)


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
        assert isinstance(form.score, forms.Sum)
        cuts: dict[str, set[float]] = {WIND: set(), "z": set()}
        for term in form.score.terms:
            if isinstance(term, forms.BinTerm):
                cuts[term.name] |= set(term.starts)
            for axis in getattr(term, "axes", ()):
                if axis.attribute in cuts:
                    cuts[axis.attribute] |= set(axis.starts)
        weighed = tuple(forms.PowerTerm(0.5, term) for term in form.score.terms)
        for one in (form, replace(form, score=forms.Sum(form.score.constant, weighed))):
            found = watched.tab.evaluate(CHANGES, [text_of(one), []])
            assert found == [sorted(cuts[name]) for name in (WIND, "z")]
