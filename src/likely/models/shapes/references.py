"""Answers for rows of which only some cells are known: averaged over rows that stand for the table.

P(class | known) is the mean of P(class | known, unknown) over what the unknown cells may hold, given those that are
known. `References` are rows of codes that stand for the table; `Completed` fills unknown cells from those that are like
the row, scores each completion, and averages. Knows scores and batches; how references are made is in
models/completing.py. Rows without an unknown cell never come here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Bools, Bytes, Floats, Ints
from likely.machinery.jit import kernel
from likely.models.shapes.block import Axis, PairTable, TreeSum
from likely.models.shapes.joint import Block, JointTable, MultivariateNormal
from likely.models.shapes.lines import Line
from likely.models.shapes.score import Opaque, Score, Terms, left_over, log_posterior
from likely.sums.contracts import State
from likely.sums.state import read_array, read_finite, read_texts, read_wholes, require
from likely.table.batch import MISSING_CODE, Batch, Codes, Texts
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.shapes.lines import Words

OTHERS = "what the unknown would probably say"
"""The line of all that unknown cells take part in."""
WIDTH = 0.1
"""Two numbers this share of the rows apart cost half a nat."""
LEAST_ALIKE = 10
"""References that count at least: where fewer are like the row, all are taken to be more alike than they are."""
COMPLETIONS = 64
"""Rows that an unknown part is filled from."""
STEPS = 24
"""Step h takes costs times 2 ** (-h / 2)."""
UNIT = 1 << 20
"""Weights are whole numbers of so many parts, so that their sums are exact and all languages draw the same rows."""
ROOM = 8192
"""Completions that are scored at a time."""


@dataclass(frozen=True, eq=False)
class References:
    """Rows that stand for the table, cell by cell a code; nobody's own (models/completing.py)."""

    axes: tuple[Axis, ...]
    values: tuple[Any, ...]
    """For each axis what its codes stand for: names of levels, or numbers. After them comes the code of a missing
    cell."""
    places: tuple[Floats, ...]
    """For each axis where a code lies, a missing cell last: the share of rows below a number; levels are 1 apart."""
    far: tuple[Floats, ...]
    """For each axis what a difference costs at most, by the code of the row: another level, or a number far
    away. The more, the rarer the value."""
    relevance: Floats
    """How much a difference counts: 0 for an attribute that tells nothing of any other."""
    codes: Bytes
    """(references, axes), in the order of what the model says of them, class by class: so a few, evenly drawn, stand
    for all."""
    weights: Floats
    """What each counts, at most 1: levels that are rare have more references than their share."""
    shares: tuple[Floats, ...]
    """For each axis (codes and one more, classes): what the table says of the class given this one value, less what
    the mean over references does, in nats; the last serves cells without a code. The mean of these over what is known
    is added."""
    usual: Bools
    """(patterns, axes): which cells are unknown in rows that are scored as they are, because many rows of training
    were like that: what it means was learned."""
    before: Score | None = None
    """The score under the prior that was learned, where another was put in: what is averaged."""
    shift: Floats | None = None
    """What the other prior adds to the log score of each class."""

    def under_prior(self, score: Score, shift: Floats) -> References:
        """The same where the prior becomes exp(shift) times as large; `score` is that under the prior so far."""
        more = shift if self.shift is None else self.shift + shift
        return replace(self, before=self.before or score, shift=more)

    @property
    def names(self) -> list[str]:
        """The attributes that rows are filled with."""
        return [axis.name for axis in self.axes]

    @cached_property
    def lying(self) -> Floats:
        """Where the cells of each reference lie, (references, axes)."""
        columns = [place[code] for place, code in zip(self.places, self.codes.T, strict=True)]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def are_unlike(self, batch: Batch) -> Bools:
        """Which rows are like no reference: farther from the nearest than any of them is from the others, by what is
        known of the row, and by more than one value."""
        lie, far = np.full((batch.rows, len(self.axes)), np.nan), np.zeros((batch.rows, len(self.axes)))
        for k, axis in enumerate(self.axes):
            cells = batch.cells[axis.name]
            codes = np.where(are_unknown(cells), -1, axis.codes(cells))
            known = np.flatnonzero(codes >= 0)
            lie[known, k], far[known, k] = self.places[k][codes[known]], self.far[k][codes[known]]
        patterns, place = np.unique(np.isfinite(lie), axis=0, return_inverse=True)
        limits = np.array([self._farthest(pattern) for pattern in patterns])
        return np.asarray(_nearest(lie, far, self, False) > limits[place.reshape(-1)])

    def _farthest(self, known: Bools) -> float:
        """How far the most isolated reference is from all others, by these axes."""
        key = known.tobytes()
        if key not in self._limits:
            columns = [far[code] for far, code in zip(self.far, self.codes.T, strict=True)]
            lie = np.where(known, self.lying, np.nan)
            few = known.sum() < 2 or len(self.codes) < 2
            self._limits[key] = np.inf if few else float(_nearest(lie, np.stack(columns, axis=1), self, True).max())
        return self._limits[key]

    @cached_property
    def _limits(self) -> dict[bytes, float]:
        return {}

    def _missing(self, batch: Batch) -> Bools:
        return np.stack([are_unknown(batch.cells[axis.name]) for axis in self.axes], axis=1)

    def are_usual(self, batch: Batch) -> Bools:
        """Which rows lack just those cells that many rows of training lacked: they are answered as was learned."""
        if not len(self.usual):
            return np.zeros(batch.rows, np.bool_)
        return np.isin(_as_one(self._missing(batch)), _as_one(self.usual))

    def unknown(self, batch: Batch) -> Bools | None:
        """Which cells of each row are to be averaged over, (rows, axes); None where there is none."""
        names = [axis.name for axis in self.axes]
        # A row by itself is common, and arrays of one cell take long.
        if batch.rows == 1 and not any(_is_unknown(batch.cells[name], 0) for name in names):
            return None
        gone = self._missing(batch)
        partly = np.flatnonzero(gone.any(axis=1))
        if len(self.usual) and len(partly):
            as_learned = np.isin(_as_one(gone[partly]), _as_one(self.usual))
            gone[partly[as_learned]] = False
            partly = partly[~as_learned]
        if not len(partly):
            return None
        for k, axis in enumerate(self.axes):  # a level that training did not have is not known either
            gone[partly, k] |= axis.codes(batch.cells[axis.name])[partly] < 0
        gone[gone.all(axis=1)] = False  # with nothing known a score says the prior by itself
        return gone if gone.any() else None

    def draw(self, batch: Batch, gone: Bools, count: int) -> tuple[NDArray[np.int32], Floats]:
        """For each row so many references that fill it, (rows, count), and what is added to its log scores."""
        lie, far = np.full(gone.shape, np.nan), np.zeros(gone.shape)
        more = np.zeros((batch.rows, self.shares[0].shape[1]))
        for k, axis in enumerate(self.axes):
            codes = axis.codes(batch.cells[axis.name])
            known = np.flatnonzero(~gone[:, k] & (codes >= 0))
            lie[known, k], far[known, k] = self.places[k][codes[known]], self.far[k][codes[known]]
            more[known] += self.shares[k][codes[known]]
        more /= np.maximum(np.isfinite(lie).sum(axis=1), 1)[:, None]
        out = np.empty((batch.rows, count), np.int32)
        room = np.empty(len(self.codes)), np.empty(len(self.codes))
        draw_alike(lie, far, self.lying, self.weights, self.relevance, min(LEAST_ALIKE, len(self.codes)), *room, out)
        return out, more

    def fill(self, batch: Batch, gone: Bools, drawn: Ints) -> Batch:
        """The rows, each as often as references were drawn for it, with what these hold in the place of the unknown."""
        rows, each = np.repeat(np.arange(batch.rows), drawn.shape[1]), drawn.reshape(-1)
        whole = batch.take(rows)
        cells = dict(whole.cells)
        for k, axis in enumerate(self.axes):
            if not gone[:, k].any():
                continue
            own, unknown, codes = cells[axis.name], gone[rows, k], self.codes[each, k]
            if isinstance(own, Codes):
                index = own.labels.index
                place = [index.get(name, MISSING_CODE) for name in self.values[k]]
                filled = np.array([*place, MISSING_CODE], np.int32)[codes]
                cells[axis.name] = Codes(np.where(unknown, filled, own.codes), own.labels)
            else:
                cells[axis.name] = np.where(unknown, np.append(self.values[k], np.nan)[codes], own)
        return replace(whole, cells=cells)

    # -- the file -------------------------------------------------------------------------------------------

    def state(self) -> State:
        """What a file keeps."""
        return {
            "names": [axis.name for axis in self.axes],
            "edges": [axis.edges for axis in self.axes],
            "levels": [list(axis.levels.names) for axis in self.axes],
            "groups": [axis.groups for axis in self.axes],
            "values": list(self.values),
            "places": list(self.places),
            "far": list(self.far),
            "relevance": self.relevance,
            "codes": self.codes,
            "weights": self.weights,
            "shares": list(self.shares),
            "usual": self.usual.astype(np.uint8),
        }

    @classmethod
    def from_state(cls, found: State, classes: int) -> References:
        """What a file keeps, checked: kernels go by codes and sizes."""
        each = zip(found["names"], found["edges"], found["levels"], found["groups"], strict=True)
        axes = tuple(_read_axis(*one) for one in each)
        sizes, codes = np.array([axis.size for axis in axes]), read_array(found["codes"], "u", 2, "references")
        require(codes.dtype == np.uint8 and codes.shape[1] == len(axes) > 0 < len(codes), "references are bytes")
        require(bool((codes <= sizes).all()), "codes of references are among those of their axes")
        own: dict[str, tuple[Any, ...]] = {
            name: tuple(read_finite(a, (axis.size + 1, *more), name) for a, axis in zip(found[name], axes, strict=True))
            for name, more in (("places", ()), ("far", ()), ("shares", (classes,)))
        }
        values = tuple(_read_values(v, axis) for v, axis in zip(found["values"], axes, strict=True))
        usual = read_array(found["usual"], "u", 2, "patterns")
        require(usual.shape[1] == len(axes), "patterns have a place for each axis")
        relevance = read_finite(found["relevance"], (len(axes),), "relevance", least=0.0, most=1.0)
        whole = np.ascontiguousarray(codes)
        weights = read_finite(found["weights"], (len(codes),), "weights of references", least=0.0, most=1.0)
        return cls(axes, values, own["places"], own["far"], relevance, whole, weights, own["shares"], usual != 0)


def _read_axis(name: object, edges: object, levels: object, groups: object) -> Axis:
    require(isinstance(name, str) and isinstance(levels, list), "references have names and levels")
    assert isinstance(name, str) and isinstance(levels, list)
    cut = own = None
    if edges is not None:
        cut = read_array(edges, "f", 1, "edges of references").astype(np.float64)
        require(bool(np.isfinite(cut).all()) and bool((np.diff(cut) > 0).all()), "edges of references rise")
    if groups is not None:
        own = read_wholes(groups, 1, "groups of levels").astype(np.int32)
        require(len(own) == len(levels) and int(own.min(initial=0)) >= 0, "each level has a group")
    axis = Axis(name, Labels(read_texts(levels, "levels")), cut, own)
    require(axis.size <= 255, "codes of references are bytes")
    return axis


def _read_values(values: object, axis: Axis) -> Any:
    if axis.edges is None:
        names = read_texts(values, "levels of references")
        require(len(names) == axis.size, "each code has a level")
        return names
    numbers = read_array(values, "f", 1, "values of references")
    require(len(numbers) == axis.size, "each bin has a value")
    return numbers.astype(np.float64)


def are_unknown(cells: Any) -> Bools:
    """Which cells of a column are missing; numbers that are infinite count as missing."""
    return np.asarray(cells.codes == MISSING_CODE if isinstance(cells, Codes) else ~np.isfinite(cells))


def _as_one(patterns: Bools) -> NDArray[np.void]:
    """Each pattern as one value, to be found among others."""
    packed = np.packbits(patterns, axis=1)
    return packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)


def _nearest(rows: Floats, far: Floats, references: References, own: bool) -> Floats:
    """What each row differs from the reference most like it; with `own` the rows are the references."""
    out = np.empty(len(rows))
    find_nearest(rows, np.ascontiguousarray(far), references.lying, references.relevance, int(own), out)
    return out


def _is_unknown(cells: Any, row: int) -> bool:
    return bool(cells.codes[row] == MISSING_CODE) if isinstance(cells, Codes) else not math.isfinite(cells[row])


@kernel("f8[][], f8[][], f8[][], f8[], i8, f8[]")
def find_nearest(rows: Floats, far: Floats, references: Floats, relevance: Floats, own: int, out: Floats) -> None:
    """For each row what it differs from the reference most like it, as in `draw_alike`; with `own`, the rows are the
    references, and none is compared with itself."""
    for i in range(rows.shape[0]):
        out[i] = np.inf
        for r in range(references.shape[0]):
            if own and r == i:
                continue
            cost = 0.0
            for j in range(rows.shape[1]):
                if not np.isnan(rows[i, j]) and cost < out[i]:
                    d = (rows[i, j] - references[r, j]) / WIDTH
                    cost += relevance[j] * min(0.5 * d * d, far[i, j])
            out[i] = min(out[i], cost)


@kernel("f8[][], f8[][], f8[][], f8[], f8[], i8, f8[], f8[], i4[][]")
def draw_alike(
    rows: Floats,
    far: Floats,
    references: Floats,
    counts: Floats,
    relevance: Floats,
    least: int,
    costs: Floats,
    weights: Floats,
    out: Ints,
) -> None:
    """For each row, references drawn evenly from all of them, each counting by how much it is like the row.

    Cells that are NaN are unknown. Costs are divided by sqrt(2) again and again until at least so many count:
    (sum of weights)**2 / (sum of their squares).
    """
    for i in range(rows.shape[0]):
        cheapest = np.inf
        for r in range(references.shape[0]):
            cost = 0.0
            for j in range(rows.shape[1]):
                if not np.isnan(rows[i, j]):
                    d = (rows[i, j] - references[r, j]) / WIDTH
                    cost += relevance[j] * min(0.5 * d * d, far[i, j])
            costs[r] = cost
            cheapest = min(cheapest, cost)
        low, high = -1, STEPS  # the first step at which enough count lies above low, at most at high
        while high - low > 1:
            middle = (low + high) // 2
            total, squares = 0.0, 0.0
            for r in range(references.shape[0]):
                w = np.floor(np.exp((cheapest - costs[r]) * 2.0 ** (-0.5 * middle)) * (UNIT * counts[r]))
                total += w
                squares += w * w
            if total * total >= least * squares:
                high = middle
            else:
                low = middle
        total = 0.0
        for r in range(references.shape[0]):
            weights[r] = np.floor(np.exp((cheapest - costs[r]) * 2.0 ** (-0.5 * high)) * (UNIT * counts[r]))
            total += weights[r]
        r, so_far = 0, weights[0]
        for k in range(out.shape[1]):
            while so_far * (2 * out.shape[1]) <= total * (2 * k + 1) and r + 1 < references.shape[0]:
                r += 1
                so_far += weights[r]
            out[i, k] = r


@dataclass(frozen=True, eq=False)
class Completed(Score):
    """The score inside, where every cell is known; else log of the mean of P(class | completed row), and what the
    table says of each known value by itself beyond that."""

    inner: Score
    references: References
    count: int = COMPLETIONS
    """References that are drawn for a row."""

    @property
    def is_sum(self) -> bool:
        return self.inner.is_sum

    @property
    def opaque(self) -> Opaque | None:
        return self.inner.opaque

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        gone = self.references.unknown(batch)
        if gone is None:
            return self.inner.scored(batch)
        partly = gone.any(axis=1)
        out = np.empty((batch.rows, self.references.shares[0].shape[1]))
        words: Words = {}
        if not partly.all() or any(isinstance(cells, Texts) for cells in batch.cells.values()):
            out, words = self.inner.scored(batch)
        rows = np.flatnonzero(partly)
        step = max(1, ROOM // self.count)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            out[some] = self._averaged(batch.take(some), gone[some])
        return out, words

    def _averaged(self, batch: Batch, gone: Bools) -> Floats:
        """Log scores of rows with unknown cells."""
        references = self.references
        drawn, more = references.draw(batch, gone, self.count)
        # A reference that is drawn several times is scored once.
        new = np.ones(drawn.shape, np.bool_)
        new[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
        first, times = np.flatnonzero(new), np.diff(np.append(np.flatnonzero(new), drawn.size))
        row = first // drawn.shape[1]
        whole = references.fill(batch.take(row), gone[row], drawn.reshape(-1, 1)[first])
        logs = log_posterior((references.before or self.inner).scored(whole)[0])
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        top = np.maximum.reduceat(logs, starts, axis=0)
        top = np.where(np.isneginf(top), 0.0, top)  # P may be too small for a double, and is not 0 for that
        sums = np.add.reduceat(
            np.exp(logs - np.repeat(top, np.diff(np.append(starts, len(row))), axis=0)) * times[:, None], starts
        )
        with np.errstate(divide="ignore"):
            out: Floats = top + np.log(sums / drawn.shape[1]) + more
        out = log_posterior(out)
        return out if references.shift is None else out + references.shift

    def take_apart(self, batch: Batch) -> Terms | None:
        """The lines inside whose attributes are all known, and last what the unknown would probably say."""
        terms, gone = self.inner.take_apart(batch), self.references.unknown(batch)
        if terms is None or gone is None:
            return terms
        partly = gone.any(axis=1)
        names = [axis.name for axis in self.references.axes]
        lines = len(terms.lines)
        array = np.insert(terms.array, 1 + lines, 0.0, axis=1)
        for k, line in enumerate(terms.lines, 1):
            own = [j for j, name in enumerate(names) if name in read_by(line)]
            array[gone[:, own].any(axis=1), k] = 0.0
        array[partly, 2 + lines :] = 0.0
        sums = array[partly].transpose(1, 0, 2)
        array[partly, 1 + lines] = left_over(sums[: 1 + lines], self.scored(batch)[0][partly])
        told = (*terms.names[: 1 + lines], OTHERS, *terms.names[1 + lines :])
        return Terms(told, array, (*terms.lines, Line(OTHERS, ())), terms.last, averaged=True)


def read_by(line: Line) -> Sequence[str]:
    """The attributes without which a line says nothing: its own, or all that it takes together."""
    sets = (PairTable, TreeSum, JointTable, MultivariateNormal, Block)
    together = [
        name
        for part in line.parts
        if isinstance(part.term, sets) and not (isinstance(part.term, TreeSum) and part.share is not None)
        for name in part.term.names
    ]
    return together or [line.name]
