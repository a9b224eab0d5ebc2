"""From a table to a summary and a model: open, infer the schema, sweep, settle, learn. Knows no learner's insides."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from likely.errors import FileFormatError, NotLearned, SettingError, shown
from likely.intake.further import extend_summary, run_search
from likely.intake.guessing import guessed
from likely.intake.knowledge import summary_from_knowledge
from likely.intake.observe import summed
from likely.intake.reading import Progress, Reading, with_encoding
from likely.intake.schema import Draft, check_rows, check_strays, finalize_schema
from likely.intake.store.by_file import summarize_by_file
from likely.models.contracts import Learner, Model, Restores, Search, setting_of
from likely.models.default import default_learner
from likely.models.learners import LEARNERS
from likely.probability.loss import Loss, parse_loss
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.encode import Encoder
from likely.table.schema import Schema
from likely.table.source import Source
from likely.table.words.tokens import Tokens


def summarize(
    data: object,
    target: str | None = None,
    *,
    types: Mapping[str, str] | None = None,
    missing: Sequence[str] | None = None,
    weight: str | None = None,
    target_bins: int | Sequence[float] | None = None,
    schema: Schema | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    more: Collection[str] = (),
    encoding_errors: str = "strict",
    tokens: Tokens | Mapping[str, Tokens] | None = None,
    keep: str | os.PathLike[str] | None = None,
    skip_bad: bool = False,
    push: bool = False,
    remark: Callable[[str], None] | None = None,
) -> Summary:
    """One sweep over a table: everything that any learner needs.

    `data` is a path, a glob, a folder, "-", a dict, a list of dicts, or any DataFrame. `more` names statistics beyond
    the first order (products, pairs, cells, rows), or is the `more` of another summary, to which this one can then be
    added: numbers are then cut where that one cut them. `keep` names a folder in which the sums of each file are kept,
    so that the next time only new and changed files are read; `skip_bad` leaves out files that cannot be read; `push`
    lets a database count for itself. `remark` is told, in sentences, what happened on the way.

    >>> s = summarize({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> s.classes, s.rows
    (('no', 'yes'), 3)
    """
    reading = Reading(
        target,
        types,
        missing,
        weight,
        target_bins,
        schema,
        encoding,
        delimiter,
        threads,
        progress,
        encoding_errors,
        tokens,
        keep,
        skip_bad,
        push,
        remark,
    )
    like = more if isinstance(more, Mapping) else None
    if reading.by_file and like is None:
        return summarize_by_file(data, reading, lambda schema: frozenset(more))[1]
    reading = replace(reading, keep=None)

    def work(source: Source) -> Summary:
        return summarize_source(source, reading, lambda schema: frozenset(more), like)

    return with_encoding(data, reading, work)


def summarize_source(
    source: Source,
    reading: Reading,
    wanted: Callable[[Schema], frozenset[str]],
    like: Mapping[str, Any] | None = None,
) -> Summary:
    """The sums of a source, with those beyond the first order that are wanted of its columns."""
    first, whole, encoders = _pushed(source, reading) if reading.push else guessed(source, reading)
    if whole is None:
        whole, encoders = swept(source, first.schema, reading)
    check_strays(encoders, first, whole.rows + whole.left_out)
    summary, _ = finalize_schema(first, whole)
    check_rows(summary, source)
    if reading.push and wanted(summary.schema):
        reading.tell("This learner asks for more than counts of each column, so all rows were read for that.")
    return extend_summary(source, summary, wanted(summary.schema), reading, like)


def _pushed(source: Source, reading: Reading) -> tuple[Draft, Summary | None, list[Encoder]]:
    """What `guessed` gives, from counts that a database made; its drivers are imported on demand."""
    from likely.intake.database import pushed

    first, counted = pushed(source, reading)
    return first, counted.summary, [Encoder(first.schema, strays=dict(counted.strays))]


def swept(source: Source, schema: Schema, reading: Reading) -> tuple[Summary, list[Encoder]]:
    """The sums of the first order of a source that is read as the schema says, and the encoder that read it."""
    found = summed(source, schema, reading.threads, reading.progress)
    return found.summary, [Encoder(schema, strays=dict(found.strays))]


def fit(
    data: object,
    target: str | None = None,
    learner: Learner | None = None,
    *,
    loss: Loss | Mapping[str, Any] | None = None,
    **reading: Any,
) -> Model:
    """Sweep and learn in one call; `reading` takes what `summarize` takes.

    Without a learner, `Auto` chooses. Naive Bayes learns from fewer than 100 rows, which are too few for that, from
    more than 200,000, which take minutes, and where `keep` or `push` spare the rows another reading. The model keeps
    `loss`, and decides by it where no other is given. Without data (None) it is made of the learner's knowledge alone;
    `learn` then goes on from rows.

    >>> model = fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> model.predict({"sky": "sun"})
    'yes'
    """
    how = Reading(target, **reading)
    costs = Loss.of(loss)

    def work(source: Source) -> Model:
        summary = summarize_source(source, how, needs)
        learned = chosen(summary).learn(summary)
        if how.push and isinstance(learned, Search):
            how.tell("This learner must see the rows themselves, so all rows were read for that.")
        return with_loss(run_search(source, learned, summary, how), costs)

    def needs(schema: Schema) -> frozenset[str]:
        return frozenset() if learner is None else learner.needs(schema)

    def chosen(summary: Summary) -> Learner:
        if learner is not None:
            return learner
        # What is kept by file or counted in a database is so in order not to see the rows again.
        return default_learner("sums" if how.keep is not None or how.push else "fit", summary).learner

    if data is None:
        alone = learner or default_learner("sums").learner
        return with_loss(_derive(alone, summary_from_knowledge(alone, how), {}), costs)
    if how.by_file:
        files, whole = summarize_by_file(data, how, needs)
        return with_loss(run_search(files, chosen(whole).learn(whole), whole, how), costs)
    return with_encoding(data, how, work)


def with_loss(model: Model, loss: Loss | None) -> Model:
    """The model with its loss; a class that the loss does not name is refused now, not at the first decision."""
    if loss is not None:
        loss.check(model.classes)
    return _with_loss(model, loss)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file, or a summary that was saved by itself.

    >>> import os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "m.likely")
    >>> fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="play", types={"sky": "nominal"}).save(place)
    >>> load(place).predict({"sky": "sun"})
    'yes'
    """
    return model_from_tree(state.read(path), shown(os.path.basename(path)))


def model_from_tree(tree: dict[str, Any], name: str) -> Any:
    """The model or summary of a tree that a file held; `name` is what to call it in a sentence."""
    if "summary" not in tree:
        raise FileFormatError(f"{name} holds neither a model nor a summary.")
    try:
        summary = Summary.from_state(tree["summary"]).canonical()
        if "learner" not in tree:
            return summary
        maker = tree["learner"]["name"]
        if maker not in LEARNERS:
            raise FileFormatError(
                f"{name} was made by the learner {shown(maker)}, which this version does not have. Upgrade likely."
            )
        learner: Learner = state.built(LEARNERS[maker], tree["learner"]["settings"])
        found = dict(tree["found"])
        loss = parse_loss(tree["loss"]) if "loss" in tree else None
    except (AttributeError, LookupError, SettingError, TypeError, ValueError):
        raise FileFormatError(f"{name} holds something that this version cannot read. Make it again.") from None
    return _with_loss(_derive(learner, summary, found), loss)


def _with_loss(model: Model, loss: Loss | None) -> Model:
    """The model with what its decisions cost; learners know nothing of that."""
    return model if loss is None else replace(model, loss=loss)


def _derive(learner: Learner, summary: Summary, found: dict[str, Any]) -> Model:
    """The model of a summary: derived anew, or, where a search had found it, as it was found."""
    if found:
        assert isinstance(learner, Restores)
        return learner.restored(summary, found)
    model = learner.learn(summary)
    if isinstance(model, Search):
        without = model.blind()
        if without is None:
            raise SettingError(
                f"{type(learner).__name__} must see the rows themselves to learn. Fit it on all rows: likely fit."
            )
        return without
    return model


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; a summary alone is learned from with the usual settings."""
    held = load(path)
    return held if isinstance(held, Model) else _derive(default_learner("sums").learner, held.without(held.more), {})


def merge_files(paths: Sequence[str | os.PathLike[str]]) -> Any:
    """Several model files as one, with the settings of the first."""
    held = [load(path) for path in paths]
    whole = reduce(add, (h.summary if isinstance(h, Model) else h for h in held))
    return relearn(held[0], whole)


def learn(held: Model | Summary, data: object, **reading: Any) -> Any:
    """A model (or summary) that has learned the rows of a table as well, or those of another model's file.

    The result is the same, to the last bit, as fitting all rows at once, under the schema and settings of the model.

    >>> model = fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="play", types={"sky": "nominal"})
    >>> learn(model, {"sky": ["sun", "sun"], "play": ["no", "no"]}).summary.rows
    4
    """
    summary = held.summary if isinstance(held, Model) else held
    return relearn(held, summary + _summary_like(summary, data, reading))


def _summary_like(summary: Summary, data: object, reading: Mapping[str, Any]) -> Summary:
    """The sums of a table, read as the rows of a summary were, or those of a model's file."""
    if isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".likely"):
        other = load(data)
        return other.summary if isinstance(other, Model) else other
    return summarize(data, schema=summary.schema, more=summary.more, **reading)


def relearn(held: Model | Summary, summary: Summary) -> Any:
    """What was held, from other sums."""
    if not isinstance(held, Model):
        return summary
    return _with_loss(_derive(held.learner, summary, held.carried()), held.loss)


def unlearn(held: Model | Summary, data: object, **reading: Any) -> Any:
    """A model (or summary) without the rows of a table, or without those of another model's file."""
    summary = held.summary if isinstance(held, Model) else held
    less = summary - _summary_like(summary, data, reading)
    if not less.rows and summary.rows and not _is_outset(held):
        raise NotLearned("These are all the rows of the model, so nothing would be left. Delete its file instead.")
    return relearn(held, less)


def _is_outset(held: Model | Summary) -> bool:
    """Whether there is something to believe without any row."""
    return isinstance(held, Model) and bool(setting_of(held.learner, "knowledge", ()))
