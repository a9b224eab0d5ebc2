"""The moving window: after any cut of the stream, the model of exactly the last rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import FileFormatError, InputError, SettingError

TYPES = {"sky": "nominal", "wind": "number", "play": "nominal"}


def stream(rows: int, seed: int = 0, spread: int = 1000) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    out = []
    for k in range(rows):
        play = rng.choice(["no", "yes", "perhaps", ""], p=[0.4, 0.4, 0.1, 0.1])
        wind = None if rng.random() < 0.1 else float(rng.integers(-spread, spread)) * 1e17 ** rng.integers(-1, 2)
        out.append({"sky": str(rng.choice(["sun", "rain", "fog"])) + str(k // 40), "wind": wind, "play": str(play)})
    return out


def fitted(window: likely.Window, rows: list[dict[str, object]]) -> likely.Model:
    return likely.fit(rows, learner=window.model.learner, schema=window.model.schema)


def equal(window: likely.Window, rows: list[dict[str, object]]) -> None:
    """The window's model is the one that is fitted on these rows, to the last bit."""
    wanted = fitted(window, rows)
    assert window.summary == wanted.summary and window.summary.state().keys() == wanted.summary.state().keys()
    one, two = window.model.posterior(rows), wanted.posterior(rows)
    assert np.array_equal(one.matrix, two.matrix)


@given(st.lists(st.integers(1, 37), min_size=1, max_size=12), st.sampled_from([(40, 10), (7, 7), (30, 4), (5, 1)]))
@settings(max_examples=8)
def test_however_the_stream_is_cut_the_window_is_its_last_rows(cuts: list[int], size: tuple[int, int]) -> None:
    keep, step = size
    rows = stream(sum(cuts) + 60)
    window = likely.Window("play", rows=keep, step=step, types=TYPES)
    window.learn(rows[:60])
    at = 60
    for cut in cuts:
        window.learn(rows[at : at + cut])
        at += cut
        # Pieces begin at multiples of the step: whatever has not filled one yet counts as one.
        most = keep // step - (at % step > 0) if keep % step == 0 else (keep - at % step) // step
        held = sum(p.size for p in window.pieces)
        assert held == min(at, most * step + at % step) and held <= keep
    equal(window, rows[at - held : at])
    assert window.came == at


def test_many_values_are_as_if_the_old_rows_had_never_been(monkeypatch: pytest.MonkeyPatch) -> None:
    # More different values than a tally holds: what was dropped for old rows must come back when they go.
    rows = stream(6000, spread=10**6)
    window = likely.Window("play", likely.NaiveBayes(numbers="kernel"), rows=600, step=200, types=TYPES).learn(rows)
    equal(window, rows[-600:])
    wanted = fitted(window, rows[-600:]).summary
    assert window.summary["wind"].level == wanted["wind"].level == 0


@pytest.mark.parametrize(
    "learner", [likely.TreeAugmented(), likely.FullBayes(), likely.NaiveBayes(blocks=(("sky", "hue"),))]
)
def test_sums_beyond_the_first_order_move_too(learner: object) -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"sky": str(s), "hue": str(h), "play": str(p)}
        for s, h, p in zip(rng.integers(0, 3, 300), rng.integers(0, 2, 300), rng.integers(0, 2, 300), strict=True)
    ]
    window = likely.Window("play", learner, rows=100, step=50, types={"sky": "nominal", "hue": "nominal"}).learn(rows)
    equal(window, rows[-100:])


def test_files_go_one_by_one_and_the_file_goes_on(tmp_path: Path) -> None:
    days = [stream(50, seed) for seed in range(5)]
    window = likely.Window(
        "play", files=2, types=TYPES, loss={"no": {"go": 1}, "yes": {"stay": 1}, "perhaps": {"go": 2}}
    )
    window.learn(days[0]).learn(days[1]).save(tmp_path / "w.likely")
    again = likely.Window.load(tmp_path / "w.likely")
    for day in days[2:]:
        again.learn(day)
    equal(again, days[3] + days[4])
    assert again.model.loss is not None and again.came == 250 and len(again.pieces) == 2
    again.save(tmp_path / "w.likely")
    model = likely.load(tmp_path / "w.likely")  # a window's file is a model's file
    assert model.summary == again.summary and "files: 100 rows in 2 pieces, 250 came" in repr(again)


def test_texts_keep_what_was_chosen() -> None:
    rng = np.random.default_rng(1)
    rows = [{"note": " ".join(rng.choice(["a", "b", c], 5)), "play": str(c)} for c in rng.choice(["yes", "no"], 400)]
    window = likely.Window("play", rows=200, step=100, types={"note": "text"}).learn(rows[:200])
    chosen = window.model.search_state()
    assert chosen and window.learn(rows[200:]).model.search_state() == chosen
    assert window.summary == likely.summarize(rows[200:], schema=window.model.schema)


def test_nothing_changes_where_a_table_cannot_be_read(tmp_path: Path) -> None:
    window = likely.Window("play", rows=40, step=10, types=TYPES).learn(stream(60))
    before, pieces = window.summary, window.pieces
    (tmp_path / "bad.csv").write_text("sky,wind,play\n" + "sun,1,yes\n" * 25 + "sun,1,yes,no\n")
    for bad in (tmp_path / "bad.csv", [], {"sky": ["sun"]}):
        with pytest.raises(likely.LikelyError):
            window.learn(bad)
        assert window.summary == before and window.pieces is pieces and window.came == 60


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for bad in (
        {},
        {"rows": 10, "files": 2},
        {"files": 2, "step": 1},
        {"rows": 0},
        {"rows": 2, "step": 3},
        {"rows": True},
    ):
        with pytest.raises(SettingError):
            likely.Window("play", **bad)
    with pytest.raises(SettingError, match="is empty"):
        likely.Window("play", rows=3).model  # noqa: B018 - asking is the test
    with pytest.raises(SettingError, match="must see the rows"):
        likely.Window("play", likely.Logistic(), rows=30, types=TYPES).learn(stream(50))
    window = likely.Window("play", rows=40, types=TYPES).learn(stream(60))
    with pytest.raises(SettingError, match="Leave types out"):
        window.learn(stream(5), types=TYPES)
    with pytest.raises(InputError):
        window.learn({"sky": [], "wind": [], "play": []})
    window.model.save(tmp_path / "m.likely")
    with pytest.raises(FileFormatError, match="holds no window"):
        likely.Window.load(tmp_path / "m.likely")


@pytest.mark.parametrize("how", [{"dates": "parts"}, {"least_count": 3}, {"types": {"sky": "nominal"}}], ids=str)
def test_whatever_was_said_of_columns_holds_for_later_rows(how: dict[str, Any]) -> None:
    days = [f"2024-0{month}-1{day}" for month in (1, 2, 3) for day in (1, 2, 4, 8)]
    rows = {"when": days * 2, "sky": ["sun", "rain", "sun", "fog"] * 6, "y": list("ab") * 12}
    window = likely.Window("y", likely.NaiveBayes(), rows=24, **how)
    window.learn(rows)
    first = likely.summarize(rows, "y", **how)
    assert window.model.schema.names == first.schema.names
    window.learn(rows)
    assert window.model.summary == first  # the same rows took the place of the first
