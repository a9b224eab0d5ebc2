"""What the API answers: rows as they came, read as the model reads them, in plain values. Knows no HTTP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from likely.apply.answers import Answers, Mismatches
from likely.apply.decide.decider import decider
from likely.apply.decide.tables import Decisions
from likely.apply.explain.explaining import explain
from likely.apply.predict import Predictions
from likely.errors import SettingError
from likely.models.contracts import Model
from likely.probability.loss import Loss
from likely.sums.columns.counts import Counts
from likely.table.labels import label
from likely.table.output.payload import Format, read_payload, write_payload

Row = Mapping[str, Any]
A = TypeVar("A")


def about(model: Model) -> dict[str, Any]:
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
    }


def table_of(model: Model, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows with a cell for every attribute. A name that the model does not know is refused, with the nearest one."""
    names = set(model.schema.names)
    for name in sorted({name for row in rows for name in row} - names):
        model.schema[name]
    columns = [c for c in model.schema.columns if c.role in ("attribute", "target")]
    spelled = {c.name: _spelled(model, c.name) for c in model.schema.attributes}
    return [
        {c.name: _cell(row.get(c.name), spelled[c.name]) if c.role == "attribute" else None for c in columns}
        for row in rows
    ]


def _spelled(model: Model, name: str) -> dict[str, str] | None:
    """How a nominal attribute spells true and false; None for an attribute of another kind."""
    if not isinstance(model.summary.columns[name], Counts):
        return None
    return {level.lower(): level for level in model.levels(name) if level.lower() in ("true", "false")}


def _cell(value: Any, spelled: dict[str, str] | None) -> Any:
    """A value that means the same whatever other rows have in that column: levels are texts."""
    if spelled is None:
        return float(value) if isinstance(value, bool) else value
    text = label(value)
    return spelled.get(text, text) if isinstance(value, bool) and text is not None else text


def predicted(model: Model, rows: Sequence[Row]) -> dict[str, Any]:
    """The class of each row, and the probability of every class."""
    _check_target(model)
    found = model.posterior(table_of(model, rows))
    best = found.best if isinstance(found.best, list) else [found.best]
    out = [
        {"prediction": name, "probabilities": dict(zip(model.classes, chances, strict=True))}
        for name, chances in zip(best, found.matrix.tolist(), strict=True)
    ]
    unlike = Mismatches()
    unlike.add(found)
    return {"proper": bool(found.proper), "rows": out, "remarks": unlike.remarks()}


def explained(model: Model, row: Row, of: str | None, against: str | None, unit: str) -> dict[str, Any]:
    """The ledger of one answer."""
    (cells,) = table_of(model, [row])
    given = {c.name: cells[c.name] for c in model.schema.attributes}
    return explain(model, given, of=of, against=against, unit=unit).to_dict()  # type: ignore[arg-type]


def decided(
    model: Model, rows: Sequence[Row], costs: Mapping[str, Any] | None, abstain: float | None
) -> dict[str, Any]:
    """The action of least expected loss for each row."""
    _check_target(model)
    found = decider(model, loss_of(model, costs, abstain)).decide(table_of(model, rows))
    actions, why = found.action, found.reason
    out = [
        {"action": action, "expected": _known(found.actions, expected), "margin": _finite(margin), "reason": reason}
        for action, expected, margin, reason in zip(
            actions if isinstance(actions, list) else [actions],
            found.expected.tolist(),
            found.margins.tolist(),
            why if isinstance(why, list) else [why],
            strict=True,
        )
    ]
    return {"actions": list(found.actions), "rows": out}


def loss_of(model: Model, costs: Mapping[str, Any] | None, abstain: float | None) -> Loss | None:
    """The loss as a request says it; abstaining alone goes with a wrong class costing 1."""
    if costs is not None:
        return Loss(costs, abstain)
    if abstain is None:
        return None
    if model.loss is not None:
        return Loss(model.loss.costs, abstain)
    return Loss.zero_one(model.classes, abstain)


def _known(names: Sequence[str], values: Sequence[float]) -> dict[str, float | None]:
    return {name: _finite(v) for name, v in zip(names, values, strict=True)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _check_target(model: Model) -> None:
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict or to decide by.")


# -- whole tables -----------------------------------------------------------------------------------------------


def predicted_table(model: Model, data: bytes, given: Format, wanted: Format) -> tuple[bytes, list[str]]:
    """Predictions of a whole table, and what was unlike training on the way."""
    _check_target(model)
    return _answered(Predictions(model), data, given, wanted)


def decided_table(model: Model, data: bytes, given: Format, wanted: Format) -> tuple[bytes, list[str]]:
    """Decisions about a whole table by the model's own loss, or zero-one."""
    _check_target(model)
    return _answered(Decisions(decider(model)), data, given, wanted)


def _answered(answers: Answers[A], data: bytes, given: Format, wanted: Format) -> tuple[bytes, list[str]]:
    with read_payload(data, given) as source:
        out = write_payload((answers.columns(answer, kept) for answer, kept in answers.stream(source)), wanted)
        return out, answers.mismatches.remarks()
