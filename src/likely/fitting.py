"""From a table to a summary and a model: open, infer the schema, sweep, settle, learn. Knows no learner's insides."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from likely.drafting import Progress, Reading, check_rows, check_strays, settle, with_encoding
from likely.engines.local import sweep
from likely.errors import FileFormatError, NotLearned, SettingError, shown
from likely.guessing import guessed
from likely.models.model import Learner, Model
from likely.models.naive import NaiveBayes
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.encode import Encoder
from likely.table.schema import Schema
from likely.table.source import Source

LEARNERS: dict[str, type[Any]] = {"NaiveBayes": NaiveBayes}
"""Learners by the name that a file gives them."""


class _Summarizer:
    def __init__(self, schema: Schema) -> None:
        self.encoder = Encoder(schema)
        self.summary = Summary(schema)

    def take(self, batch: Any, start: int) -> None:
        self.summary.update(self.encoder.encode(batch, start))


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
) -> Summary:
    """One sweep over a table: everything that any learner needs.

    `data` is a path, a glob, a folder, "-", a dict, a list of dicts, or any DataFrame.

    >>> s = summarize({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> s.classes, s.rows
    (('no', 'yes'), 3)
    """
    reading = Reading(target, types, missing, weight, target_bins, schema, encoding, delimiter, threads, progress)
    return with_encoding(data, reading, lambda source: _summarized(source, reading))  # type: ignore[no-any-return]


def _summarized(source: Source, reading: Reading) -> Summary:
    first, whole, encoders = guessed(source, reading)
    if whole is None:
        columns = [c.name for c in first.schema.used]
        workers = sweep(
            source.batches(columns), lambda: _Summarizer(first.schema), reading.threads, progress=reading.progress
        )
        whole, encoders = reduce(add, (w.summary for w in workers)), [w.encoder for w in workers]
    check_strays(encoders, first, whole.rows + whole.left_out)
    summary, _ = settle(first, whole)
    return check_rows(summary, source)


def fit(data: object, target: str, learner: Learner | None = None, **reading: Any) -> Model:
    """Sweep and learn in one call; `reading` takes what `summarize` takes.

    >>> model = fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> model.predict({"sky": "sun"})
    'yes'
    """
    return (learner or NaiveBayes()).learn(summarize(data, target, **reading))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file, or a summary that was saved by itself."""
    tree, name = state.read(path), shown(os.path.basename(path))
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
    except (AttributeError, LookupError, SettingError, TypeError, ValueError):
        raise FileFormatError(f"{name} holds something that this version cannot read. Make it again.") from None
    return learner.learn(summary)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; a summary alone is learned from with the usual settings."""
    held = load(path)
    return held if isinstance(held, Model) else NaiveBayes().learn(held)


def merged(paths: Sequence[str | os.PathLike[str]]) -> Any:
    """Several model files as one, with the settings of the first."""
    held = [load(path) for path in paths]
    whole = reduce(add, (h.summary if isinstance(h, Model) else h for h in held))
    return held[0].learner.learn(whole) if isinstance(held[0], Model) else whole


def unlearned(held: Model | Summary, data: object, **reading: Any) -> Any:
    """A model (or summary) without the rows of a table, or without those of another model's file."""
    summary = held.summary if isinstance(held, Model) else held
    if isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".likely"):
        other = load(data)
        less = summary - (other.summary if isinstance(other, Model) else other)
    else:
        less = summary - summarize(data, schema=summary.schema, **reading)
    if not less.rows and summary.rows:
        raise NotLearned("These are all the rows of the model, so nothing would be left. Delete its file instead.")
    return held.learner.learn(less) if isinstance(held, Model) else less
