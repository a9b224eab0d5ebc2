"""All learners side by side on the same folds; and what naive Bayes counts twice, with what would change that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Unpack, cast

import numpy as np

from likely.errors import SettingError, shown
from likely.evaluate.attributes.redundancy import RepeatedPair, Sampler, holm, outside
from likely.evaluate.crossval.dealing import Dealing, Folds
from likely.evaluate.crossval.folds import draft_folds
from likely.evaluate.crossval.validate import Validation, check_whole, require_target, validate
from likely.evaluate.scores.intervals import Intervals, Paired, Parts, paired
from likely.evaluate.scores.scores import Scores
from likely.intake.reading import (
    GivenLearner,
    Reading,
    ReadingOptions,
    read_arguments,
    read_learner,
    try_dates,
    with_encoding,
)
from likely.intake.schema import Draft
from likely.machinery.presented import Presented
from likely.models.contracts import Learner, Learning, Model, has_trait
from likely.models.default import default_learner, field_of
from likely.models.learning import begin, learning
from likely.models.model import unread_texts
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.product import only_factors
from likely.models.registry import changed_settings
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.summary import Summary
from likely.table.schema import Schema
from likely.table.source import Source

# All learners side by side on the same folds, from shared sweeps.

Validate = Callable[..., Validation]
"""`validate`, or what does the same for rows that are elsewhere."""


@dataclass(frozen=True)
class Compared:
    """One learner: its scores, or why it could not learn."""

    name: str
    learner: str
    settings: dict[str, Any]
    scores: Scores | None
    refused: str = ""
    proper: bool = True
    """Whether it gives probabilities; else its log loss and Brier score are those of normalised scores."""
    notes: tuple[str, ...] = ()
    """What searches say of how they ended: not converged, classes that are separable."""
    intervals: Intervals | None = None
    """The scores with 95 % bounds."""
    against: tuple[Paired, ...] = ()
    """How log loss, accuracy and Brier score differ from those of the first learner, on the same folds."""


@dataclass(frozen=True, repr=False)
class Comparison(Presented):
    """Learners on the same folds, best log loss first; those that refused last."""

    source: str
    target: str
    rows: int
    dealing: Dealing
    """How rows were dealt to folds."""
    learners: tuple[Compared, ...]
    notes: tuple[str, ...] = ()
    """What holds for several of them, or for how rows were dealt."""

    def json(self) -> bytes:
        """The whole record as one object of JSON."""
        tree = state.plain(self)
        return state.as_json(tree | tree.pop("dealing"))


def compare(
    data: object,
    target: object = None,
    learners: Mapping[str, GivenLearner] | Sequence[str] | None = None,
    *,
    also: Mapping[str, GivenLearner] | Sequence[str] | None = None,
    folds: int = 10,
    seed: int = 0,
    repeats: int = 1,
    group: str | None = None,
    time: str | None = None,
    leave_one_out: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Comparison:
    """Cross-validate learners side by side; by default one of each kind. `reading` takes what `summarize` takes.

    `learners` gives each a name of its own: {"3 nearest": Neighbors(k=3), "10 nearest": Neighbors(k=10)}, or lists
    them as they are written: ["NaiveBayes", "Neighbors(k=3)"]; those of `also` are compared with them, or with one of
    each kind. `group` and `time` name columns that rows are dealt to folds by. Every learner is set against the best
    one by a paired test that allows for folds sharing rows.

    >>> table = {"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> [one.name for one in compare(table, "y", folds=5).learners if one.scores is not None][-1]
    'Prior'
    """
    data, how = read_arguments(data, target, reading)
    asked = Folds(folds, seed, repeats, group, time, leave_one_out)
    chosen = None if learners is None else _read_learners(learners)
    others = _read_learners(also) if also else {}

    def work(source: Source) -> Comparison:
        return compared(source, how, chosen, others, asked)

    return with_encoding(data, how, work)


def _read_learners(given: object) -> dict[str, Learner]:
    """Learners by name; refuse what is none."""
    like = """such as {"3 nearest": likely.Neighbors(k=3)}"""
    if isinstance(given, (list, tuple)) and given and all(isinstance(name, str) for name in given):
        given = {name: name for name in given}
    if not isinstance(given, Mapping) or not given:
        raise SettingError(f"learners is {shown(given)}. Give a dict with a name for each learner, {like}.")
    out: dict[str, Learner] = {}
    for name, learner in given.items():
        if not isinstance(name, str) or not isinstance(learner, (str, type, Learner)):
            raise SettingError(f"learners has {shown(learner)} under {shown(name)}. Give names and learners, {like}.")
        found = read_learner(learner)
        assert found is not None
        out[name] = found
    return out


def compared(
    source: Source,
    reading: Reading,
    learners: Mapping[str, Learner] | None,
    also: Mapping[str, Learner],
    folds: Folds,
    validate: Validate = validate,
    draft: Callable[[Source, Reading, Folds], Draft] = draft_folds,
) -> Comparison:
    """`compare` of a source; who sweeps it elsewhere than here says how it is drafted and validated."""
    reading = try_dates(reading, [*({"": None} if learners is None else learners).values(), *also.values()])
    first = draft(source, reading, folds)
    target = require_target(first.schema)
    chosen: dict[str, Learner] = {**(learners or {}), **also}
    left: dict[str, str] = {}

    def field(total: Summary) -> Mapping[str, Learner]:
        nonlocal chosen, left
        if learners is None:
            chosen, left = field_of(total.rows, any(c.kind == "text" for c in total.schema.attributes))
            chosen = {**chosen, **also}
        return chosen

    found = validate(source, first, reading, field, folds)
    total = found.total
    if total.rows < 2 * folds.count and folds.count > 2 and folds.plain:
        # Fewer than two rows a fold: fewer folds, as `look` does.
        fewer = replace(folds, count=max(2, total.rows // 2))
        return compared(source, reading, learners, also, fewer, validate, draft)
    rows, texts = [], [c.name for c in total.schema.attributes if c.kind == "text"]
    unread = unread_texts(total.without_text().schema)  # said once, of all learners
    for name, learner in chosen.items():
        scores = found.scorers[name].read(found.times) if name in found.scorers else None
        about = type(learner).__name__, changed_settings(learner)
        told = tuple(note for note in found.notes.get(name, ()) if note not in unread)
        why, bounds = found.refused.get(name, ""), None if scores is None else found.bounds(name)
        rows.append(Compared(name, *about, scores, why, name not in found.improper, told, bounds))
    rows += [Compared(name, name, {}, None, why) for name, why in left.items()]
    rows.sort(key=lambda r: _rank_scores(r.scores))
    readers = "only NaiveBayes and TextLogistic can use; the others leave it out."
    notes = [f"{shown(t)} is free text, which {readers}" for t in texts]
    if all(has_trait(learner, "reads text") for learner in chosen.values()):
        notes = []
    ranked = _set_against(rows, found.parts)
    return Comparison(
        source.name,
        target.name,
        total.rows,
        Dealing(found.folds, folds.seed, folds.repeats, folds.how, folds.column),
        tuple(ranked),
        (*notes, *source.notes, *found.told),
    )


def _set_against(rows: list[Compared], parts: Mapping[str, Parts]) -> list[Compared]:
    """Every learner that was scored against the first, with p-values that account for how many there are."""
    scored = [one for one in rows if one.scores is not None]
    against: dict[str, list[Paired]] = {one.name: [] for one in rows}
    for score in ("log_loss", "accuracy", "brier"):
        pairs = {one.name: paired(parts[one.name], parts[scored[0].name], scored[0].name, score) for one in scored[1:]}
        some = [(name, pair) for name, pair in pairs.items() if pair is not None]
        corrected = holm([pair.p for _, pair in some])
        for (name, pair), p in zip(some, corrected, strict=True):
            against[name].append(replace(pair, p_of_all=p))
    return [replace(one, against=tuple(against[one.name])) for one in rows]


def _rank_scores(scores: Scores | None) -> tuple[int, float, float]:
    if scores is None:
        return 2, 0.0, 0.0
    infinite = scores.log_loss is None
    return int(infinite), 0.0 if scores.log_loss is None else scores.log_loss, -scores.accuracy


# What naive Bayes counts twice, and what joining the two or leaving one out would change, on rows not learned from.

AS_IT_IS = "as it is"


@dataclass(frozen=True)
class RepeatChange:
    """One way to count a pair once: what cross-validation gives, or why it cannot be done."""

    name: str
    """'joined', or 'without' and the attribute that is left out."""
    joined: bool
    without: str | None
    scores: Scores | None
    refused: str = ""


@dataclass(frozen=True)
class LevelOdds:
    """What a level that was entered twice does: odds of the class that it speaks for most, against all others."""

    level: str
    name: str
    """The class."""
    before: float | None
    """Without either; None where they are infinite."""
    once: float | None
    twice: float | None


@dataclass(frozen=True)
class Counted:
    """A pair that is counted twice, and what might be done about it, the best log loss first."""

    pair: RepeatedPair
    changes: tuple[RepeatChange, ...]
    odds: tuple[LevelOdds, ...] = ()
    """Of two that are the same, for each level: what the model says with neither, one, and both of them."""


@dataclass(frozen=True, repr=False)
class Repeats(Presented):
    """Everything `likely repeats` shows."""

    source: str
    target: str
    rows: int
    folds: int
    seed: int
    scores: Scores
    """Of naive Bayes as it is."""
    counted: tuple[Counted, ...]
    """The pairs that matter, the worst first."""
    pairs: tuple[RepeatedPair, ...]
    """Every pair that was looked at."""

    def json(self) -> bytes:
        """The whole record as JSON."""
        return state.as_json(state.plain(self))


@dataclass(frozen=True)
class _Without:
    """Naive Bayes without one attribute: a product without its factor."""

    learner: NaiveBayes
    name: str

    def needs(self, schema: Schema) -> frozenset[str]:
        return self.learner.needs(schema)

    def learn(self, summary: Summary) -> Learning[Model]:
        model = yield from learning(self.learner, summary)
        return only_factors(model, [f.name for f in model.factors if f.name != self.name])


def without(learner: NaiveBayes, name: str) -> Learner:
    """The learner without an attribute, also where a block has it."""
    fewer = (tuple(n for n in block if n != name) for block in learner.blocks)
    return _Without(replace(learner, blocks=tuple(block for block in fewer if block)), name)


def joined(learner: NaiveBayes, pair: RepeatedPair) -> NaiveBayes:
    """The learner with the two in one block, together with what they are joined with already."""
    near = [block for block in learner.blocks if pair.one in block or pair.other in block]
    whole = tuple(dict.fromkeys([pair.one, pair.other, *(n for block in near for n in block)]))
    return replace(learner, blocks=(*(block for block in learner.blocks if block not in near), whole))


def repeats(
    data: object,
    target: object = None,
    learner: GivenLearner = None,
    *,
    most: int = 3,
    folds: int = 10,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> Repeats:
    """Attributes that naive Bayes counts twice, and for the `most` worst pairs the scores of ways to count them once.

    `reading` takes what `summarize` takes.

    >>> import random; chance = random.Random(0)
    >>> y = [chance.choice("ab") for _ in range(400)]
    >>> x = [c if chance.random() < 0.8 else chance.choice("ab") for c in y]
    >>> found = repeats({"x": x, "again": x, "y": y}, "y")
    >>> [(c.pair.one, c.pair.other) for c in found.counted]
    [('x', 'again')]
    """
    chosen = read_learner(learner) or default_learner("textbook").learner
    if not has_trait(chosen, "independent"):
        raise SettingError(
            f"{type(chosen).__name__} does not assume independent attributes, so it counts none twice. "
            "Look for repeats with NaiveBayes."
        )
    naive, pairs = cast(NaiveBayes, chosen), check_whole("most", most, 0, 50)
    data, how = read_arguments(data, target, reading)
    return with_encoding(data, how, lambda source: _repeats(source, how, naive, pairs, folds, seed))


def _repeats(source: Source, reading: Reading, learner: NaiveBayes, most: int, folds: int, seed: int) -> Repeats:
    first = draft_folds(source, reading, Folds(folds, seed))
    target = require_target(first.schema)
    found = validate(source, first, reading, {AS_IT_IS: learner}, folds, seed, Sampler)
    total = found.total
    if total.rows < 2 * folds and folds > 2:
        # Fewer than two rows a fold: fewer folds, as `look` does.
        return _repeats(source, reading, learner, most, max(2, total.rows // 2), seed)
    if AS_IT_IS in found.refused:
        raise SettingError(found.refused[AS_IT_IS])
    pairs = outside(reduce(add, found.extras).pairs(), learner.blocks)
    worst = [p for p in pairs if p.matters][:most]
    ways: dict[str, Learner] = {}
    for k, pair in enumerate(worst):
        ways[f"{k} joined"] = joined(learner, pair)
        ways[f"{k} one"], ways[f"{k} other"] = without(learner, pair.one), without(learner, pair.other)
    tried = validate(source, first, reading, ways, folds, seed) if ways else found

    def change(key: str, name: str, gone: str | None) -> RepeatChange:
        scores = tried.scorers[key].read() if key in tried.scorers else None
        return RepeatChange(name, gone is None, gone, scores, tried.refused.get(key, ""))

    counted = []
    for k, pair in enumerate(worst):
        changes = [change(f"{k} joined", "joined", None)]
        for key, name in ((f"{k} one", pair.one), (f"{k} other", pair.other)):
            changes.append(change(key, f"without {shown(name, 40)}", name))
        odds = _level_odds(learner, total, pair) if pair.same else ()
        counted.append(Counted(pair, tuple(sorted(changes, key=_rank_change)), odds))
    scores = found.scorers[AS_IT_IS].read()
    return Repeats(source.name, target.name, total.rows, folds, seed, scores, tuple(counted), pairs)


def _level_odds(learner: NaiveBayes, total: Summary, pair: RepeatedPair) -> tuple[LevelOdds, ...]:
    """The odds that the model itself gives, level by level."""
    statistic = total.columns[pair.one]
    model = begin(learner, total)
    if not isinstance(statistic, Counts) or not isinstance(model, Model) or len(model.classes) < 2:
        return ()
    out = []
    for level in statistic.labels.names:
        rows = [{}, {pair.one: level}, {pair.one: level, pair.other: level}]
        odds = []
        for row in rows:
            p = model.posterior(row).matrix[0]
            with np.errstate(divide="ignore", invalid="ignore"):
                odds.append(p / (1 - p))
        with np.errstate(divide="ignore", invalid="ignore"):
            best = int(np.nanargmax(odds[1] / odds[0])) if np.isfinite(odds[1] / odds[0]).any() else 0
        before, once, twice = (_finite(float(o[best])) for o in odds)
        out.append(LevelOdds(level, model.classes[best], before, once, twice))
    return tuple(out)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rank_change(change: RepeatChange) -> tuple[int, float]:
    if change.scores is None:
        return 2, 0.0
    loss = change.scores.log_loss
    return (1, -change.scores.accuracy) if loss is None else (0, loss)
