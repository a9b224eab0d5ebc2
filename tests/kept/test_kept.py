"""Model files of every release since 1.0 are read, and answer as they did: scripts/keep_release.py wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import likely

HERE = Path(__file__).parent
EXPECTED = {
    f"{folder.name}/{name}": about
    for folder in sorted(p for p in HERE.iterdir() if (p / "expected.json").exists())
    for name, about in json.loads((folder / "expected.json").read_text(encoding="utf-8")).items()
}


@pytest.mark.parametrize("file", EXPECTED)
def test_a_file_of_an_earlier_release_answers_as_it_did(file: str) -> None:
    about = EXPECTED[file]
    if "moments" in about:
        summary = likely.load(HERE / file, likely.Summary)
        assert [[str(v) for v in m] for m in summary.columns["sepal_length"].moments()] == about["moments"]
        return
    model = likely.load(HERE / file)
    density = model.schema.target is None
    found = model.log_density(about["rows"]) if density else model.posterior(about["rows"]).matrix
    # Sums are exact; what is rounded after that may differ by a bit between processors and libraries of mathematics.
    assert np.allclose(found, about["found"], rtol=1e-12, atol=1e-12)


def test_the_first_release_is_kept_whole() -> None:
    assert sum(name.startswith("1.0") for name in EXPECTED) >= 40
