"""A summary from knowledge alone: what its schema is when there is no table to infer it from.

Knows what the user said of columns and what knowledge names; no rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from likely.errors import ColumnError, SettingError, shown
from likely.intake.reading import Reading
from likely.intake.schema import given_edges, missing_tokens
from likely.models.contracts import Learner
from likely.models.knowledge.knowledge import Knowledge
from likely.sums.summary import Summary
from likely.table.kinds import parse_kind
from likely.table.schema import Column, Reason, Schema


def summary_from_knowledge(learner: Learner, reading: Reading) -> Summary:
    """A summary of no rows, under the schema that knowledge and the user's words make; refused where nothing is known.

    >>> from likely.models.naive.naive import NaiveBayes
    >>> learner = NaiveBayes(knowledge=[Knowledge("fever", given="flu", probability=0.9, worth=40)])
    >>> [(c.name, c.kind, c.role) for c in summary_from_knowledge(learner, Reading("disease")).schema.columns]
    [('fever', 'nominal', 'attribute'), ('disease', 'nominal', 'target')]
    """
    knowledge: tuple[Knowledge, ...] = getattr(learner, "knowledge", ())
    if not knowledge:
        raise SettingError(
            f"There is no table, and {type(learner).__name__} has no knowledge to start from. "
            "Give a table, or knowledge to NaiveBayes."
        )
    out = Summary(_schema(knowledge, reading) if reading.schema is None else reading.schema)
    out.more = {wish: out.empty_statistic(wish) for wish in sorted(learner.needs(out.schema))}
    return out


def _schema(knowledge: Sequence[Knowledge], reading: Reading) -> Schema:
    """Columns as the user listed them, then as knowledge names them, then weight and target."""
    target, weight, said = reading.target, reading.weight, reading.types or {}
    if target is None:
        raise SettingError("There is neither a table nor a target. Name the column to predict.")
    if target == weight:
        raise SettingError(f"Column {shown(target)} cannot be both the target and the weight.")
    named = {k.attribute: "number" if k.is_normal else "nominal" for k in knowledge if k.attribute is not None}
    columns = []
    for name in dict.fromkeys([*said, *named]):
        if name not in (target, weight):
            kind, reads = parse_kind(said[name] if name in said else named[name], name, "text")
            role = "attribute" if kind in ("nominal", "number", "date") else "left out"
            # "As asked" in either case: the spec of the model says the same and must give the same model again.
            columns.append(Column(name, kind, role, reads, reason=Reason("asked")))  # type: ignore[arg-type]
    if weight is not None:
        columns.append(Column(weight, "number", "weight", "number", reason=Reason("weight")))
    return Schema((*columns, _target(target, said.get(target), reading)), missing_tokens(reading))


def _target(name: str, said: str | None, reading: Reading) -> Column:
    bins = reading.target_bins
    if bins is not None:
        if isinstance(bins, int):
            raise SettingError("There is no table to cut the target by. Give the edges of its bins, e.g. 10,20,30.")
        return Column(name, "nominal", "target", "number", edges=given_edges(bins), reason=Reason("given bins"))
    kind, reads = parse_kind(said or "nominal", name, "text")
    if kind != "nominal":
        raise ColumnError(f"The target {shown(name)} cannot be read as {said} without a table. It must be nominal.")
    return Column(name, "nominal", "target", reads, reason=Reason("asked" if said else "known classes"))
