"""Predictions of a whole table, streamed from a source to a file or standard output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from likely.errors import ColumnError, SettingError, shown
from likely.intake.reading import Reading, open_table, with_encoding
from likely.models.model import Model
from likely.models.posterior import Posterior
from likely.table.output.sink import Sink, empty_batch, prediction_names, predictions
from likely.table.source import Source


@dataclass(frozen=True)
class Predicted:
    """What happened on the way: rows written, rows that could not be classified, and remarks for people."""

    rows: int
    unclassified: int
    remarks: tuple[str, ...]


def predict_table(
    model: Model,
    data: object,
    path: str | None,
    *,
    keep: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Callable[[int], None] | None = None,
    encoding_errors: str = "strict",
) -> Predicted:
    """Write prediction and probabilities of every row of `data`; memory does not grow with the rows."""
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict. See `likely score`.")
    reading = Reading(encoding=encoding, delimiter=delimiter, encoding_errors=encoding_errors)
    if path in (None, "-"):
        # What has gone to standard output cannot be taken back, so the encoding is not tried twice.
        return _predicted(model, open_table(data, reading), path, keep, progress)
    return with_encoding(data, reading, lambda source: _predicted(model, source, path, keep, progress))  # type: ignore[no-any-return]


def _predicted(
    model: Model, source: Source, path: str | None, keep: bool, progress: Callable[[int], None] | None
) -> Predicted:
    if keep:
        clash = sorted(set(prediction_names(model.classes)) & set(source.schema.names))
        if clash:
            raise ColumnError(f"{source.name} already has a column {shown(clash[0])}. Rename it, or leave --keep out.")
    columns = list(source.schema.names) if keep else None
    rows = unclassified = 0
    unseen: Counter[str] = Counter()
    strays: Counter[str] = Counter()
    absent: set[str] = set()
    words: dict[str, tuple[int, int]] = {}
    model.columns_in(source)
    with Sink(path) as sink:
        for arrow, found in model.posteriors(source, columns):
            sink.write(predictions(model.classes, found.codes, found.matrix, arrow if keep else None))
            rows += len(found)
            unclassified += int(found.undefined.sum())
            unseen.update(found.unseen)
            strays.update(found.strays)
            absent.update(found.absent)
            words = together(words, found.words)
            if progress is not None:
                progress(rows)
        if rows == 0:
            none = Posterior.of(model.classes, np.empty((0, len(model.classes))))
            sink.write(
                predictions(model.classes, none.codes, none.matrix, empty_batch(source.schema) if keep else None)
            )
    remarks = remarks_on(absent, unseen, strays, words)
    if not model.proper and rows:
        remarks.append(f"The columns p(…) hold scores of {type(model.learner).__name__}, which are no probabilities.")
    if unclassified:
        number = "1 row" if unclassified == 1 else f"{unclassified:,} rows"
        why = "every class is impossible" if model.proper else "no class beats all others"
        remarks.append(f"{number} cannot be classified: {why}. Predictions are left empty there.")
    return Predicted(rows, unclassified, tuple(remarks))


def together(one: Mapping[str, tuple[int, int]], two: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Words, and those that are not known, of two parts of a table."""
    both = ((name, one.get(name, (0, 0)), two.get(name, (0, 0))) for name in {**one, **two})
    return {name: (a[0] + b[0], a[1] + b[1]) for name, a, b in both}


def remarks_on(
    absent: Iterable[str],
    unseen: Mapping[str, int],
    strays: Mapping[str, int],
    words: Mapping[str, tuple[int, int]] | None = None,
) -> list[str]:
    """What was unlike training on the way, as sentences."""
    remarks = [f"Column {shown(n)} is not there; its cells count as missing." for n in sorted(absent)]
    for name, count in sorted(unseen.items()):
        remarks.append(f"Levels that training did not have: {_cells(count)} of {shown(name)}.")
    for name, count in sorted(strays.items()):
        remarks.append(f"Not of the kind that training had, so taken as missing: {_cells(count)} of {shown(name)}.")
    for name, (total, unknown) in sorted((words or {}).items()):
        if unknown:
            remarks.append(f"{unknown:,} of {total:,} words of {shown(name)} are not known to the model and skipped.")
    return remarks


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"
