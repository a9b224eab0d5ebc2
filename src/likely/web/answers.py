"""What the API answers: rows as they came, read as the model reads them, in plain values. Knows no HTTP."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from likely.apply.answers import AnswerStream, Mismatches
from likely.apply.decide.decider import DecisionStream, decider
from likely.apply.explain.explaining import explain
from likely.apply.explain.ledger import Unit
from likely.apply.novelty import remarks
from likely.apply.predict import PredictionStream
from likely.errors import SettingError
from likely.models.contracts import Model
from likely.models.judgement import Judgement
from likely.models.loss import Loss
from likely.models.posterior import Posterior
from likely.portable.origin import describe_origin
from likely.sums.columns.counts import Counts
from likely.table.arrow import ArrowBatch
from likely.table.labels import label
from likely.table.output.sink import Format, read_payload, write_payload
from likely.table.rows import PLAIN
from likely.table.source import Source
from likely.web.guard import Limits, TableCheck

Row: TypeAlias = Mapping[str, object]
Answer: TypeAlias = dict[str, Any]
"""Plain values, as JSON has them."""
TableAnswer: TypeAlias = tuple[bytes, list[str]]
"""A table of answers, and remarks."""
A = TypeVar("A")


def describe_model(model: Model) -> Answer:
    """What the model predicts, and from what."""
    target = model.schema.target
    return {
        "target": None if target is None else target.name,
        "classes": list(model.classes),
        "learner": type(model.learner).__name__,
        "proper": bool(model.proper),
        "attributes": [
            {"name": c.name, "kind": c.kind, "levels": model.levels(c.name) if c.kind == "nominal" else None}
            for c in model.schema.attributes
        ],
        "origin": describe_origin(model),
        "judged": None if model.judgement is None else _scores_of(model.judgement),
    }


def _scores_of(judged: Judgement) -> dict[str, object]:
    """What is known of held-out rows, but for the arrays that intervals of probabilities are read off."""
    return {name: value for name, value in judged.state().items() if name != "guarantees"}


def complete_rows(model: Model, rows: Sequence[Row], limits: Limits) -> list[dict[str, object]]:
    """Rows with a cell for every attribute. A name that the model does not know is refused, with the nearest one."""
    limits.check_cells(len(rows), len(model.schema.attributes), "attributes")
    names = set(model.schema.names)
    for name in sorted({name for row in rows for name in row} - names):
        model.schema[name]
    out: list[dict[str, object]] = [{} for _ in rows]
    for column in model.schema.columns:
        name = column.name
        if column.role == "target":
            for cells in out:
                cells[name] = None
        elif column.role == "attribute":
            values = [row.get(name) for row in rows]
            for cells, value in zip(out, _level_cells(model, name, values), strict=True):
                cells[name] = value
    return out


def _level_cells(model: Model, name: str, values: Sequence[object]) -> Sequence[object]:
    """Values that mean the same whatever other rows have in that column: levels are texts, true and false as the
    attribute spells them.
    """
    if not isinstance(model.summary.columns[name], Counts):
        return [float(value) if isinstance(value, bool) else value for value in values]
    texts = [label(value) for value in values]
    if not any(isinstance(value, bool) for value in values):
        return texts
    spelled = {level.lower(): level for level in model.levels(name) if level.lower() in ("true", "false")}
    return [
        spelled.get(text, text) if isinstance(value, bool) and text is not None else text
        for value, text in zip(values, texts, strict=True)
    ]


def predict_rows(model: Model, rows: Sequence[Row], limits: Limits, level: float | None = None) -> Answer:
    """The class of each row, the probability of every class, and what training had nothing like; with a level, also the
    classes that are not ruled out, and an interval for each probability."""
    _check_target(model)
    limits.check_cells(len(rows), len(model.classes), "classes")
    cells = complete_rows(model, rows, limits)
    alone = len(cells) == 1 and PLAIN.issuperset(map(type, cells[0].values()))  # a list would make columns of it
    posterior: Posterior = model.posterior(cells[0]) if alone else model.posterior(cells)
    best = posterior.best if isinstance(posterior.best, list) else [posterior.best]
    out: list[dict[str, Any]] = [
        {"prediction": name, "probabilities": dict(zip(model.classes, chances, strict=True)), "remarks": unusual}
        for name, chances, unusual in zip(best, posterior.matrix.tolist(), remarks(model, cells), strict=True)
    ]
    if level is not None:
        low, high = posterior.intervals(level)
        for row, inside, ends in zip(out, posterior.sets(level), np.stack([low, high], axis=2).tolist(), strict=True):
            row["set"] = [name for name, one in zip(model.classes, inside, strict=True) if one]
            known = [None if math.isnan(both[0]) else both for both in ends]
            row["intervals"] = dict(zip(model.classes, known, strict=True))
    unlike = Mismatches()
    unlike.add(posterior)
    return {"proper": bool(posterior.proper), "rows": out, "remarks": unlike.remarks()}


def explain_row(model: Model, row: Row, of: str | None, against: str | None, unit: Unit, limits: Limits) -> Answer:
    """The ledger of one answer."""
    (cells,) = complete_rows(model, [row], limits)
    given = {c.name: cells[c.name] for c in model.schema.attributes}
    return explain(model, given, of=of, against=against, unit=unit).to_dict()


def decide_rows(
    model: Model,
    rows: Sequence[Row],
    costs: Mapping[str, Mapping[str, float]] | None,
    abstain: float | None,
    limits: Limits,
) -> Answer:
    """The action of least expected loss for each row."""
    _check_target(model)
    limits.check_actions(len({action for of_class in (costs or {}).values() for action in of_class}))
    how = decider(model, read_loss(model, costs, abstain))
    limits.check_cells(len(rows), len(how.loss.actions), "actions")
    cells = complete_rows(model, rows, limits)
    decision = how.decide(cells)
    actions, reasons = (x if isinstance(x, list) else [x] for x in (decision.action, decision.reason))
    expected = [dict(zip(decision.actions, map(_finite, line), strict=True)) for line in decision.expected.tolist()]
    margins = map(_finite, decision.margins.tolist())
    names = ("action", "expected", "margin", "reason", "remarks")
    lines = zip(actions, expected, margins, reasons, remarks(model, cells), strict=True)
    out = [dict(zip(names, line, strict=True)) for line in lines]
    return {"actions": list(decision.actions), "rows": out}


def read_loss(model: Model, costs: Mapping[str, Mapping[str, float]] | None, abstain: float | None) -> Loss | None:
    """The loss as a request says it; abstaining alone goes with a wrong class costing 1."""
    if costs is not None:
        return Loss(costs, abstain)
    if abstain is None:
        return None
    if model.loss is not None:
        return Loss(model.loss.costs, abstain)
    return Loss.zero_one(model.classes, abstain)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _check_target(model: Model) -> None:
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict or to decide by.")


# -- whole tables -----------------------------------------------------------------------------------------------


def predict_table(
    model: Model, data: bytes, given: Format, wanted: Format, limits: Limits, remarks: bool = False
) -> TableAnswer:
    """Predictions of a whole table, and what was unlike training on the way; with `remarks` in a column, too."""
    _check_target(model)
    return _answer_table(PredictionStream(model, remarks), data, given, wanted, limits)


def decide_table(model: Model, data: bytes, given: Format, wanted: Format, limits: Limits) -> TableAnswer:
    """Decisions about a whole table by the model's own loss, or zero-one."""
    _check_target(model)
    return _answer_table(DecisionStream(decider(model)), data, given, wanted, limits)


def _answer_table(answers: AnswerStream[A], data: bytes, given: Format, wanted: Format, limits: Limits) -> TableAnswer:
    check = TableCheck(limits)

    def batches(source: Source) -> Iterator[ArrowBatch]:
        for answer, kept in answers.stream(source):
            found = answers.columns(answer, kept)
            check.add(found.num_rows, len(source.schema) + found.num_columns)
            yield found

    with read_payload(data, given, limits.unpacked) as source:
        return write_payload(batches(source), wanted), answers.mismatches.remarks()
