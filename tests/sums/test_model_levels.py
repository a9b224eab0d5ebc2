"""A model does not depend on how its summary was gathered: levels that no counted row has are no levels."""

from __future__ import annotations

from pathlib import Path

import likely

ROWS = {
    "sky": ["rain", "sun", "fog", "hail", "sun", "rain"],
    "play": ["no", "yes", None, "no", "yes", "yes"],
    "weight": [1.0, 1.0, 1.0, 0.0, 2.0, 1.0],
}


def test_threads_shards_and_files_give_the_same_model(tmp_path: Path) -> None:
    asked = {"target": "play", "weight": "weight", "types": {"sky": "nominal"}}
    models = [likely.fit(ROWS, threads=threads, **asked) for threads in (1, 2, 4)]
    models[0].save(tmp_path / "play.likely")
    models.append(likely.load(tmp_path / "play.likely"))
    answers = {model.posterior({"sky": "sun"}).prob("yes") for model in models}
    assert len(answers) == 1
    # Fog has no class and hail no weight, so there are two levels: P(sun | yes) = (3 + 1) / (4 + 2), P(sun | no) = 1/3.
    assert abs(answers.pop() - (4 / 5 * 4 / 6) / (4 / 5 * 4 / 6 + 1 / 5 * 1 / 3)) < 1e-15
