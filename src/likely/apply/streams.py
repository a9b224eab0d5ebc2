"""Input without end: a model written anew as rows come, and a window of the last rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Unpack

from likely.apply.fitting import engine_of, fit, fit_table, learn, model_from_tree, relearn, with_loss
from likely.errors import FileFormatError, InputError, SettingError, shown
from likely.intake.options import FILE, WORKING, options_about
from likely.intake.reading import Reading, ReadingOptions, with_encoding
from likely.intake.schema import check_strays, draft_schema
from likely.intake.summarize import LocalEngine, extend_summary, observe_table
from likely.models.contracts import Learner, Model
from likely.models.default import default_learner
from likely.models.loss import Loss
from likely.sums import state
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import State
from likely.sums.state import read_mapping, read_whole, require
from likely.sums.summary import MOST_ROWS, Summary
from likely.sums.words.counting import Words
from likely.table.open import StreamBlocks
from likely.table.output.files import Revision
from likely.table.source import Source, SourceWrapper

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


# A stream without end: a model that is written anew after every so many rows. Keeps sums only, never the rows.


def follow(
    stream: Any,
    target: str | None,
    learner: Learner | None = None,
    *,
    every: int,
    write: Callable[[Model], None],
    loss: Loss | Mapping[str, Any] | None = None,
    name: str = "the stream",
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: int | None = None,
    progress: Callable[[int], None] | None = None,
    **reading: Any,
) -> Model:
    """Learn from delimited text or JSON lines as they come, and give the model to `write` after every so many rows.

    Naive Bayes learns where no learner is named, since a stream cannot be seen again. The first block says how columns
    are read (unless a schema does); the model is then the same, to the last bit, as one that is fitted on all rows so
    far as those of that schema.
    """
    if every < 1:
        raise SettingError(f"every is {every}. A block needs at least one row.")
    model: Model | None = None
    rows = 0
    # What has gone by cannot be read again in another encoding, so a block that is not in the first one's is refused.
    reading["encoding"] = encoding or "utf-8"
    later = {k: v for k, v in reading.items() if k in ("threads", "encoding_errors", "encoding")}
    for block in StreamBlocks(stream, name, every, encoding, delimiter, header_row):
        if model is None:
            model = fit(block, target, learner or default_learner("sums").learner, loss=loss, **reading)
        else:
            model = learn(model, block, **later)
        rows = model.summary.rows + model.summary.left_out
        if progress is not None:
            progress(rows)
        write(model)
    assert model is not None  # an empty stream was refused
    return model


# A moving window: a model of the last rows of a stream. What comes is learned, what is too old is unlearned.

STEPS = 10
"""A window of rows moves in so many steps where no step is given."""


@dataclass(frozen=True)
class WindowPiece:
    """Some rows that came together, and go together: their sums, and how many there were (with a class or without)."""

    summary: Summary
    size: int


class Window:
    """The last rows of a stream as a model: equal, to the last bit, to one that was fitted on these rows alone.

    `rows` keeps at most so many rows, and moves by `step` rows; `files` keeps so many tables, each learned at once. The
    first table says how columns are read, so it should be like the rest, or the kinds should be said.

    >>> window = Window("play", rows=4, step=2, types={"sky": "nominal"})
    >>> for sky in ("sun", "rain", "fog"):
    ...     window = window.learn({"sky": [sky, sky], "play": ["yes", "no"]})
    >>> window.model.levels("sky"), window.summary.rows
    (['fog', 'rain'], 4)
    """

    def __init__(
        self,
        target: str | None = None,
        learner: Learner | None = None,
        *,
        rows: int | None = None,
        step: int | None = None,
        files: int | None = None,
        loss: Loss | Mapping[str, Any] | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> None:
        if (rows is None) == (files is None):
            raise SettingError(
                "A window keeps a number of rows or of files. Give one of the two: rows=1000 or files=7."
            )
        if files is not None and step is not None:
            raise SettingError("A window of files moves by whole files. Leave step out, or give rows.")
        self.rows, self.files = _whole("rows", rows), _whole("files", files)
        self.step = _whole("step", step) or (None if self.rows is None else max(1, self.rows // STEPS))
        if self.rows is not None and self.step is not None and self.step > self.rows:
            raise SettingError(f"step is {self.step:,}, but the window keeps {self.rows:,} rows. Take a smaller step.")
        self.pieces: tuple[WindowPiece, ...] = ()
        self.came = 0
        """Rows that ever came."""
        self._learner = learner or default_learner("sums").learner
        self._loss, self._reading = Loss.of(loss), Reading(target, **reading)
        self._fitted: Model | None = None
        self._total: Summary | None = None

    # -- what comes and goes --------------------------------------------------------------------------------------

    def learn(self, data: object, **reading: Unpack[ReadingOptions]) -> Window:
        """Take in the rows of a table, let go of the oldest, and give back the window itself.

        Nothing changes where the table cannot be read to its end.
        """
        how = replace(self._reading, **reading) if self._fitted is None else self._later(reading)

        def work(source: Source) -> Window:
            first = self._fitted if self._fitted is not None else self._first(source, how)
            pieces, total, came = self._moved(source, first, how.under(first.schema))
            self._fitted, self.pieces, self._total, self.came = first, pieces, total, self.came + came
            return self

        return with_encoding(data, how, work)

    def _later(self, reading: Mapping[str, Any]) -> Reading:
        same = options_about(FILE, WORKING)
        odd = sorted(reading.keys() - {*same})
        if odd:
            raise SettingError(f"The window already exists and reads tables as before. Leave {odd[0]} out.")
        return Reading(**{name: getattr(self._reading, name) for name in same} | dict(reading))

    def _first(self, source: Source, how: Reading) -> Model:
        """The model of the first table: it says how columns are read, and what was chosen by looking at rows."""
        model = fit_table(engine_of(source, how), self._learner, how)
        if model.search_state() and not model.lasting_state():
            raise SettingError(
                f"{type(self._learner).__name__} must see the rows to learn, and a window keeps only their sums."
            )
        return with_loss(model, self._loss)

    def _moved(self, source: Source, first: Model, how: Reading) -> tuple[tuple[WindowPiece, ...], Summary, int]:
        pieces, total, came, coarse = list(self.pieces), self._total, 0, False
        like = first.summary.more
        for some in [source] if self.step is None else _cut(source, how, self.step, self._room()):
            engine = LocalEngine(some, how)
            draft, whole, strays = observe_table(engine, how)
            size = whole.rows + whole.left_out
            check_strays(draft, strays, size)
            own = extend_summary(engine, whole.canonical(), frozenset(like), like)
            came += size
            total = own if total is None else total + own
            if self.step is not None and pieces and pieces[-1].size < self.step:
                pieces[-1] = WindowPiece(pieces[-1].summary + own, pieces[-1].size + size)
            else:
                pieces.append(WindowPiece(own, size))
            while self._too_many(pieces):
                total = total - pieces.pop(0).summary
                coarse = coarse or _is_coarse(total)
        if not came:
            raise InputError(f"{source.name} has no rows. Give a table with at least one row below its header.")
        if coarse or total is None:
            # A tally that gave up low bits for rows that are gone does not win them back: it is added up anew.
            total = reduce(add, (p.summary for p in pieces))
        return tuple(pieces), total, came

    def _room(self) -> int:
        """How many rows the last piece still takes."""
        full = not self.pieces or self.pieces[-1].size == self.step
        return 0 if full or self.step is None else self.step - self.pieces[-1].size

    def _too_many(self, pieces: Sequence[WindowPiece]) -> bool:
        if len(pieces) < 2:
            return False
        return len(pieces) > self.files if self.files is not None else sum(p.size for p in pieces) > (self.rows or 0)

    # -- what is believed now -------------------------------------------------------------------------------------

    @property
    def summary(self) -> Summary:
        """The sums of the rows in the window."""
        if self._total is None:
            raise SettingError("The window is empty. Let it learn a table first.")
        return self._total

    @property
    def model(self) -> Model:
        """What the rows in the window teach."""
        summary = self.summary
        assert self._fitted is not None
        return relearn(self._fitted, summary)

    def __repr__(self) -> str:
        keeps = f"{self.files:,} files" if self.rows is None else f"{self.rows:,} rows"
        held = sum(p.size for p in self.pieces)
        return f"<Window of {keeps}: {held:,} rows in {len(self.pieces):,} pieces, {self.came:,} came>"

    # -- the file -------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], since: Revision | None = None) -> None:
        """Write the window to a file, which is a model's file too: every command can read it.

        It is not written where it has changed `since` it was read.
        """
        pieces = [{"size": p.size, "summary": p.summary.state()} for p in self.pieces]
        kept = {"rows": self.rows, "step": self.step, "files": self.files, "came": self.came, "pieces": pieces}
        state.write(path, state.dump({**self.model.tree(), "window": kept}), since)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Window:
        """Read a window's file, to go on from there."""
        name = shown(os.path.basename(path))
        tree = state.read(path)
        if "window" not in tree:
            raise FileFormatError(
                f"{name} holds no window. Begin one under another name: likely window FILE DATA --rows N."
            )
        model = model_from_tree(tree, name)
        with state.unsound(name):
            require(isinstance(model, Model), "a window holds a model")
            assert isinstance(model, Model)
            kept = read_mapping(tree["window"], "a window")
            out = cls(rows=kept["rows"], files=kept["files"], step=kept["step"] if kept["files"] is None else None)
            out.pieces = tuple(_read_piece(p, model) for p in kept["pieces"])
            require(out.pieces, "a window has a piece at least")
            out.came = read_whole(kept["came"], sum(p.size for p in out.pieces), MOST_ROWS, "the rows that came")
        out._fitted, out._total, out._learner, out._loss = model, model.summary, model.learner, model.loss
        return out


def _read_piece(kept: State, model: Model) -> WindowPiece:
    """A piece as a file keeps it: of the same columns as the model of the whole window."""
    summary = Summary.from_state(kept["summary"])
    summary.schema.check_agrees(model.schema)
    require({*summary.more} == {*model.summary.more}, "pieces keep what the whole keeps")
    size = summary.rows + summary.left_out
    return WindowPiece(summary, read_whole(kept["size"], size, size, "the rows of a piece"))


def _whole(name: str, value: int | None) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise SettingError(f"{name} is {shown(value)}. It must be a whole number, 1 or more.")
    return value


def _is_coarse(summary: Summary) -> bool:
    """Whether a tally has given up something that taking rows away does not bring back."""
    return any(isinstance(s, (Numbers, Words)) and s.level for s in summary.columns.values())


class _HeldRows(SourceWrapper):
    """Some rows of a source, held."""

    def __init__(self, source: Source, columns: list[str], batches: list[ArrowBatch]) -> None:
        super().__init__(source)
        self.rows, self._columns, self._batches = sum(b.num_rows for b in batches), columns, batches

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[ArrowBatch]:
        wanted = self._columns if columns is None else list(columns)
        for batch in self._batches:
            yield batch if wanted == self._columns else batch.select(wanted)


def _cut(source: Source, how: Reading, step: int, room: int) -> Iterator[Source]:
    """The rows of a source, `step` at a time; the first time as many as still fit into the piece before."""
    columns = draft_schema(source, how).schema.stored
    held: list[ArrowBatch] = []
    left = room or step
    for batch in source.batches(columns):
        at = 0
        while at < batch.num_rows:
            some = batch.slice(at, left)
            held.append(some)
            at, left = at + some.num_rows, left - some.num_rows
            if not left:
                yield _HeldRows(source, columns, held)
                held, left = [], step
    if held:
        yield _HeldRows(source, columns, held)
