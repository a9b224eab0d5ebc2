"""From a spread table to a summary: the same steps as on one machine, each sweep done where the rows are.

What comes out is the same to the last bit as `likely.summarize` of the same rows. Knows no learner's insides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from likely.errors import EncodingError, InputError, LikelyError, SettingError
from likely.intake.observe import Partial, tallied_target, viewed
from likely.intake.reading import Reading, check_reading
from likely.intake.schema import Draft, check_rows, check_strays, draft_schema, finalize_schema, text_columns
from likely.spark.spread import Files, Spread
from likely.spark.tasks import Extend, Further, Look, Sum, View
from likely.sums.summary import Summary
from likely.table.encode import Encoder, column_form
from likely.table.schema import Schema
from likely.table.source import Source, SourceWrapper
from likely.table.wrappers.remote import AlreadySwept, DeferredSource

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

Wanted = Callable[[Schema], frozenset[str]]
T = TypeVar("T")


def with_encoding(opened: Callable[[Reading], Spread], reading: Reading, work: Callable[[Spread, Reading], T]) -> T:
    """Do `work`; where a text proves not to be UTF-8 after all, once more as latin-1."""
    check_reading(reading)
    if reading.by_file or reading.push:
        raise SettingError("keep, skip_bad and push are of one machine. Leave them out where Spark sweeps.")
    # Neither travels: nobody listens where the rows are.
    reading = replace(reading, progress=None, remark=None, threads=1)
    try:
        return work(opened(reading), reading)
    except EncodingError:
        if reading.encoding is not None:
            raise
        again = replace(reading, encoding="latin-1")
        return work(opened(again), again)


def summarized(spread: Spread, reading: Reading, wanted: Wanted, like: Mapping[str, Any] | None = None) -> Summary:
    """The summary of all parts."""
    first, whole = drafted(spread, reading)
    if whole is None:
        whole = _summed(spread, Sum(first.schema), [c.name for c in first.schema.used], Partial)
    check_strays([Encoder(first.schema, strays=dict(whole.strays))], first, _rows(whole))
    summary, _ = finalize_schema(first, whole.summary)
    check_rows(summary, spread.title)
    names = frozenset(wanted(summary.schema) - summary.more.keys())
    if names:
        used = [c.name for c in summary.schema.used]
        found = _summed(spread, Extend(summary, names, like), used, Further)
        out = summary.canonical()
        out.more |= {name: found.more[name] for name in sorted(names)}
        return out
    return summary


def drafted(spread: Spread, reading: Reading, sums: bool = True) -> tuple[Draft, Partial | None]:
    """The draft of the schema and, where a guess at it was right, the sums under it from the same sweep."""
    title = spread.title
    if reading.schema is not None:
        return draft_schema(title, reading), None
    names, target = tuple(text_columns(title, reading)), tallied_target(title, reading)
    guess = _guess(spread, reading, names) if sums else None
    columns = [*names, *([target] if target is not None else [])]
    if guess is not None:
        columns += [c.name for c in guess.schema.used]
    if not columns:
        return draft_schema(title, reading, {}), None
    try:
        view = _summed(spread, Look(reading, names, guess), columns, View)
    except AlreadySwept:  # a cell cannot be read as was guessed, and its rows have gone by
        view = _summed(spread, Look(reading, names, None), columns, View)
    first = draft_schema(title, reading, view.seen.profiles, view.seen.tally)
    if view.sums is None or guess is None or guess.schema != first.schema or guess.open != first.open:
        return first, None
    return first, replace(view.sums, summary=view.sums.summary.with_schema(first.schema))


def _guess(spread: Spread, reading: Reading, names: Sequence[str]) -> Draft | None:
    """How the table is probably read: text by its first rows where the driver can see them, else as nominal."""
    title, target = spread.title, reading.target
    try:
        if isinstance(spread, Files):
            seen, _ = viewed(_FirstBatch(spread.first()), reading, names, None, 1, None)
            return draft_schema(title, reading, seen.profiles, seen.tally)
        forms = {column_form(title.schema.field(n).type) for n in title.schema.names}
        plain = target is None or target in names or target not in title.schema.names
        if forms == {"text"} or not plain or reading.target_bins is not None:
            return None
        return draft_schema(title, reading, {})
    except LikelyError:
        return None  # what is wrong will be told by the whole table


class _FirstBatch(SourceWrapper):
    """The first batch of a table."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.rows = None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        yield from islice(self.source.batches(columns), 1)


def _summed(spread: Spread, task: Any, columns: Sequence[str], kind: Any) -> Any:
    found = spread.summed(task, columns, kind)
    if found is None:
        raise no_rows(spread.title)
    return found


def no_rows(title: DeferredSource) -> InputError:
    """What is said of a table without any part."""
    return InputError(f"{title.name} has no rows. Give a table with at least one row.")


def _rows(whole: Partial) -> int:
    return whole.summary.rows + whole.summary.left_out
