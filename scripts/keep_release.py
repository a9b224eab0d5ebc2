"""Writes the model files of a release, of every learner, with the probabilities that they give: tests/kept/VERSION.

Run once for each release that changes the format, never again for an old one; tests/kept/test_kept.py reads them all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pc

import likely
from likely.models.registry import LEARNERS

ROOT = Path(__file__).resolve().parents[1]
TABLES = {"iris": "species", "weather_mixed": "play", "mails": "label"}
MEMBERS: dict[str, dict[str, Any]] = {
    "Pool": {"members": ("NaiveBayes", "Logistic"), "weights": (0.5, 0.25)},
    "Mixture": {"members": ("NaiveBayes", "Prior"), "weights": (0.75, 0.25)},
    "Gibbs": {"members": ("NaiveBayes", "Prior"), "weights": (0.75, 0.25)},
}


def main() -> None:
    folder = ROOT / "tests" / "kept" / likely.__version__
    folder.mkdir(parents=True, exist_ok=False)
    expected: dict[str, Any] = {}
    for name, maker in sorted(LEARNERS.items()):
        for table, target in TABLES.items():
            path = ROOT / "examples" / f"{table}.csv"
            try:
                learner = maker(**MEMBERS.get(name, {}))
                model = likely.fit(path, None if name == "Density" else target, learner)
            except likely.LikelyError:
                continue  # a learner that takes numbers alone, or no texts
            file = f"{table}-{name}.likely"
            model.save(folder / file)
            rows = pc.read_csv(path).slice(0, 3).to_pylist()
            found = model.log_density(rows) if name == "Density" else model.posterior(rows).matrix
            expected[file] = {"rows": rows, "found": found.tolist()}
    summary = likely.summarize(ROOT / "examples" / "iris.csv", "species", more=["pairs", "products"])
    summary.save(folder / "summary.likely")
    moments = summary.columns["sepal_length"].moments()
    expected["summary.likely"] = {"moments": [[str(value) for value in each] for each in moments]}
    (folder / "expected.json").write_text(json.dumps(expected, default=str, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
