"""All learners side by side on the same folds, from shared sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from likely.errors import SettingError, shown
from likely.evaluate.attributes.repetition import holm
from likely.evaluate.crossval.dealing import Dealing, Folds
from likely.evaluate.crossval.folds import draft_folds
from likely.evaluate.crossval.validate import Validation, require_target, validate
from likely.evaluate.scores.intervals import Intervals, Paired, Parts, paired
from likely.evaluate.scores.scores import Scores
from likely.intake.arguments import GivenLearner, read_arguments, read_learner
from likely.intake.options import ReadingOptions
from likely.intake.reading import Reading, with_encoding
from likely.intake.schema import Draft
from likely.models.contracts import Learner, has_trait
from likely.models.field import field_of
from likely.models.learners import changed_settings
from likely.models.model import unread_texts
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.source import Source

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


@dataclass(frozen=True)
class Comparison:
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
    rows.sort(key=lambda r: _rank(r.scores))
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


def _rank(scores: Scores | None) -> tuple[int, float, float]:
    if scores is None:
        return 2, 0.0, 0.0
    infinite = scores.log_loss is None
    return int(infinite), 0.0 if scores.log_loss is None else scores.log_loss, -scores.accuracy
