"""Figures computed once more, in plain Python, from rows and from what a model said of each: no numpy, no likely.

Every function follows the definition that docs/evaluating.md gives, not the code that prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scipy import stats


@dataclass(frozen=True)
class Answer:
    """What was said of one row, its true class, and its weight."""

    truth: str
    weight: float
    chances: dict[str, float]
    """P(class), in schema order; all of them 0 where no class is possible."""
    named: str | None
    alike: float | None = None
    """What the row counts in the sum of squared weights, where equal rows were held out together."""
    cells: Mapping[str, str | None] = field(default_factory=dict)
    """The levels that the row has, by attribute."""


Answers = Sequence[Answer]


def weight_of(answers: Answers) -> float:
    return math.fsum(a.weight for a in answers)


def share(answers: Answers, some: Answers) -> float:
    return weight_of(some) / weight_of(answers)


def accuracy(answers: Answers) -> float:
    return share(answers, [a for a in answers if a.named == a.truth])


def majority(answers: Answers, classes: Sequence[str]) -> str:
    """The class of most weight; of equals the first in schema order."""
    return max(classes, key=lambda c: weight_of([a for a in answers if a.truth == c]))


def guess(answers: Answers, classes: Sequence[str]) -> float:
    """What always naming that class gets."""
    best = majority(answers, classes)
    return share(answers, [a for a in answers if a.truth == best])


def log_loss(answers: Answers) -> float:
    """In bits a row."""
    if any(a.chances[a.truth] == 0 for a in answers):
        return math.inf
    return math.fsum(-a.weight * math.log2(a.chances[a.truth]) for a in answers) / weight_of(answers)


def brier(answers: Answers) -> float:
    total = 0.0
    for a in answers:
        total += a.weight * math.fsum((p - (c == a.truth)) ** 2 for c, p in a.chances.items())
    return total / weight_of(answers)


def area(answers: Answers, of: str) -> float:
    """P(a row of the class ranks above one of another), ties half."""
    up = [(a.chances[of], a.weight) for a in answers if a.truth == of]
    down = [(a.chances[of], a.weight) for a in answers if a.truth != of]
    won = math.fsum(w * v * (1.0 if p > q else 0.5 if p == q else 0.0) for p, w in up for q, v in down)
    return won / (math.fsum(w for _, w in up) * math.fsum(v for _, v in down))


def wilson(p: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.959963984540054
    middle = (p + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * math.sqrt(p * (1 - p) / rows + z * z / (4 * rows * rows))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def effective_rows(answers: Answers) -> float:
    """As many rows of equal weight as would be as sure: (sum of weights) squared over the sum of squares."""
    return weight_of(answers) ** 2 / math.fsum(a.weight**2 if a.alike is None else a.alike for a in answers)


def share_bounds(answers: Answers, some: Answers, ratio: float) -> tuple[float, float]:
    """The 95 % interval of a share of rows, with so many rows predicted for each row learned from."""
    return wilson(share(answers, some), effective_rows(answers) / (1 + ratio))


def mean_bounds(answers: Answers, value: Callable[[Answers], float], ratio: float) -> tuple[float, float]:
    """The 95 % interval of a mean over rows, by Student's t, not below 0."""
    rows, mean = effective_rows(answers), value(answers)
    squares = math.fsum(a.weight * (value([a]) - mean) ** 2 for a in answers) / weight_of(answers)
    half = stats.t.ppf(0.975, max(round(rows) - 1, 1)) * math.sqrt(squares * (1 + ratio) / (rows - 1))
    return max(mean - half, 0.0), mean + half


def confusion(answers: Answers, classes: Sequence[str]) -> dict[str, dict[str, float]]:
    return {t: {n: weight_of([a for a in answers if (a.truth, a.named) == (t, n)]) for n in classes} for t in classes}


def precision(answers: Answers, of: str) -> float | None:
    named = [a for a in answers if a.named == of]
    return share(named, [a for a in named if a.truth == of]) if named else None


def recall(answers: Answers, of: str) -> float | None:
    true = [a for a in answers if a.truth == of]
    return share(true, [a for a in true if a.named == of]) if true else None


def entropy(weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return -math.fsum(w / total * math.log2(w / total) for w in weights if w > 0)


def information(cells: Sequence[tuple[str, str, float]], rows_a_weight: float = 1.0) -> float:
    """Bits that a level tells of the class, less what chance makes of it (Miller and Madow), not below 0."""
    joint: dict[tuple[str, str], float] = {}
    levels: dict[str, float] = {}
    classes: dict[str, float] = {}
    for level, label, weight in cells:
        joint[level, label] = joint.get((level, label), 0.0) + weight
        levels[level] = levels.get(level, 0.0) + weight
        classes[label] = classes.get(label, 0.0) + weight
    total = math.fsum(levels.values())
    raw = entropy([*levels.values()]) + entropy([*classes.values()]) - entropy([*joint.values()])
    bias = (len(levels) - 1) * (len(classes) - 1) / (2 * rows_a_weight * total * math.log(2))
    return max(raw - bias, 0.0)


def lift(answers: Answers, of: str, part: float) -> float:
    """The share of the class among the rows that rank highest, up to this part of all; ties cut as if shuffled."""
    steps: dict[float, list[float]] = {}
    for a in answers:
        step = steps.setdefault(a.chances[of], [0.0, 0.0])
        step[0] += a.weight
        step[1] += a.weight * (a.truth == of)
    wanted, found = part * weight_of(answers), 0.0
    for p in sorted(steps, reverse=True):
        all_of, of_class = steps[p]
        take = min(1.0, wanted / all_of) if wanted > 0 else 0.0
        found += take * of_class
        wanted -= take * all_of
    return found / math.fsum(of_class for _, of_class in steps.values())


def average_precision(answers: Answers, of: str) -> float:
    """The mean over rows of the class of the precision down to their rank."""
    steps: dict[float, list[float]] = {}
    for a in answers:
        step = steps.setdefault(a.chances[of], [0.0, 0.0])
        step[0] += a.weight
        step[1] += a.weight * (a.truth == of)
    positives = math.fsum(found for _, found in steps.values())
    upto = true = out = 0.0
    for p in sorted(steps, reverse=True):
        upto += steps[p][0]
        true += steps[p][1]
        out += steps[p][1] / positives * true / upto
    return out


def chances_and_hits(answers: Answers, of: str | None) -> list[tuple[float, bool, float]]:
    """The probability of the class asked about, or of the class named, whether it was so, and the weight of the row."""
    out = []
    for a in answers:
        label = of or max(a.chances, key=lambda c: a.chances[c])
        out.append((a.chances[label], a.truth == label, a.weight))
    return out


def calibration_error(answers: Answers, of: str | None) -> float:
    """The mean over rows of |probability - share| of their bin: bins of about equal weight, equal probabilities in
    one bin, ten of them, fewer where there are fewer than a hundred rows."""
    pairs = chances_and_hits(answers, of)
    count = min(max(len(pairs) // 10, 2), 10)
    total = math.fsum(w for *_, w in pairs)
    below, bins = 0.0, dict[int, list[float]]()
    for p in sorted({p for p, *_ in pairs}):
        here = [(hit, w) for q, hit, w in pairs if q == p]
        weight = math.fsum(w for _, w in here)
        where = min(int((below + weight / 2) / total * count), count - 1)
        mine = bins.setdefault(where, [0.0, 0.0])
        mine[0] += p * weight
        mine[1] += math.fsum(w for hit, w in here if hit)
        below += weight
    return math.fsum(abs(given - seen) for given, seen in bins.values()) / total
