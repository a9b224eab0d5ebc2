"""What models say of rows that they have not learned from, by likely's public names alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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


NEARLY_SURE = 52.0
"""Bits from which on evidence may be counted as no more."""


def evidence_means(model: likely.Model, case: Case) -> dict[str, tuple[float, float]]:
    """How many bits each attribute moves answers, the mean over rows: of the two classes that it moves most, as the
    lines of explanations say. Least and most, where evidence is so strong that it may be counted as less."""
    bare = replace(model, references=None)  # what a value says beside unknown ones, none of which is averaged over
    names = [column.name for column in model.schema.attributes]
    total = math.fsum(map(case.weigh, case.judged))
    least, most = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for row in case.judged:
        lines = {e.name: e for e in likely.explain(bare, {n: row[n] for n in case.rows[0] if n != case.target}).entries}
        for name in names:
            logs = lines[name].log_values.values() if name in lines else [0.0]
            bits = (max(logs) - min(logs)) / math.log(2) if max(logs) > -math.inf else 0.0
            least[name] += case.weigh(row) / total * min(bits, NEARLY_SURE)
            most[name] += case.weigh(row) / total * bits
    return {name: (least[name], most[name]) for name in names}


def between(text: str, bounds: tuple[float, float]) -> bool:
    """Whether a printed number is a value within these, rounded to the digits that are shown."""
    half = 0.5000001 * 10 ** -len(text.partition(".")[2]) + 1e-9
    return bounds[0] - half <= float(text) <= bounds[1] + half
