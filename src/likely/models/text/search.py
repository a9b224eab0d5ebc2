"""Settings of text chosen on held-out rows: candidates one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.jit import kernel
from likely.machinery.threads import in_order
from likely.models.contracts import Learner, Learning, Model, Sweep
from likely.models.heldout.kept_rows import LAST_HASH, GatheredRows, KeptRows, class_codes
from likely.models.heldout.search import HeldOutParts, gather_rows
from likely.models.knowledge import Knowledge
from likely.models.model import learnable
from likely.models.prior import known_classes
from likely.models.text.factor import LEAST, HeldOutRows, best_scales
from likely.models.text.settings import Text
from likely.models.text.sums import DAMPED, WordSums, absent, log_weights, take_words, telling
from likely.sums.contracts import weights
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.batch import Batch, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Trials of text settings: candidates one after the other, each scored on documents that its sums do not have.

T = TypeVar("T")

FORMS: tuple[tuple[dict[str, Any], tuple[float, ...]], ...] = (
    ({"damping": "none", "length": False, "telling": False}, (0.1, 1.0)),
    ({"damping": "root", "length": True, "telling": False}, (0.03, 0.3)),
    ({"damping": "root", "length": True, "telling": True}, (0.01, 0.1)),
)
"""Forms that every model is tried in, with pseudo-counts that may suit them."""
REFINED: dict[str, tuple[Any, ...]] = {
    "damping": ("root", "binary", "log", "none"),
    "length": (True, False),
    "telling": (True, False),
    "pseudo_count": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    "least_documents": (1, 2, 3),
}
"""What the best of them is then tried with, one setting after the other."""


@dataclass(frozen=True, eq=False)
class Column:
    """One text column: the sums of all rows that are not held out, and the held-out documents as counts of words."""

    sums: WordSums
    some: NDArray[np.intp]
    """The words of the sums that the documents have."""
    document: NDArray[np.int32]
    """Of each entry: the document, the word (a place in `some`), and how often it occurs there."""
    word: NDArray[np.int32]
    times: Floats
    empty: NDArray[np.bool_]
    """Documents that are missing."""

    @classmethod
    def of(cls, words: Words, documents: Words, number: NDArray[np.intp], count: int) -> Column:
        """From the words of all other rows, and those of documents: number[g] is that of group g, or negative."""
        sums, tally = WordSums(words, words.groups), documents.tally()
        joint, mine, theirs = sums.tally.vocabulary.merged(tally.vocabulary)
        place = np.full(len(joint), -1, np.int64)
        place[mine] = np.arange(len(mine))
        own = place[theirs]
        own = np.where(own >= 0, np.where(sums.is_word[own], own, -1), -1) if len(sums.is_word) else own
        group = number[tally.group] if len(tally.keys) else np.empty(0, np.intp)
        at = own[tally.word]
        entries = np.flatnonzero((group >= 0) & (at >= 0))
        used = np.zeros(len(mine), np.bool_)
        used[at[entries]] = True
        some, word = np.flatnonzero(used), (np.cumsum(used, dtype=np.int32) - np.int32(1))[at[entries]]
        empty = np.ones(count, np.bool_)
        has = np.flatnonzero((group >= 0) & (tally.size > 0))
        empty[group[has]] = False
        return cls(
            sums,
            some,
            group[entries].astype(np.int32),
            word,
            tally.times[entries].astype(np.float64),
            empty,
        )


@dataclass(frozen=True, eq=False)
class TextTrial:
    """Rows that are held out: what all but the texts says of them, and their texts."""

    offset: Floats
    """Log scores of the classes without the texts that are tried, (rows, classes)."""
    truth: NDArray[np.intp]
    """The class of each row; negative where the other rows have no such class."""
    weight: Floats
    columns: Mapping[str, Column]

    def rows(self, scores: Sequence[Floats], before: Floats | None = None) -> HeldOutRows:
        """What scales are fitted to."""
        offset = self.offset if before is None else self.offset + before
        known = self.truth >= 0
        known[known] &= np.isfinite(offset[known, self.truth[known]])
        for score in scores:
            known[known] &= np.isfinite(score[known, self.truth[known]])
        return HeldOutRows(offset[known], [s[known] for s in scores], self.truth[known], self.weight[known])


class _Kept(Generic[T]):
    """The last few things that were made, by a key. What one thread makes, another that wants it waits for."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._held: dict[Any, Future[T]] = {}

    def get(self, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            known = self._held.pop(key, None)
            future = self._held[key] = Future() if known is None else known
            while len(self._held) > self._most:
                del self._held[next(iter(self._held))]
        if known is None:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()


@dataclass(frozen=True, eq=False)
class _SharedSums:
    """What candidates share that differ in their pseudo-count and model alone."""

    some: Floats
    """The sums of the words that the documents have."""
    totals: Floats
    """The sums over all kept words, and how many these are."""
    count: int
    every: Floats | None
    """All sums, where they are wanted."""
    there: NDArray[np.bool_]
    """Which words of the documents are kept."""
    known: NDArray[np.float64]
    """How many kept words each document has."""
    told: _Kept[Floats]
    """What each word tells of the class, by pseudo-count."""


class _Scorer:
    """Scores of the documents of one column under candidates, which share sums. Threads may ask side by side."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._tables: _Kept[Floats] = _Kept(2)
        self._made: _Kept[_SharedSums] = _Kept(3)
        self._values: _Kept[Floats] = _Kept(len(DAMPED))

    def _sums(self, how: Text) -> _SharedSums:
        about = (how.model == "bernoulli", how.damping, how.length, how.idf)
        key = (*about, how.least_documents, how.most_words)
        return self._made.get(key, lambda: self._make(how, self._tables.get(about, lambda: self._all(how))))

    def _all(self, how: Text) -> Floats:
        return self.column.sums.sums_for(how)

    def _make(self, how: Text, table: Floats) -> _SharedSums:
        column, kept = self.column, self.column.sums.kept(how)
        every = take_words(table, kept)
        own = every if how.model == "bernoulli" else None
        there = kept[column.some]
        times = column.times if there.all() else column.times * there[column.word]
        known = np.asarray(np.bincount(column.document, times, len(column.empty)), np.float64)
        return _SharedSums(table[column.some], every.sum(0), len(every), own, there, known, _Kept(2))

    def score(self, how: Text) -> Floats:
        """The scores of all documents without a scale, (documents, classes)."""
        column, sums, made = self.column, self.column.sums, self._sums(how)
        told = None
        if how.telling:
            extra = how.pseudo_count
            assert extra != "auto"
            told = made.told.get(extra, lambda: telling(made.some, made.totals, extra))
        found = log_weights(how, made.some, made.totals, made.count, sums.texts, told=told)
        if how.idf:
            found = found * sums.idf()[column.some][:, None]
        if not made.there.all():
            found[~made.there] = 0.0
        out = np.zeros((len(column.empty), sums.classes))
        if made.every is not None:
            out += absent(how, made.every, sums.texts)
        damping = "binary" if how.model == "bernoulli" else how.damping
        values = self._values.get(damping, lambda: DAMPED[damping](column.times))
        add_words(column.document, column.word, values, np.ascontiguousarray(found), out)
        if how.length:
            out /= np.sqrt(np.maximum(made.known, 1))[:, None]
        out[column.empty] = 0.0
        return out


def choose_text(said: Text, name: str, trials: Sequence[TextTrial]) -> Text:
    """The best settings of one column among those that were not said, with the scale that is best for them."""
    scorers = [_Scorer(trial.columns[name]) for trial in trials]
    free, best = said.scale == "auto", list[tuple[float, Text]]()
    tried: set[Text] = set()

    def judge(how: Text, start: float) -> tuple[float, Text]:
        rows = [trial.rows([scorer.score(how)]) for trial, scorer in zip(trials, scorers, strict=True)]
        scale, value = best_scales(rows, None if free else np.array([_scale(how)]), start)
        return value, replace(how, scale=float(scale[0]) if free else how.scale)

    def attempt(some: Iterable[Text | None]) -> None:
        """Judge candidates side by side; of equally good ones the first is taken, whichever was judged first."""
        new = [how for how in dict.fromkeys(some) if how is not None and how not in tried]
        tried.update(new)
        start = _scale(best[0][1]) if best else LEAST  # the same for all, so that none depends on another
        for value, how in in_order(new, lambda how: judge(how, start)):
            if not best or value > best[0][0]:
                best[:] = [(value, how)]

    attempt(_first(said, trials[0].offset.shape[1]))
    for setting, values in REFINED.items():
        if getattr(said, setting) == "auto":
            lead = replace(best[0][1], scale=said.scale)
            attempt(replace(lead, **{setting: "auto"}).candidate(**{setting: value}) for value in values)  # type: ignore[arg-type]
    return best[0][1]


def _scale(how: Text) -> float:
    return how.scale if isinstance(how.scale, float) else 1.0


def _first(said: Text, classes: int) -> list[Text]:
    """Every model, in every form that may suit it; those that share sums follow each other."""
    # Of two classes each is all that the other is not: complement and contrast are multinomial with another scale.
    models = ("multinomial", "complement", "contrast") if classes > 2 else ("multinomial",)
    out = []
    for form, counts in FORMS:
        for model, count in product(models, counts):
            out.append(said.candidate(model=model, pseudo_count=count, least_documents=1, **form))
    for count in FORMS[0][1]:
        out.append(said.candidate(model="bernoulli", pseudo_count=count, least_documents=1, **FORMS[0][0]))
    return [how for how in out if how is not None]


def joint_scales(said: Mapping[str, Text], chosen: Mapping[str, Text], trials: Sequence[TextTrial]) -> dict[str, Text]:
    """The scales of several columns fitted together, since each was chosen without the others."""
    names = [name for name in chosen if said[name].scale == "auto"]
    if len(chosen) < 2 or not names:
        return dict(chosen)
    rows = []
    for trial in trials:
        scores = {name: _Scorer(trial.columns[name]).score(how) for name, how in chosen.items()}
        fixed = [scores[n] * _scale(chosen[n]) for n in chosen if n not in names]
        rows.append(trial.rows([scores[n] for n in names], np.sum(fixed, axis=0) if fixed else None))
    scales, _ = best_scales(rows, None)
    found = dict(chosen)
    for name, scale in zip(names, scales.tolist(), strict=True):
        found[name] = replace(found[name], scale=scale)
    return found


@kernel("i4[], i4[], f8[], f8[][], f8[][]")
def add_words(document: Ints, word: Ints, value: Floats, table: Floats, out: Floats) -> None:
    """out[document] += value * table[word], for every entry."""
    for e in range(document.size):
        i, k, f = document[e], word[e], value[e]
        for c in range(table.shape[1]):
            out[i, c] += f * table[k, c]


# Settings of text chosen on rows held out: a part of the rows is kept, its sums are taken from the total, and every
# candidate is scored by the log probability that it gives to the classes of these rows. Changes nothing by threads.

MOST_ROWS = 5_000
"""Rows that are held out at most (different ones; those with the smallest hashes of their content)."""
FEW_ROWS, SOME_ROWS = 1_000, 20_000
FEW_SCORES = 1 << 23
"""Where there are few rows, or some and so few words times classes, all are held out in turn, a fifth at a time."""
LEAST_ROWS = 50
"""Where there are fewer, nothing is chosen."""
LONGEST = 1 << 20
"""Texts of more bytes are not held out, so that what is kept stays small."""
PARTS = 5


class LearnsText(Learner, Protocol):
    """A learner whose settings of text columns may be left to be chosen."""

    @property
    def knowledge(self) -> Sequence[Knowledge]: ...
    def text_settings(self, name: str) -> Text:
        """What was said of a text column."""
        ...

    def model(self, summary: Summary, chosen: Mapping[str, Text] | None = None) -> Model:
        """The model with settings of text as they were chosen; without, the plain ones."""
        ...


def choose_texts(learner: LearnsText, summary: Summary) -> Learning[dict[str, Text] | None]:
    """The settings of text columns that give the classes of held-out rows the greatest log probability; None where none
    are open or rows are too few to choose by. One sweep, to keep some rows; the plain settings do without."""
    columns = [name for name, s in summary.columns.items() if isinstance(s, Words)]
    said = {name: learner.text_settings(name) for name in columns if learner.text_settings(name).is_open}
    weighty = int((~summary.total.is_zero()).sum())
    if not said or summary.rows < LEAST_ROWS or weighty < 2:
        return None
    names, in_turn = tuple(said), held_out_in_turn(summary, tuple(said))
    most = summary.rows if in_turn else int(min(summary.rows / PARTS, MOST_ROWS))
    sums = yield Sweep(_short_texts, (summary, names, max(most, 1)), needed=False)
    if sums is None:
        return None
    trials = _trials(learner, summary, names, sums[0].dealt(summary, PARTS if in_turn else 1))
    if not trials:
        return None
    return joint_scales(said, {name: choose_text(said[name], name, trials) for name in names}, trials)


def held_out_in_turn(summary: Summary, names: Sequence[str]) -> bool:
    """Whether all rows are held out, a part at a time: a choice by few rows would be a matter of luck."""
    if not FEW_ROWS <= summary.rows <= SOME_ROWS:
        return summary.rows < FEW_ROWS
    classes, words = len(summary.classes), 0.0
    for name in names:
        _, times, weight = WordSums(summary.column(name, Words), classes).lengths
        words += float(times @ weight)
    return words * classes <= FEW_SCORES


def _short_texts(
    summary: Summary, names: Sequence[str], most: int, batch: Batch, group: Ints, weight: Floats
) -> tuple[GatheredRows]:
    """The rows that are held out: none whose texts are very long."""
    short = weight > 0
    for name in names:
        cells: Texts = batch.cells[name]
        short &= cells.ends - cells.starts <= LONGEST
    return gather_rows(summary, most, LAST_HASH, batch, np.where(short, group, np.int32(-1)), weight)


def _trials(learner: LearnsText, summary: Summary, names: Sequence[str], rows: KeptRows) -> list[TextTrial]:
    """For each part: what its rows say, and the sums of all other rows."""
    batch = rows.batch
    columns = [summary.schema[name] for name in names]
    words = {c.name: Words(0, c.tokens, c.kept) for c in columns}
    for name, held in words.items():
        held.make_room(batch.rows)
        held.update(batch.cells[name], np.arange(batch.rows, dtype=np.int32), weights(batch.weight))
    if unused := set(summary.more) - learner.needs(summary.schema):  # what other learners asked for
        summary = summary.without(unused)
    plain = _without_columns(summary, names)
    parts = HeldOutParts.of(plain, rows, plain.more, whole=plain)
    found = (_trial(learner, summary, parts, part, words) for part in parts.training)
    return [trial for trial in found if trial is not None]


def _trial(
    learner: LearnsText, whole: Summary, parts: HeldOutParts, part: int, words: Mapping[str, Words]
) -> TextTrial | None:
    """The rows of a part, and the sums of all others; None where these know one class alone."""
    rows, mine, rest = parts.rows, parts.rows.inside(part), parts.training[part]
    if len(rest.classes) < 2:
        return None
    rest = learnable(rest, known_classes(learner.knowledge, rest.schema), text=True)
    own = class_codes(whole.classes, rest.classes)[: len(whole.classes)].astype(np.intp)
    offset = np.array(learner.model(rest).log_joint(rows.batch.take(np.flatnonzero(mine))))
    number, places = np.where(mine, np.cumsum(mine) - 1, -1), np.where(mine, rows.group, -1).astype(np.intp)
    columns = {}
    for name, held in words.items():
        others = whole.column(name, Words) - held.regrouped(places, len(whole.classes))
        columns[name] = Column.of(others.regrouped(own, len(rest.classes)), held, number, int(mine.sum()))
    # Rows of a class that no other row has cannot be told by it: they are not scored.
    return TextTrial(offset, own[rows.group[mine]], rows.weight[mine], columns)


def _without_columns(summary: Summary, names: Collection[str]) -> Summary:
    """Without the columns that are tried, which are summed by document."""
    kept = (replace(c, role="left out") if c.name in names else c for c in summary.schema.columns)
    out = summary.with_schema(summary.schema.with_columns(kept))
    out.more = dict(summary.more)
    return out
