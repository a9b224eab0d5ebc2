"""From a table to a summary and a model: open, infer the schema, sweep, settle, learn. Knows no learner's insides."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from likely.errors import FileFormatError, NotLearned, SettingError, shown
from likely.intake.reading import (
    GivenLearner,
    MoreRowsOptions,
    Reading,
    ReadingOptions,
    read_arguments,
    read_learner,
    require_purpose,
    try_dates,
    with_encoding,
)
from likely.intake.store import summarize_by_file
from likely.intake.summarize import Engine, LocalEngine, More, Wanted, summarize_table, summary_from_knowledge
from likely.models.contracts import Learner, Learning, Model, Sweep, setting_of
from likely.models.default import chosen_learner, default_learner
from likely.models.judgement import Importance, Judgement
from likely.models.learning import begin, learn_without_rows, restore, run
from likely.models.loss import Loss, parse_loss
from likely.models.registry import LEARNERS
from likely.models.shapes import References
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import State
from likely.sums.state import read_mapping, read_text
from likely.sums.summary import Summary
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.models.pool.candidates import Effort, Purpose

Known = TypeVar("Known", bound=Model | Summary)


def summarize(
    data: object,
    target: object = None,
    *,
    more: Collection[str] = (),
    **reading: Unpack[ReadingOptions],
) -> Summary:
    """One sweep over a table: everything that any learner needs.

    `data` is a path, a glob, a folder, several of them, an address, "-", a dict, a list of dicts, or any frame.
    `target` names a column, or is one: a list or a Series of as many values as there are rows. `more` names statistics
    beyond the first order (products, pairs, cells, rows), or is the `more` of another summary, to which this one can
    then be added: numbers are then cut where that one cut them. `reading` says how the table is read: docs/reading.md
    has all options. `keep` names a folder in which the sums of each file are kept, so that the next time only new and
    changed files are read; `skip_bad` leaves out files that cannot be read; `push` lets a database count for itself.
    `remark` is told, in sentences, what happened on the way.

    >>> s = summarize({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> s.classes, s.rows
    (('no', 'yes'), 3)
    """
    data, how = read_arguments(data, target, reading)
    like = more if isinstance(more, Mapping) else None
    if how.by_file and like is None:
        return summarize_by_file(data, how, lambda schema: frozenset(more))[1]
    how = replace(how, keep=None)
    return with_encoding(data, how, lambda source: summarize_source(source, how, lambda _: frozenset(more), like))


def summarize_source(source: Source, reading: Reading, wanted: Wanted, like: More | None = None) -> Summary:
    """The sums of a source, with those beyond the first order that are wanted of its columns."""
    return summarize_table(engine_of(source, reading), reading, wanted, like)


def engine_of(source: Source, reading: Reading) -> Engine:
    """Who sweeps a source; a database's drivers are imported on demand."""
    if not reading.push:
        return LocalEngine(source, reading)
    from likely.intake.database import count_in_database

    return count_in_database(source, reading)


def fit(
    data: object,
    target: object = None,
    learner: GivenLearner = None,
    *,
    effort: Effort | None = None,
    for_: Collection[Purpose] | Purpose = (),
    loss: Loss | Mapping[str, Any] | None = None,
    judge: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Model:
    """Sweep and learn in one call; `reading` takes what `summarize` takes.

    `learner` is one, its class, or its name: "Neighbors(k=3)". Without a learner, `Auto` chooses: with this `effort`,
    and `for_` what the model must be able to do (sql, onnx, pmml, updates, explaining). Naive Bayes learns from fewer
    than 30 rows, and where `keep` or `push` spare the rows another reading. The model keeps `loss`, and decides by it
    where no other is given. With `judge`, learners of sums alone look at the rows once more as well, so that scores,
    intervals and sets by held-out rows are known of them too. Without data (None) the model is made of the learner's
    knowledge alone; `learn` then goes on from rows.

    >>> model = fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> model.predict({"sky": "sun"})
    'yes'
    """
    data, how = read_arguments(data, target, reading)
    asked, costs = read_learner(learner), Loss.of(loss)
    chosen = chosen_learner(effort, for_)
    if chosen is not None and asked is not None:
        raise SettingError(
            "A learner is named, so there is nothing to choose. Leave effort and for_ out, or the learner."
        )
    asked = asked or chosen
    if data is None:
        alone = asked or default_learner("sums").learner
        return with_loss(_derive(alone, summary_from_knowledge(alone, how), {}), costs)
    require_purpose(how, asked)
    how = try_dates(how, [asked])
    if how.by_file:
        source, summary = summarize_by_file(data, how, needs_of(asked))
        return with_loss(learn_summary(LocalEngine(source, how), summary, asked, how, judge), costs)
    made = with_encoding(data, how, lambda source: fit_table(engine_of(source, how), asked, how, judge))
    return with_loss(made, costs)


def fit_table(engine: Engine, learner: Learner | None, reading: Reading, judge: bool = False) -> Model:
    """The model of a table, wherever its rows are."""
    summary = summarize_table(engine, reading, needs_of(learner))
    return learn_summary(engine, summary, learner, reading, judge)


def needs_of(learner: Learner | None) -> Wanted:
    """The statistics beyond the first order that a learner needs; who is yet to be chosen asks for none."""
    return lambda schema: frozenset() if learner is None else learner.needs(schema)


def learn_summary(
    engine: Engine, summary: Summary, learner: Learner | None, reading: Reading, judge: bool = False
) -> Model:
    """What a learner, or the usual one, makes of a summary, and of the rows where it must see them."""
    if learner is None:
        # What is kept by file or counted in a database is so in order not to see the rows again.
        sums_alone = reading.keep is not None or reading.push
        learner = default_learner("sums" if sums_alone else "fit", summary).learner
    found = begin(learner, summary)
    if isinstance(found, Model) and not found.state and not judge:
        return found  # sums alone: what is unknown is summed over, or left out
    return run_learning(found, engine.sweeper(summary), judge)


def run_learning(found: Model | Learning[Model], sweep: Callable[[Sweep], Any], judge: bool = False) -> Model:
    """The model that is learned by these sweeps, with what one more sweep tells of it: rows that stand for the table
    where cells are unknown, how much each attribute moves its answers, and how it answers rows that are held out."""
    from likely.models.completing import complete

    return run(complete(found if isinstance(found, Model) else run(found, sweep), judge), sweep)


def with_loss(model: Model, loss: Loss | None) -> Model:
    """The model with what its decisions cost; a class that the loss does not name is refused now, not when deciding."""
    if loss is not None:
        loss.check(model.classes)
    return _replace_loss(model, loss)


def _replace_loss(model: Model, loss: Loss | None) -> Model:
    return model if loss is None else replace(model, loss=loss)


@overload
def load(path: str | os.PathLike[str]) -> Model: ...
@overload
def load(path: str | os.PathLike[str], kind: type[Known]) -> Known: ...
def load(path: str | os.PathLike[str], kind: type[Any] = Model) -> Any:
    """Read a model file; with `likely.Summary` as `kind`, the sums that it holds, or that were saved by themselves.

    A file of sums alone is no model: NaiveBayes().learn(likely.load(path, likely.Summary)) makes one of it.

    >>> import os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "m.likely")
    >>> fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="play", types={"sky": "nominal"}).save(place)
    >>> load(place).predict({"sky": "sun"})
    'yes'
    """
    held = load_any(path)
    if issubclass(kind, Summary):
        held = _summary_of(held)
    if not isinstance(held, kind):
        name = shown(os.path.basename(path))
        raise FileFormatError(
            f"{name} holds sums without a model. Read them by likely.load(path, likely.Summary), and let a learner "
            "learn from them: likely.NaiveBayes().learn(summary)."
        )
    return held


def load_any(path: str | os.PathLike[str]) -> Model | Summary:
    """What a file holds: a model, or a summary that was saved by itself."""
    return model_from_tree(state.read(path), shown(os.path.basename(path)))


def model_from_tree(tree: State, name: str) -> Model | Summary:
    """The model or summary that a file holds as a tree; `name` is what to call the file in a sentence."""
    if "summary" not in tree:
        raise FileFormatError(f"{name} holds neither a model nor a summary.")
    with state.unsound(name):
        summary = Summary.from_state(tree["summary"]).canonical()
        if "learner" not in tree:
            return summary
        maker = tree["learner"]["name"]
        if maker not in LEARNERS:
            raise FileFormatError(
                f"{name} was made by the learner {shown(maker)}, which this version does not have. Upgrade likely."
            )
        learner: Learner = state.built(LEARNERS[maker], tree["learner"]["settings"])
        found = dict(read_mapping(tree["found"], "what a search found"))
        loss = parse_loss(read_text(tree["loss"], "a loss")) if "loss" in tree else None
        model = _derive(learner, summary, found)
        if "references" in tree:
            kept = dict(read_mapping(tree["references"], "references"))
            references = References.from_state(kept, len(model.classes))
            for axis in references.axes:  # cells are looked up by these names, and read by these kinds
                held = summary.columns.get(axis.name)
                kind = Counts if axis.edges is None else Numbers
                state.require(isinstance(held, kind), "references are of the attributes of the model")
            model = replace(model, references=references)
        if "importance" in tree:
            names = [column.name for column in model.schema.attributes]
            measured = dict(read_mapping(tree["importance"], "importance"))
            model = replace(model, importance=Importance.from_state(measured, names))
        if "judged" in tree:
            found = dict(read_mapping(tree["judged"], "a judgement"))
            judged = Judgement.from_state(found, model.classes, model.schema.names)
            model = replace(model, judged=judged)
        if loss is not None:
            loss.check(model.classes)
        return _replace_loss(model, loss)


def _derive(learner: Learner, summary: Summary, found: State) -> Model:
    """The model of a summary: derived anew, or, where a search had found it, as it was found."""
    if found:
        return restore(learner, summary, found)
    model = learn_without_rows(learner, summary)
    if model is None:
        raise SettingError(
            f"{type(learner).__name__} must see the rows themselves to learn. Fit it on all rows: likely fit."
        )
    return model


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; a summary alone is learned from with the usual settings."""
    known = load_any(path)
    return (
        known if isinstance(known, Model) else _derive(default_learner("sums").learner, known.without(known.more), {})
    )


def merge_files(paths: Sequence[str | os.PathLike[str]]) -> Model | Summary:
    """Several model files as one, with the settings of the first."""
    known = [load_any(path) for path in paths]
    return relearn(known[0], reduce(add, map(_summary_of, known)))


def learn(known: Known, data: object, **reading: Unpack[MoreRowsOptions]) -> Known:
    """A model (or summary) that has learned the rows of a table as well, or those of another model's file.

    The result is the same, to the last bit, as fitting all rows at once, under the schema and settings of the model.

    >>> model = fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="play", types={"sky": "nominal"})
    >>> learn(model, {"sky": ["sun", "sun"], "play": ["no", "no"]}).summary.rows
    4
    """
    summary = _summary_of(known)
    return relearn(known, summary + _summary_like(summary, data, reading))


def _summary_of(known: Model | Summary) -> Summary:
    return known.summary if isinstance(known, Model) else known


def _summary_like(summary: Summary, data: object, reading: MoreRowsOptions) -> Summary:
    """The sums of a table, read as the rows of a summary were, or those of a model's file."""
    if isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".likely"):
        return load(data, Summary)
    return summarize(data, schema=summary.schema, more=summary.more, **reading)


def relearn(known: Known, summary: Summary) -> Known:
    """The same model with other sums, by the same learner and under the same loss; of a summary, those sums."""
    if not isinstance(known, Model):
        return summary  # type: ignore[return-value]
    model = _derive(known.learner, summary, known.lasting_state())
    # They stay as they are, as weights do that rows chose.
    model = replace(model, references=known.references, importance=known.importance)
    return _replace_loss(model, known.loss)  # type: ignore[return-value]


def unlearn(known: Known, data: object, **reading: Unpack[MoreRowsOptions]) -> Known:
    """A model (or summary) without the rows of a table, or without those of another model's file."""
    summary = _summary_of(known)
    less = summary - _summary_like(summary, data, reading)
    begins_with = setting_of(known.learner, "knowledge", ()) if isinstance(known, Model) else ()
    if not less.rows and summary.rows and not begins_with:
        raise NotLearned("These are all the rows of the model, so nothing would be left. Delete its file instead.")
    return relearn(known, less)
