"""What models say of rows that they have not learned from, by likely's public names alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from truth.oracle import Answer
from truth.tables import Case

import likely


@dataclass(frozen=True)
class Judged:
    """The answers of a learner to held-out rows, and those of what it is measured by, on the same rows."""

    answers: list[Answer]
    classes: tuple[str, ...]
    beside: dict[str, list[Answer]]
    ratio: float
    """Rows predicted for each row learned from, for one answer."""


def leave_one_out(case: Case, path: Path, learner: likely.NaiveBayes) -> Judged:
    """Each row is answered by what is learned from all sums less its own."""
    total = likely.summarize(path, case.target, weight=case.weight)
    of_learner, of_frequencies = [], []
    for row in case.judged:
        rest = total - likely.summarize([row], case.target, schema=total.schema, weight=case.weight)
        truth, weight = str(row[case.target]), case.weigh(row)
        for out, one in ((of_learner, learner), (of_frequencies, likely.Prior())):
            found = one.learn(rest).posterior(row)
            chances = {c: found.prob(c) if c in found.classes else 0.0 for c in total.classes}
            out.append(Answer(truth, weight, chances, found.best, cells=row))
    return Judged(of_learner, total.classes, {"guessing": of_frequencies}, 1 / (len(of_learner) - 1))


def _levels(cells: Mapping[str, Any], rows: int) -> Iterator[dict[str, str | None]]:
    """Of each row the level of the attributes that have few."""
    for k in range(rows):
        yield {n: None if c.codes[k] < 0 else c.labels.names[c.codes[k]] for n, c in cells.items()}


def held_out_answers(model: likely.Model) -> Judged | None:
    """What a model said of the rows that it held out while it was made; None where it held out none."""
    held_out = model.held_out_answers
    if held_out is None:
        return None
    classes = model.classes

    def read(logs: np.ndarray) -> list[Answer]:
        out = []
        squares, cells = held_out.squares, list(_levels(held_out.cells, len(logs)))
        numbers = zip(logs.tolist(), held_out.truth, held_out.weight, squares, cells, strict=True)
        for line, truth, weight, square, row in numbers:
            top = max(line)
            scaled = [math.exp(x - top) if top > -math.inf else 0.0 for x in line]
            total = math.fsum(scaled) or 1.0
            chances = dict(zip(classes, (s / total for s in scaled), strict=True))
            tied = [c for c, x in zip(classes, line, strict=True) if top - x < 1e-12]
            named = tied[0] if top > -math.inf else None
            out.append(Answer(classes[int(truth)], float(weight), chances, named, float(square), row))
        return out

    names = {"baseline": "guessing", "one rule": "alone", "naive Bayes": "naive Bayes"}
    ratio = float(held_out.weight.sum()) / held_out.folds / held_out.learned
    return Judged(read(held_out.logs), classes, {names[n]: read(logs) for n, logs in held_out.beside.items()}, ratio)
