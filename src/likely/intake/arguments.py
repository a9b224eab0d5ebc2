"""What Python functions may be given as table, target, learner and options, made what the rest of the house takes.

Knows frames, series, names and learners as people have them; what cannot be meant is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral
from typing import Any, TypeAlias

from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.intake.reading import Reading
from likely.models.contracts import Learner, has_trait
from likely.models.learners import LEARNERS, learner_written
from likely.table.formats.memory import TableSource, open_memory
from likely.table.open import open_source

GivenLearner: TypeAlias = Learner | type[Learner] | str | None
"""A learner, its class, or its name, with settings in parentheses or without; None: whoever usually learns."""
UNNAMED = "target"
"""The name of a target that was given as values without a name."""


def read_arguments(data: object, target: object, options: Mapping[str, Any]) -> tuple[object, Reading]:
    """The table and how to read it. A target given as values becomes a column of the table."""
    known = [f.name for f in fields(Reading)]
    for option in options:
        if option not in known:
            raise SettingError(f"There is no option {shown(option)} of reading a table. {nearest(option, known)}")
    table, name = read_target(data, target)
    return table, Reading(name, **options)


def read_target(data: object, target: object) -> tuple[object, str | None]:
    """The table, and the name of its target: a name, a whole number that names a column, or the column itself.

    >>> read_target({"x": [1, 2]}, 7)[1]
    '7'
    """
    if target is None or isinstance(target, str):
        return data, target
    if isinstance(target, Integral) and not isinstance(target, bool):
        return data, str(int(target))  # columns that are called by numbers are called by their digits
    if isinstance(target, tuple):
        raise ColumnError(
            f"The target {shown(target)} is a name of several parts. Give the columns plain names: "
            "df.columns = ['_'.join(map(str, c)) for c in df.columns]."
        )
    if not hasattr(target, "__len__") or isinstance(target, (Mapping, bytes)) or getattr(target, "ndim", 1) != 1:
        raise ColumnError(
            f"The target is a {type(target).__name__}. Give the name of a column, or the column: a list or a Series."
        )
    return _with_target(data, target)


def _with_target(data: object, target: Any) -> tuple[TableSource, str]:
    """A table in memory with these values as its target; a column of the same name is taken to be the same."""
    source = open_source(data)
    if not isinstance(source, TableSource):
        raise InputError(
            f"The target is a {type(target).__name__}, but {source.name} is not a table in memory. Name the column."
        )
    given = getattr(target, "name", None)
    name = UNNAMED if given is None else str(given)
    if len(target) != source.table.num_rows:
        raise ColumnError(
            f"The target has {len(target):,} values where the table has {source.table.num_rows:,} rows. Give it one "
            "for each row."
        )
    ours, theirs = getattr(data, "index", None), getattr(target, "index", None)
    if ours is not None and hasattr(ours, "equals") and hasattr(theirs, "equals") and not ours.equals(theirs):
        raise ColumnError(
            "The index of the target is not that of the table, so that which value belongs to which row is open. "
            "Give target.loc[table.index], or target.to_numpy() if the order is right."
        )
    column = open_memory({name: target})
    assert isinstance(column, TableSource)
    table = source.table
    if given is not None and name in table.column_names:
        table = table.drop_columns([name])
    return TableSource(table.append_column(name, column.table.column(0)), source.name), name


def read_learner(given: GivenLearner) -> Learner | None:
    """The learner that was meant.

    >>> read_learner("Neighbors(k=3)").k
    3
    """
    if given is None:
        return None
    if isinstance(given, str):
        return _learner_named(given)
    if isinstance(given, type):
        if given.__name__ in LEARNERS and LEARNERS[given.__name__] is given:
            return _learner_named(given.__name__)  # who needs a setting says so
        given = given()
    if isinstance(given, Learner):
        return given
    raise SettingError(
        f"The learner is {shown(given)}. Give a learner, such as likely.NaiveBayes(), or its name: 'NaiveBayes'."
    )


def _learner_named(text: str) -> Learner:
    found: Learner = learner_written(text)
    return found


def require_purpose(reading: Reading, learner: Learner | None) -> None:
    """Refuse to learn a class where none is named, unless the learner wants whole rows."""
    has_target = reading.target is not None or (reading.schema is not None and reading.schema.target is not None)
    if not has_target and not has_trait(learner, "density"):
        raise SettingError(
            "No target was named, so there is nothing to predict. Name a column: fit(data, 'column'). "
            "For the probability of whole rows: fit(data, learner=likely.Density())."
        )
