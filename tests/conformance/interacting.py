"""Rows whose class hangs on two and three attributes together, and models of them: all kinds that Additive makes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import likely
from likely import Model

SKY, COUNT, WIND, TARGET = "sky = [red] \"'; --", "n°", "wind, m/s", "to <b>play</b>?"
LEVELS = ["sun", "'); drop table x; --", 'a "b" c', "back\\slash", "ünï ☃", "<script>&amp;", "{x}%s", "true"]
CLASSES = ["no", "'yes'", "perhaps & <so>"]
TYPES = {SKY: "nominal", COUNT: "nominal of numbers", WIND: "number", "z": "number", TARGET: "nominal"}
KINDS = [(order, missing, classes) for order in (1, 2, 3, "any") for missing in ("skip", "level") for classes in (2, 3)]


def training(classes: int, rows: int = 1500) -> dict[str, list[Any]]:
    """Which class is decided by sky and wind together, and by both with z."""
    rng = np.random.default_rng(17)
    sky, wind = rng.integers(0, len(LEVELS), rows), np.round(rng.normal(12, 4, rows), 2)
    count, z = rng.choice([0.0, 1.0, 2.5], rows), np.round(np.exp(rng.normal(size=rows) * 2), 3)
    both = 2.5 * ((sky % 3 == 0) ^ (wind > 12)) + 1.5 * ((count > 0.5) ^ (z > 1) ^ (wind > 9))
    gone = rng.random((rows, 4)) < 0.08
    both = both + 1.5 * gone[:, 2] + 1.2 * (sky < 2) - 0.5 * count + rng.normal(size=rows)
    target = np.searchsorted([2.0] if classes == 2 else [1.5, 3.0], both)
    columns = [[LEVELS[k] for k in sky], count.tolist(), wind.tolist(), z.tolist()]
    out = {
        name: [None if g else v for v, g in zip(column, gone[:, k], strict=True)]
        for k, (name, column) in enumerate(zip((SKY, COUNT, WIND, "z"), columns, strict=True))
    }
    return {**out, TARGET: [CLASSES[k] for k in target]}


@cache
def additive(order: Any, missing: Any, classes: int) -> Model:
    """A model of these rows."""
    learner = likely.Additive(order=order, missing=missing, rounds=60)
    return likely.fit(training(classes), TARGET, learner, types=TYPES)
