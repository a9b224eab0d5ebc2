"""Everything that `fit`, `show` and `explain` print of awkward tables, computed once more from rows and answers."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from cli.conftest import Ran
from truth import oracle
from truth.answers import between, evidence_means, held_out_answers
from truth.oracle import Answer
from truth.printed import Printed, Table, read_printed
from truth.sentences import Check, check_sentences, close, groups, number
from truth.tables import CASES, Case, is_part

import likely

N = r"([\d,]+(?:\.\d+)?)"
P = r"(\d+(?:\.\d+)?) %"


@dataclass
class Fitted:
    """A table and the model that `fit` makes of it by itself."""

    case: Case
    model: likely.Model

    @property
    def answers(self) -> list[Answer]:
        judged = held_out_answers(self.model)
        assert judged is not None
        return judged.answers

    @property
    def attributes(self) -> list[str]:
        return [column.name for column in self.model.schema.attributes]

    @property
    def copied(self) -> int:
        """Rows that have an equal in all attributes."""
        cells = [tuple(row[name] for name in self.attributes) for row in self.case.judged]
        return sum(cells.count(c) > 1 for c in cells)

    def weight(self, label: str, name: str | None = None, level: str | None = None) -> float:
        """Of the rows of a class, that have this level."""
        rows = [row for row in self.case.judged if row[self.case.target] == label]
        return math.fsum(self.case.weigh(row) for row in rows if name is None or row[name] == level)


_FITTED: dict[str, tuple[Fitted, Ran, bytes]] = {}
"""What three tests ask about is learned once, as one worker runs the three."""


@pytest.fixture(params=CASES)
def fitted(request: pytest.FixtureRequest, run: Callable[..., Ran], tmp_path: Path) -> tuple[Fitted, Ran]:
    """A model that the command line made, beside the same one made by the library; `m.likely` is its file."""
    case = CASES[request.param]
    if request.param not in _FITTED:
        path = case.write(tmp_path)
        weight = ("--weight", case.weight) if case.weight else ()
        command = "fit", path.name, case.target, "-o", "m.likely", *weight
        ran = run(*command).done()
        model = likely.fit(path, case.target, weight=case.weight)  # a file does not keep answers to held-out rows
        _check_origin(likely.load("m.likely"), model, path.name, shlex.join(["likely", *command]))
        _FITTED[request.param] = Fitted(case, model), ran, Path("m.likely").read_bytes()
    found, ran, content = _FITTED[request.param]
    Path("m.likely").write_bytes(content)
    return found, ran


def _check_origin(kept: likely.Model, model: likely.Model, table: str, command: str) -> None:
    """The file of the command line is that of the library, but for the table, the day and the command."""
    if kept.judgement is not None:
        origin = kept.judgement.origin
        assert origin is not None and (origin.table, origin.command) == (table, command)
        assert abs(datetime.now(UTC).date() - date.fromisoformat(origin.day)) <= timedelta(days=1), origin
        kept = replace(kept, judged=replace(kept.judgement, origin=None))
    assert kept.to_bytes() == model.to_bytes()


# -- fit ------------------------------------------------------------------------------------------------------


def _size(f: Fitted, rows: str, weight: str | None, classes: str, attributes: str) -> bool:
    assert weight is None or close(weight, math.fsum(map(f.case.weigh, f.case.judged)))
    labels = {row[f.case.target] for row in f.case.judged}
    return (number(rows), number(classes), number(attributes)) == (
        len(f.case.judged), len(labels), len(f.attributes)
    )  # fmt: skip


def _held_out(f: Fitted, rows: str | None, accuracy: str, bits: str) -> bool:
    close(accuracy, 100 * oracle.accuracy(f.answers))
    assert (rows is None) == (f.case.weight is not None)
    assert rows is None or number(rows) == round(oracle.weight_of(f.answers)) <= len(f.case.judged)
    return close(bits, oracle.log_loss(f.answers))


LANGUAGES = {"SQL": "sql", "ONNX": "onnx", "PMML": "pmml"}


def _abilities(f: Fitted, words: str) -> bool:
    """What is said to be possible is tried, and so is what is said to be impossible."""
    can = words.partition(" It cannot")[0]
    for name, to in LANGUAGES.items():
        try:
            likely.export(f.model, to, **({"dialect": "duckdb"} if to == "sql" else {}))  # dates have no common syntax
            done = True
        except likely.LikelyError:
            done = False
        assert done == (name in can), (words, name)
    try:
        more = likely.learn(f.model, f.case.judged[:1])
        done = more.summary.rows == f.model.summary.rows + 1
    except likely.LikelyError:
        done = False
    return done == ("can learn" in can)


def _chosen(f: Fitted, count: str, members: str) -> bool:
    """The weights are those with which its members make the model's answers."""
    weights, names = sorted(f.model.weights, reverse=True), re.split(", | and ", members.partition(", its")[0])
    if len(weights) == 1:
        times = re.search(r", its evidence times ([\d.]+)$", members)
        close(times[1] if times else "1.00", weights[0])
    else:
        *names, shares = names
        for share, weight in zip(shares.split(" : "), weights, strict=True):
            close(share, 100 * weight / sum(weights))
    assert len(names) == len(weights) <= number(count)
    return True


def _parts(f: Fitted, date: str, parts: str, before: str, after: str) -> bool:
    """The model reads these parts, and what is announced of it is the lower log loss."""
    assert {f"{date}: {part}" for part in re.split(", | and ", parts)} <= {*f.attributes}
    assert f.model.held_out is not None
    close(after, -f.model.held_out.score / math.log(2))
    return number(before) > number(after)


FIT: dict[str, Check] = {
    rf"m\.likely: {N} rows?(?: that weighs? {N})?, {N} class(?:es)?, {N} attributes?\.": _size,
    rf"On (?:{N} )?held-out rows: accuracy {P}, log loss {N} bits\.": _held_out,
    r"Class '(.+)' was not judged wholly: .*": lambda f, label: (
        oracle.weight_of([a for a in f.answers if a.truth == label]) < f.weight(label)
    ),
    r"(It can (?:be exported|learn).*)": _abilities,
    rf"{N} rows? without a class or weight (?:is|are) left out\.": lambda f, n: (
        number(n) == len(f.case.rows) - len(f.case.judged)
    ),
    rf"{P} of the rows have a copy, equal in all attributes: .*": lambda f, share: close(
        share, 100 * f.copied / len(f.case.judged)
    ),
    rf"Chosen from {N} candidates on held-out rows: (.*)\.": _chosen,
    rf"Dates are also read in parts \('(.+)' by (.+)\): .+ lowered the log loss from {N} to {N} bits\.": _parts,
    r"tuned naive Bayes: Left out because they add nothing to the others: .*": lambda f: len(f.model.members) > 0,
}


def test_fit(fitted: tuple[Fitted, Ran]) -> None:
    case, ran = fitted
    check_sentences((ran.out + ran.err).splitlines(), FIT, case)


# -- show -----------------------------------------------------------------------------------------------------


def _levels(f: Fitted, name: str, table: Table) -> None:
    """Counts of levels, and P(level | class): the share in training, or smoothed by one where naive Bayes is shown."""
    smoothed = "the probability of each level" in table.title
    labels = [h[2:-1] for h in table.header if h.startswith("n(")]
    assert labels == list(f.model.classes)
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        for label in labels:
            count, of_class = f.weight(label, name, cells["level"]), 0.0
            known = [r for r in f.case.judged if r[name] is not None and r[f.case.target] == label]
            of_class = math.fsum(f.case.weigh(r) for r in known)
            close(cells[f"n({label})"], count)
            p = (count + 1) / (of_class + len(table.rows)) if smoothed else count / of_class if of_class else None
            if p is not None:
                close_digits(cells[f"P(level|{label})"], p)


def close_digits(text: str, value: float) -> None:
    """Four significant digits, trailing zeros dropped."""
    assert math.isclose(number(text), value, rel_tol=6e-4, abs_tol=1e-12), (text, value)


def _values(f: Fitted, name: str, table: Table) -> None:
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        rows = [r for r in f.case.judged if r[f.case.target] == cells["class"]]
        x = [(float(r[name] or 0), f.case.weigh(r)) for r in rows if r[name] is not None]
        total = math.fsum(w for _, w in x)
        close(cells["weight"], total)
        mean = math.fsum(v * w for v, w in x) / total
        close_digits(cells["mean"], mean)
        close_digits(cells["min"], min(v for v, _ in x))
        close_digits(cells["max"], max(v for v, _ in x))
        if len(x) > 1 and f.case.weight is None:
            close_digits(cells["sd"], math.sqrt(math.fsum((v - mean) ** 2 for v, _ in x) / (total - 1)))


def _evidence(f: Fitted, name: str, table: Table) -> None:
    """The bits of a level are those of its line in an explanation of a row that has nothing else."""
    first, second = groups(r"for (.+) \(to the right\) against (.+)", table.title)
    assert {first, second} == set(f.model.classes)
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=False))
        if "level" not in cells:
            continue
        bare = replace(f.model, references=None)  # what the value adds beside others, so unknown cells are left out
        found, nothing = bare.posterior({name: cells["level"]}), bare.posterior({name: None})
        odds = [math.log2(p.prob(first) / p.prob(second)) for p in (found, nothing)]
        assert abs(number(cells["bits"]) - (odds[0] - odds[1])) < 0.006, (cells, odds)


def _pair(f: Fitted, table: Table) -> None:
    """What two levels say beyond what each says by itself."""
    one, other, label = groups(r"(.+) × (.+) \(columns\): bits for (.+) beyond", table.title)
    against = next(c for c in f.model.classes if c != label)
    if any(f.model.schema[name].kind != "nominal" for name in (one, other)):
        return  # bins, of which no single value is known

    def odds(**values: str) -> float:
        found = replace(f.model, references=None).posterior({one: None, **values})
        return math.log2(found.prob(label) / found.prob(against))

    for row in table.rows:
        for level, bits in zip(table.header[1:], row[1:], strict=True):
            expected = odds(**{one: row[0], other: level}) - odds(**{one: row[0]}) - odds(**{other: level}) + odds()
            assert abs(number(bits) - expected) < 0.006, (row, expected)


def _together(f: Fitted, table: Table) -> None:
    """What two attributes share, in the mean over rows: half of it stands in the line of each."""
    total = math.fsum(map(f.case.weigh, f.case.judged))
    for pair, bits, *_ in table.rows:
        name, other = pair.split(" × ")
        shared = []
        for row in f.case.judged:
            ledger = likely.explain(f.model, {n: row[n] for n in f.attributes})
            lines = {e.name: e for e in ledger.entries}
            logs = [
                p.log_ratio or 0.0
                for one, two in ((name, other), (other, name))
                for p in lines[one].parts
                or (replace(lines[one], name=lines[one].note.removeprefix("taken together ")),)
                if p.name == f"with {two}"
            ]
            shared.append(abs(math.fsum(logs)) * f.case.weigh(row))
        close(bits, math.fsum(shared) / total / math.log(2))


def _moves(f: Fitted, table: Table) -> None:
    """How far attributes move the answers: those of explanations, the strongest first; none is left out."""
    expected = evidence_means(f.model, f.case)
    bits = [number(row[1]) for row in table.rows]
    assert bits == sorted(bits, reverse=True)
    assert {row[0] for row in table.rows} == {*expected}
    for name, shown, *_ in table.rows:
        assert between(shown, expected[name]), (name, shown, expected[name])


def _candidates(f: Fitted, table: Table) -> None:
    """Those with weight are the members, by their weights; each says what it is worth alone."""
    weights = [number(row[1]) for row in table.rows]
    assert weights == sorted(weights, reverse=True)
    for shown, weight in zip((row[1] for row in table.rows), sorted(f.model.weights, reverse=True), strict=False):
        close_digits(shown, weight)
    assert not any(weights[len(f.model.weights) :])
    losses = [number(row[2]) for row in table.rows[len(f.model.weights) :]]
    assert losses == sorted(losses) and all(loss > 0 for loss in losses)


def _columns(f: Fitted, table: Table) -> None:
    assert [row[0] for row in table.rows] == [*f.model.schema.names]
    for name, _, role, about in table.rows:
        assert (role == "target") == (name == f.case.target)
        if count := re.fullmatch(rf"{N} levels?", about):
            whole = {"weekday": 7, "month": 12}.get(name.rpartition(": ")[2]) if is_part(name) else None  # known before
            assert number(count[1]) == (whole or len({row[name] for row in f.case.judged} - {None}))


def _classes(f: Fitted, table: Table) -> None:
    for row in table.rows:
        close(row[1], f.weight(row[0]))
        close_digits(row[2], f.weight(row[0]) / math.fsum(map(f.case.weigh, f.case.judged)))


MODEL: dict[str, Callable[[Fitted, Table], None]] = {
    "Classes": _classes,
    "Columns": _columns,
    "How far each attribute moves": _moves,
    "What two attributes say together": _together,
    r".+ × .+ \(columns\): bits for": lambda f, table: _pair(f, table) if len(f.model.classes) == 2 else None,
    "Candidates on ": _candidates,
    "How (?:boosting|the search) stopped|Weights of ": lambda f, table: None,  # what one learner found, as it found it
}


def _origin(f: Fitted, learner: str, rows: str, weight: str | None, left: str | None) -> bool:
    if type(f.model.learner).__name__ == "Auto":
        assert _chosen(f, str(len(f.model.weights)), learner)
    else:
        assert learner == f"{type(f.model.learner).__name__} with the usual settings"
    assert (weight is None) == (f.case.weight is None)
    assert weight is None or close(weight, math.fsum(map(f.case.weigh, f.case.judged)))
    assert number(left or "0") == len(f.case.rows) - len(f.case.judged)
    return number(rows) == len(f.case.judged)


def _judged(f: Fitted, share: str, low: str, high: str, rows: str | None, label: str, guess: str) -> bool:
    """The file knows what was said of held-out rows: the figures of `look`, with the same bounds."""
    judged = held_out_answers(f.model)
    assert judged is not None and label == oracle.majority(judged.answers, judged.classes)
    right = [a for a in judged.answers if a.named == a.truth]
    for text, bound in zip((low, high), oracle.share_bounds(judged.answers, right, judged.ratio), strict=True):
        close(text, 100 * bound)
    assert (rows is None) == (f.case.weight is not None)
    assert rows is None or number(rows) == round(oracle.weight_of(judged.answers))
    return close(share, 100 * oracle.accuracy(judged.answers)) and close(
        guess, 100 * oracle.guess(judged.answers, judged.classes)
    )


SHOW: dict[str, Check] = {
    rf"y by (.+?), from {N} rows?(?: that weighs? {N})?(?: \({N} rows? left out\))?": _origin,
    rf"Accuracy {P} \({N}–{N} %\) on (?:{N} )?held-out rows; always guessing (.+) gets {P}\.": _judged,
    r"Not judged: NaiveBayes holds no rows out\. To judge it: likely look DATA y --learner NaiveBayes": lambda f: (
        held_out_answers(f.model) is None
    ),
    r"The bits of two attributes are what they share of what they, and perhaps others, say together\.": lambda f: (
        f.model.importance is not None and len(f.model.importance.together) > 0
    ),
    **FIT,
}


def test_show(fitted: tuple[Fitted, Ran], run: Callable[..., Ran]) -> None:
    f, _ = fitted
    printed = read_printed(run("show", "m.likely").done().out)
    check_sentences(printed.sentences, SHOW, f)
    for table in printed.tables:
        known = [check for pattern, check in MODEL.items() if re.match(pattern, table.title)]
        assert known, f"Nobody recomputes this table: {table.title}"
        known[0](f, table)
    for column in f.model.schema.attributes:
        if column.name.startswith(("a <", 'b"')):
            continue  # names that must be cleaned are shown cut; tests/cli has them
        one = read_printed(run("show", "m.likely", column.name).done().out)
        for table in one.tables:
            if table.title.startswith("Counts"):
                _levels(f, column.name, table)
            elif table.title == "Values" and column.kind == "number":
                _values(f, column.name, table)
            elif table.title.startswith("Evidence in bits") and len(f.model.classes) == 2:
                _evidence(f, column.name, table)
            elif " × " in table.title and len(f.model.classes) == 2:
                _pair(f, table)
            elif table.title == "What it says together with others":
                if all(row[n] is not None for row in f.case.judged for n in f.attributes):
                    _together(f, table)
            elif not table.title.startswith(("Evidence", "What it adds", "Values")):
                raise AssertionError(f"Nobody recomputes this table: {table.title}")


# -- explain --------------------------------------------------------------------------------------------------


def _times(words: str) -> float | None:
    """How many times as likely, in words."""
    if "about as likely" in words:
        return 1.0
    found = re.search(r"(once|twice|three|four|five|six|seven|eight|nine|ten|[\d,.]+)(?: times)? as likely", words)
    if found is None:
        return None
    if power := re.search(r"10\^([\d.]+) times", words):
        return 10 ** float(power[1])
    names = ["once", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return float(names.index(found[1]) + 1) if found[1] in names else number(found[1])


def test_explain(fitted: tuple[Fitted, Ran], run: Callable[..., Ran]) -> None:
    """Lines add up, to the probability that is said; what each is worth in words is what it is worth in bits."""
    f, _ = fitted
    for row in (f.case.judged[0], f.case.judged[-1]):
        values = {name: row[name] for name in f.attributes if row[name] is not None}
        found = f.model.posterior(values)
        ran = run("explain", "m.likely", *(f"{n}={v}" for n, v in values.items())).done()
        printed = read_printed(ran.out)
        _check_headline(printed, found, f)
        tables = [t for t in printed.tables if t.title.startswith("Evidence for ")]
        if tables:
            _check_ledger(tables[0], found)


def _check_headline(printed: Printed, found: likely.Posterior, f: Fitted) -> None:
    (share,) = groups(rf"^{re.escape(f.case.target)} is .+? \((?:more than )?{P}\)", printed.sentences[0])
    top = max(found.prob(c) for c in f.model.classes)
    close(share, 100 * top)
    tied = [c for c in f.model.classes if abs(found.prob(c) - top) < 1e-12]
    assert found.best == tied[0]
    said = [s for s in printed.sentences if "are equally probable" in s]
    assert said == ([f"{tied[0]} and {tied[1]} are equally probable; {tied[0]} comes first."] if len(tied) == 2 else [])


def _check_ledger(table: Table, found: likely.Posterior) -> None:
    first, second = groups(r"Evidence for (.+?) \(to the right\) against (.+)", table.title)
    lines = [dict(zip(table.header, row, strict=False)) for row in table.rows]
    bits = [number(line["bits"]) for line in lines if line["bits"]]
    *parts, together = bits
    assert abs(math.fsum(parts) - together) <= 0.0051 * (len(parts) + 1), table.lines
    if first in found.classes and second in found.classes and found.prob(second) > 0:
        assert abs(together - math.log2(found.prob(first) / found.prob(second))) < 0.006
    for line, row in zip(lines, table.rows, strict=True):
        times = _times(row[-1])
        if line["bits"] and times is not None:
            exact = 2 ** abs(number(line["bits"]))
            assert 0.88 * exact <= times <= 1.13 * exact, row
            if times > 1.05:
                speaks = first if number(line["bits"]) > 0 else second
                assert speaks in row[-1], row
