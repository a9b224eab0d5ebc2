"""Everything that `likely look --all` prints of awkward tables is computed once more, in plain Python.

A line or a table that nothing here knows fails: what is printed and cannot be recomputed is not printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Ran
from truth import oracle
from truth.answers import Judged, between, evidence_means, held_out_answers, leave_one_out
from truth.oracle import Answer
from truth.printed import Printed, Table, read_printed
from truth.sentences import Check, check_sentences, close, groups, number, percent
from truth.tables import CASES, Case, Row, is_part

import likely

N = r"([\d,]+(?:\.\d+)?)"
P = r"(\d+(?:\.\d+)?) %"


@dataclass
class Seen:
    """A table, what was printed of it, and what the learner said of held-out rows."""

    case: Case
    printed: Printed
    judged: Judged
    leave_one_out: bool
    model: likely.Model
    folder: Path

    @property
    def answers(self) -> list[Answer]:
        return self.judged.answers

    def of(self, label: str) -> float:
        return oracle.weight_of([a for a in self.answers if a.truth == label])

    @property
    def positive(self) -> str:
        """The rarer of two classes, of equals the last."""
        return min(reversed(self.judged.classes), key=self.of)

    @property
    def accuracy(self) -> float:
        return oracle.accuracy(self.answers)

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        return oracle.share_bounds(self.answers, [a for a in self.answers if a.named == a.truth], self.judged.ratio)[0]

    @property
    def guess(self) -> float:
        return oracle.guess(self.answers, self.judged.classes)

    @property
    def sharper(self) -> bool:
        """Whether its log loss is better than that of the frequencies."""
        return oracle.log_loss(self.answers) < oracle.log_loss(self.judged.beside["guessing"])

    @property
    def attributes(self) -> list[str]:
        lines = self.printed.table("How the columns were read").rows
        return [line[0] for line in lines if line[2] == "attribute"]


# -- sentences ------------------------------------------------------------------------------------------------


def _size(seen: Seen, target: str, rows: str, weight: str | None, classes: str, attributes: str) -> bool:
    assert target == seen.case.target
    assert (weight is None) == (seen.case.weight is None)
    assert weight is None or close(weight, math.fsum(map(seen.case.weigh, seen.case.judged)))
    counts = number(rows), number(classes), number(attributes)
    labels = {row[seen.case.target] for row in seen.case.judged}
    return counts == (len(seen.case.judged), len(labels), len(seen.attributes))


def _headline(seen: Seen, share: str, low: str, high: str) -> bool:
    assert 0 <= number(low) <= number(share) <= number(high) <= 100
    return close(share, 100 * seen.accuracy)


def _guess(seen: Seen, label: str, share: str) -> bool:
    assert label == oracle.majority(seen.answers, seen.judged.classes)
    return close(share, 100 * seen.guess)


def _ranks(seen: Seen, label: str, times: str, low: str, high: str, found: str) -> bool:
    assert label == seen.positive and seen.accuracy <= seen.guess
    expected = oracle.lift(seen.answers, label, 0.05)
    of = [a for a in seen.answers if a.truth == label]
    bounds = oracle.wilson(expected, oracle.effective_rows(of) / (1 + seen.judged.ratio))
    assert close(low, bounds[0] / 0.05) and close(high, bounds[1] / 0.05)
    return close(times, expected / 0.05) and close(found, 100 * expected)


def _better(seen: Seen, label: str, share: str) -> bool:
    return seen.low > seen.guess and _guess(seen, label, share)


def _not_clearly(seen: Seen, label: str, share: str) -> bool:
    return seen.low <= seen.guess < seen.accuracy and _guess(seen, label, share)


def _no_better(seen: Seen, label: str, share: str) -> bool:
    return seen.accuracy <= seen.guess and _guess(seen, label, share)


def _one_column(seen: Seen, name: str, share: str) -> bool:
    assert name in seen.attributes
    return close(share, 100 * oracle.accuracy(seen.judged.beside["alone"]))


def _bounds(seen: Seen, rows: str, low: str, high: str) -> bool:
    cell = seen.printed.table(_titles(seen)[0]).row("accuracy")["95 % interval"]
    first, last = map(float, groups(r"([\d.]+) to ([\d.]+) %", cell))
    assert number(rows) == len(seen.case.judged) < 100
    return abs(number(low) - first) <= 0.55 and abs(number(high) - last) <= 0.55


def _titles(seen: Seen) -> list[str]:
    return [table.title for table in seen.printed.tables]


def _tempered(seen: Seen, factor: str, bits: str) -> bool:
    """All evidence times this factor; the factor is rounded, so the loss is known to a few digits only."""
    losses = []
    for shift in (-0.5, 0.0, 0.5):
        digits = len(factor.partition(".")[2])
        power = float(factor) + shift * 10**-digits
        out = []
        for a in seen.answers:
            raised = {c: p**power if p else 0.0 for c, p in a.chances.items()}
            total = math.fsum(raised.values())
            out.append(Answer(a.truth, a.weight, {c: p / total for c, p in raised.items()}, a.named))
        losses.append(oracle.log_loss(out))
    now = oracle.log_loss(seen.answers)
    return min(losses) - 2e-3 <= float(bits) <= max(losses) + 2e-3 and float(bits) < now


def _off(seen: Seen, points: str, label: str, given: str, right: str, rows: str) -> bool:
    of = None if label == "the predicted class" else label
    close(points, 100 * oracle.calibration_error(seen.answers, of))
    line = [row for row in seen.printed.table("Calibration: ").rows if row[1] == f"{given} %" and row[4] == rows]
    return bool(line) and line[0][2] == f"{right} %" and given != right


def _gaps(seen: Seen, count: str, names: str) -> bool:
    """Exactly the attributes that are missing in at least half of the rows, in any order."""
    half = oracle.weight_of(seen.answers) / 2
    gone = {
        name: math.fsum(seen.case.weigh(row) for row in seen.case.judged if row[name] is None)
        for name in seen.attributes
    }
    expected = {f"'{name}'" for name, weight in gone.items() if weight >= half}
    return set(names.split(", ")) == expected and number(count) == len(expected)


def _copies(seen: Seen, share: str) -> bool:
    cells = [tuple(row[name] for name in seen.attributes) for row in seen.case.judged]
    return close(share, 100 * sum(cells.count(c) > 1 for c in cells) / len(cells))


def _leak(
    seen: Seen, name: str, other: str | None, share: str | None, low: str | None, high: str | None, left: str | None
) -> bool:
    """It tells at least 95 % of what there is to know, of the rows that have it; what is left is what a table without
    that column gives, judged in the same way."""
    if share is not None:
        assert name == other == left and low is not None and high is not None and len(seen.attributes) > 1
        rows = [Row({n: cell for n, cell in row.items() if n != name}) for row in seen.case.rows]
        rest = replace(seen.case, name="rest", rows=rows)
        judged = _judge(rest, rest.write(seen.folder), seen.leave_one_out)
        right = [a for a in judged.answers if a.named == a.truth]
        for text, bound in zip((low, high), oracle.share_bounds(judged.answers, right, judged.ratio), strict=True):
            close(text, 100 * bound)
        close(share, 100 * oracle.accuracy(judged.answers))
    line = _by_itself(seen).row(name)
    known = 1 - number((line["missing"] or "0 %").removesuffix(" %")) / 100
    return number(line["by itself"].removesuffix(" %")) >= 94.9 * known


def _by_itself(seen: Seen) -> Table:
    """The table of attributes, which are in the order of what the model makes of them where that is known."""
    return next(t for t in seen.printed.tables if t.title.startswith(("How far each", "What each attribute reveals")))


def _tells_most(seen: Seen, name: str) -> bool:
    table = _by_itself(seen)
    told = {row[0]: number(table.row(row[0])["by itself"].removesuffix(" %")) for row in table.rows}
    return told[name] == max(told.values())


def _small(seen: Seen, one: str | None, count: str | None, such: str | None, least: str) -> bool:
    small = [c for c in seen.judged.classes if seen.of(c) < number(least)]
    assert len(seen.case.judged) >= 100
    return [f"'{small[0]}'", len(small)] == [one or such, 1 if one else number(count or "0")]


def _rare(seen: Seen, counts: str) -> bool:
    for text in counts.split(", "):
        count, name = groups(r"(\d+) of '(.+)'", text)
        cells = [row[name] for row in seen.case.judged]
        assert sum(cells.count(c) == 1 for c in {*cells} - {None}) == int(count), text
    return True


def _redundant(seen: Seen, one: str, other: str) -> bool:
    return {one, other} <= set(seen.attributes)


SENTENCES: dict[str, Check] = {
    rf"(.+) in .+\.csv: {N} rows?(?: that weighs? {N})?, {N} class(?:es)?, {N} attributes?\.": _size,
    rf".+ predicts y correctly for {P} of unseen rows \({N}–{P}\)\.": _headline,
    rf".+ ranks rows better than chance: among the 5\.0 % that it ranks highest, (.+) is {N} times as frequent "
    rf"as among all \({N}–{N} times\); they hold {P} of it\.": _ranks,
    rf"Always guessing (.+) gets {P}\.": _better,
    rf"Dates are also read in parts \(.+\): on held-out rows that lowered the log loss from {N} to {N} bits\.": (
        lambda s, before, after: number(before) > number(after) and close(after, oracle.log_loss(s.answers))
    ),
    rf"That is no better than always guessing (.+), which gets {P}\.": _no_better,
    rf"That is not clearly better than always guessing (.+), which gets {P}\.": _not_clearly,
    r"Its probabilities are no better than the class frequencies \(see log loss\)\.": lambda s: (
        s.low <= s.guess < s.accuracy and not s.sharper
    ),
    r"Nothing is gained: neither its classes nor its log loss are better\.": lambda s: (
        s.accuracy <= s.guess and not s.sharper
    ),
    r"But neither its classes nor its log loss are better than guessing: trust the order of its rows alone\.": (
        lambda s: s.accuracy <= s.guess and not s.sharper
    ),
    r"Still, its probabilities beat the class frequencies \(see log loss\)\.": lambda s: (
        s.accuracy <= s.guess and s.sharper
    ),
    r"But it is overconfident \(see log loss\): trust its classes, not its probabilities\.": lambda s: (
        s.low > s.guess and not s.sharper
    ),
    rf"(?:One column does as well|Not clearly better than one column): (.+) alone gets {P}\.": _one_column,
    rf"Warning: With only {N} rows, the true accuracy may be from {P} to {P}\.": _bounds,
    rf"It is too (?:timid|sure of itself): all evidence times {N} gives {N} bits a row\.(?: To learn so: .*)?": (
        _tempered
    ),
    rf"Its probabilities are off by {N} points on average, more than chance explains: "
    rf"where it gives (.+) {P}, that is right for {P} of {N} rows?\.": _off,
    rf"Warning: {N} attributes? (?:is|are) missing in at least half of the rows: (.+)\.": _gaps,
    r"Warning: '(.+)' alone nearly determines 'y': is it known before the target\?"
    rf"(?: Without '(.+)': {P} \({N} to {P}\)\. To leave it out: --type (.+)=ignore)?": _leak,
    r"Warning: The date '(.+)' tells most about 'y' of all columns, and rows to come have dates not seen here\. .*": (
        _tells_most
    ),
    rf"Warning: {P} of the rows have a copy, equal in all attributes: .*": _copies,
    rf"Warning: {N} of {N} rows \({P}\) have a copy in another fold, so they are not really unseen: .*": (
        lambda s, n, rows, share: number(rows) == len(s.case.judged) and s.leave_one_out and _copies(s, share)
    ),
    r"Class '(.+)' was not judged wholly: .*": lambda s, label: (
        s.of(label) < sum(r[s.case.target] == label for r in s.case.judged)
    ),
    rf"Warning: (?:Class (.+) has|{N} classes, such as (.+), have) fewer than {N} rows, so (?:its|their) scores are "
    r"uncertain\.": _small,
    r"Chosen from .*": lambda s: not s.leave_one_out,
    r"(?:One level occurs|Some levels occur) in a single row \((.+)\); .* --least-count 5 hides them\.": _rare,
    r"likely curve shows what more rows would bring\.": lambda s: True,
    r"Each row was predicted by a model trained on all the others\.": lambda s: s.leave_one_out,
    r"TunedNaiveBayes\(.*\): Left out because they add nothing to the others: .*": lambda s: not s.leave_one_out,
    r"Warning: '(.+)' and '(.+)' depend on each other given 'y' \([\d.]+ bits, p .*\): .*": _redundant,
    rf"Warning: {N} rows have no class or no weight and cannot be used\.": lambda s, n: (
        number(n) == len(s.case.rows) - len(s.case.judged)
    ),
}


# -- tables ---------------------------------------------------------------------------------------------------


def _check_interval(seen: Seen, score: str, low: float, high: float) -> None:
    """Wilson's of a share, Student's t of a mean; the area's stays within 0 and 1."""
    if score == "accuracy":
        bounds = oracle.share_bounds(seen.answers, [a for a in seen.answers if a.named == a.truth], seen.judged.ratio)
        assert (round(100 * bounds[0], 1), round(100 * bounds[1], 1)) == (low, high)
    elif score == "area under ROC":
        assert 0 <= low <= high <= 1
    else:
        bounds = oracle.mean_bounds(
            seen.answers, oracle.brier if score.startswith("Brier") else oracle.log_loss, seen.judged.ratio
        )
        assert (
            abs(bounds[0] - low) < 6e-5 and abs(min(bounds[1], 2 if score.startswith("Brier") else 1e9) - high) < 6e-5
        )


def _scores(seen: Seen, table: Table) -> None:
    two = len(seen.judged.classes) == 2
    figures: dict[str, Callable[[list[Answer]], float]] = {
        "accuracy": lambda a: 100 * oracle.accuracy(a),
        "log loss, bits a row": oracle.log_loss,
        "Brier score, 0 to 2": oracle.brier,
        "area under ROC": lambda a: oracle.area(a, seen.positive),
        "calibration error": lambda a: 100 * oracle.calibration_error(a, seen.positive if two else None),
    }
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        value = cells[table.header[1]].removesuffix(" %")
        figure = figures.pop(cells["score"])
        if value == "infinite":
            assert figure(seen.answers) == math.inf
        else:
            close(value, figure(seen.answers), cells)
        if cells["95 % interval"]:
            low, high = (float(x) for x in cells["95 % interval"].removesuffix(" %").split(" to "))
            assert low <= float(value) <= high, cells
            assert low >= 0 and high <= {"accuracy": 100, "calibration error": 100, "area under ROC": 1}.get(
                row[0], 1e9
            )
        for name in table.header[3:]:
            beside = seen.judged.beside["alone" if name.endswith(" alone") else name]
            shown = cells[name].removesuffix(" %")
            if name == "guessing" and row[0] == "accuracy":
                close(shown, 100 * seen.guess, cells)
            elif name == "guessing" and row[0] == "area under ROC":
                assert shown == "0.5000"
            elif shown == "infinite":
                assert figure(beside) == math.inf
            elif shown:
                close(shown, figure(beside), (name, cells))
    assert set(figures) <= ({"area under ROC"} if not two else set()), "a score is not shown"


def _classes(seen: Seen, table: Table) -> None:
    assert [row[0] for row in table.rows] == list(seen.judged.classes)
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        label = cells["class"]
        rows = seen.of(label)
        if "share" in cells:  # of the whole table, with rows that could not be judged
            rows = math.fsum(seen.case.weigh(r) for r in seen.case.judged if r[seen.case.target] == label)
            percent(cells["share"], rows / math.fsum(map(seen.case.weigh, seen.case.judged)))
        close(cells.get("rows", cells.get("weight", "")), rows)
        for name, value in (
            ("precision", oracle.precision(seen.answers, label)),
            ("recall", oracle.recall(seen.answers, label)),
        ):
            shown, _, bounds = cells[name].partition(" (")
            if value is None:
                assert shown == "–"
                continue
            percent(shown, value, cells)
            if bounds:
                some = [a for a in seen.answers if (a.named if name == "precision" else a.truth) == label]
                expected = oracle.share_bounds(some, [a for a in some if a.named == a.truth], seen.judged.ratio)
                for text, bound in zip(bounds.removesuffix(")").split(" to "), expected, strict=True):
                    close(text, 100 * bound, cells)
        if "area under ROC" in cells and seen.of(label):
            close(cells["area under ROC"], oracle.area(seen.answers, label))


def _confusion(seen: Seen, table: Table) -> None:
    expected = oracle.confusion(seen.answers, seen.judged.classes)
    assert table.header[1:] == [f"→ {c}" for c in seen.judged.classes]
    for row in table.rows:
        for label, cell in zip(seen.judged.classes, row[1:], strict=True):
            close(cell or "0", expected[row[0]][label])


def _lift(seen: Seen, table: Table) -> None:
    prevalence = seen.of(seen.positive) / oracle.weight_of(seen.answers)
    average, chance = groups(r"average precision ([\d.]+), of ([\d.]+) by chance", table.title)
    close(average, oracle.average_precision(seen.answers, seen.positive))
    close(chance, prevalence)
    for part, found, precise, lift in table.rows:
        share = number(part.removesuffix(" %")) / 100
        expected = oracle.lift(seen.answers, seen.positive, share)
        percent(found, expected)
        percent(precise, expected * prevalence / share)
        close(lift.removeprefix("×"), expected / share)


def _subgroups(seen: Seen, table: Table) -> None:
    """Each level by the held-out rows that have it: most rows first, missing cells last, small ones said to be so."""
    (of,) = groups(r"how much of (.+) is predicted and found", table.title)
    assert of == seen.positive
    kinds = {line[0]: line[1] for line in seen.printed.table("How the columns were read").rows}
    known = {n: {row[n] for row in seen.case.judged} - {None} for n in seen.attributes if kinds[n] == "nominal"}
    names = [row[0] for row in table.rows if row[0]]
    assert names == [n for n, levels in known.items() if 1 < len(levels) <= 20]
    _check_cells(seen, names)
    name, before, shown = "", (False, math.inf), dict[str, list[str | None]]()
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        name, before = (cells["attribute"], (False, math.inf)) if cells["attribute"] else (name, before)
        level = None if cells["level"] == "(missing)" else cells["level"]
        some = [a for a in seen.answers if a.cells[name] == level]
        weight = oracle.weight_of(some)
        assert before[0] <= (level is None) and (before[0] < (level is None) or before[1] >= weight - 1e-9), "the order"
        before = level is None, weight
        close(cells["rows"], weight, cells)
        percent(cells["accuracy"], oracle.accuracy(some), cells)
        right = [a for a in some if a.named == a.truth]
        bounds, few, _ = cells["95 % interval"].partition(" (few rows)")
        assert bool(few) == (oracle.effective_rows(some) < 30), cells
        expected = oracle.share_bounds(some, right, seen.judged.ratio)
        for text, bound in zip(bounds.removesuffix(" %").split(" to "), expected, strict=True):
            close(text, 100 * bound, cells)
        percent(cells[f"mean P({of})"], math.fsum(a.weight * a.chances[of] for a in some) / weight, cells)
        percent(cells["share of rows"], oracle.share(some, [a for a in some if a.truth == of]), cells)
        shown.setdefault(name, []).append(level)
    for name in names:  # every level that was answered stands there, once
        assert len(shown[name]) == len({*shown[name]}) and {*shown[name]} == {a.cells[name] for a in seen.answers}


def _check_cells(seen: Seen, names: list[str]) -> None:
    """The rows that were answered are rows of the table, each as often as it is there."""

    def weigh(rows: Iterable[tuple[Mapping[str, str | None], str | None, float]]) -> dict[tuple[Any, ...], float]:
        out: dict[tuple[Any, ...], float] = {}
        for cells, truth, weight in rows:
            key = *(cells[name] for name in names), truth
            out[key] = out.get(key, 0.0) + weight
        return out

    answered = weigh((a.cells, a.truth, a.weight) for a in seen.answers)
    there = weigh((row, row[seen.case.target], seen.case.weigh(row)) for row in seen.case.judged)
    assert all(weight <= there.get(key, 0.0) + 1e-9 for key, weight in answered.items())


def _calibration(seen: Seen, table: Table) -> None:
    """Each bin by the rows whose probability lies in it."""
    two = len(seen.judged.classes) == 2
    pairs = oracle.chances_and_hits(seen.answers, seen.positive if two else None)
    rows = 0.0
    for where, average, observed, _, weight in table.rows:
        low, high = (float(x.removesuffix(" %")) / 100 for x in where.split(" to "))
        inside = [(p, hit, w) for p, hit, w in pairs if low - 5.01e-4 <= p <= high + 5.01e-4]
        assert abs(number(average.removesuffix(" %")) / 100 - (low + high) / 2) <= (high - low) / 2 + 1e-3
        total = math.fsum(w for *_, w in inside)
        if abs(total - number(weight)) < 1e-9:  # edges are rounded: a bin beside it may have rows at the same figure
            percent(average, math.fsum(p * w for p, _, w in inside) / total)
            percent(observed, math.fsum(hit * w for _, hit, w in inside) / total)
        rows += number(weight)
    assert abs(rows - oracle.weight_of(seen.answers)) < 0.01 * len(table.rows) * max(1.0, rows / 100)


def _information(seen: Seen, table: Table) -> None:
    rows = [(row, seen.case.weigh(row)) for row in seen.case.judged]
    labels = {c: math.fsum(w for row, w in rows if row[seen.case.target] == c) for c in seen.judged.classes}
    whole = oracle.entropy([*labels.values()])
    kinds = {line[0]: line[1] for line in seen.printed.table("How the columns were read").rows}
    scale = max(1.0, len(rows) / math.fsum(w for _, w in rows))
    if "bits" in table.header:
        bits = [number(row[1]) for row in table.rows]
        assert bits == sorted(bits, reverse=True)
        moves = evidence_means(seen.model, seen.case)
        assert {row[0] for row in table.rows} == {*moves}
        for name, shown, *_ in table.rows:
            assert between(shown, moves[name]), (name, shown, moves[name])
    for line in table.rows:
        cells = dict(zip(table.header, line, strict=False))
        known = [(row, w) for row, w in rows if row[cells["attribute"]] is not None]
        missing = 1 - math.fsum(w for _, w in known) / math.fsum(w for _, w in rows)
        percent(cells["missing"] or "0 %", missing, cells)
        if kinds[cells["attribute"]] == "nominal":
            pairs = [(str(row[cells["attribute"]]), str(row[seen.case.target]), w) for row, w in known]
            percent(cells["by itself"], oracle.information(pairs, scale) * (1 - missing) / whole, cells)


def _columns(seen: Seen, table: Table) -> None:
    names = [row[0] for row in table.rows]
    assert [name for name in names if not is_part(name)] == list(seen.case.rows[0])
    for name, _, role, why in table.rows:
        assert (role == "target") == (name == seen.case.target)
        levels = {row[name] for row in seen.case.rows} - {None}
        if count := re.fullmatch(rf"{N} levels?", why):
            assert number(count[1]) == len(levels)


def _single_values(seen: Seen, table: Table) -> None:
    rows = [(row, seen.case.weigh(row)) for row in seen.case.judged]
    scale = max(1.0, len(rows) / math.fsum(w for _, w in rows))
    total = math.fsum(w for _, w in rows)
    for attribute, level, weight, label, share, before in table.rows:
        there = {str(row[attribute]) for row, _ in rows}
        percent(before, math.fsum(w for row, w in rows if row[seen.case.target] == label) / total)
        if level not in there:
            continue  # a bin of numbers
        inside = [(row, scale * w) for row, w in rows if row[attribute] == level]
        here = math.fsum(w for _, w in inside)
        hits = math.fsum(w for row, w in inside if row[seen.case.target] == label)
        close(weight, here)
        percent(share, hits / here)


def _differences(seen: Seen, table: Table) -> None:
    """Differences are those of the scores; p is below 5 % where the interval leaves out zero."""
    names = {"guessing": "guessing", "one attribute": "alone", "naive Bayes": "naive Bayes"}
    for against, score, difference, bounds, p in table.rows:
        figure = oracle.accuracy if score == "accuracy" else oracle.log_loss
        beside = seen.judged.beside[names[against]]
        if (against, score) == ("guessing", "accuracy"):
            other = seen.guess
        else:
            other = figure(beside)
        close(difference.lstrip("+"), figure(seen.answers) - other, table.title)
        low, high = (float(x) for x in bounds.split(" to "))
        assert low <= float(difference) <= high
        if abs(float(p.removeprefix("p ").removeprefix("= ").removeprefix("< ")) - 0.05) > 1e-3 and 0 not in (
            low,
            high,
        ):
            assert (low <= 0 <= high) == (p.startswith("p =") and float(p.removeprefix("p = ")) > 0.05), (bounds, p)


TABLES: dict[str, Callable[[Seen, Table], None]] = {
    "Leave-one-out: ": _scores,
    "Scores on held-out rows": _scores,
    "Classes": _classes,
    "Precision and recall": _classes,
    "True class": _confusion,
    "Lift: ": _lift,
    "Scores by subgroup: ": _subgroups,
    "Calibration: ": _calibration,
    "What each attribute reveals": _information,
    "How far each attribute moves": _information,
    "How the columns were read": _columns,
    "Strongest single values": _single_values,
    r".+ less the baselines: ": _differences,
}


def _judge(case: Case, path: Path, each: bool) -> Judged:
    """By naive Bayes that learned from all other rows, or by the rows that the usual model held out."""
    if each:
        return leave_one_out(case, path, likely.NaiveBayes())
    model = likely.look(path, case.target, weight=case.weight).model
    judged = None if model is None else held_out_answers(model)
    assert judged is not None
    return judged


def _check(seen: Seen) -> None:
    for table in seen.printed.tables:
        known = [check for pattern, check in TABLES.items() if re.match(pattern, table.title)]
        assert known, f"Nobody recomputes this table: {table.title}"
        known[0](seen, table)
    check_sentences(seen.printed.sentences, SENTENCES, seen)


@pytest.mark.parametrize("name", CASES)
def test_leave_one_out(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    """Naive Bayes, where each row can be answered by the sums of all others."""
    case = CASES[name]
    path = case.write(tmp_path)
    weight = ("--weight", case.weight) if case.weight else ()
    out = run("look", path.name, case.target, "--learner", "NaiveBayes", "--leave-one-out", "--all", *weight).done().out
    model = likely.fit(path, case.target, likely.NaiveBayes(), weight=case.weight)
    _check(Seen(case, read_printed(out), _judge(case, path, True), True, model, tmp_path))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case.judged) >= 30])
def test_default(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    """The model that `fit` makes, by what it said of the rows that it held out."""
    case = CASES[name]
    path = case.write(tmp_path)
    weight = ("--weight", case.weight) if case.weight else ()
    out = run("look", path.name, case.target, "--all", *weight).done().out
    model = likely.look(path, case.target, weight=case.weight).model
    assert model is not None
    _check(Seen(case, read_printed(out), _judge(case, path, False), False, model, tmp_path))
