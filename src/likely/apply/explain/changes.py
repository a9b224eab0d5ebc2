"""What could be other than it is, and the search for the fewest changes that turn a decision."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.decide.missing import starts_of
from likely.apply.explain.ledger import clean, percent
from likely.apply.explain.pieces import Span, places_of
from likely.apply.explain.row import QueryRow
from likely.models.contracts import Model
from likely.models.posterior import Posterior
from likely.models.shapes import Column, Density, Slope, WordWeights, sum_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The search for the fewest changes: exact where scores are sums of terms, else by trying combinations in turn.

NODES = 40_000
"""Places that the exact search looks at before it gives up."""
CHUNK = 8192
SLACK = 1e-9
"""What rounding may have taken from a sum of terms; whatever is found so is put to the model itself."""

Pick = tuple[tuple[int, int], ...]
"""Changes: the number of an attribute and the number of a candidate of it."""


@dataclass
class Budget:
    """How much may still be tried."""

    left: int

    def spend(self, steps: int = 1) -> bool:
        self.left -= steps
        return self.left >= 0


def fewest_by_terms(
    fixed: NDArray[np.float64],
    current: NDArray[np.float64],
    tables: Sequence[NDArray[np.float64]],
    towards: int,
    holds: Callable[[Pick], bool],
    budget: Budget,
    most: int,
) -> Pick | None:
    """The fewest changes under which class `towards` has the highest score; None where at most `most` cannot do it.

    Scores are `fixed` + one row for each attribute: of `current` (attributes, classes), or of its table (candidates,
    classes) if it is changed. Branch and bound, size after size: with so many changes left, no class can fall further
    behind than by the largest gains on it that are left. Of two classes this takes the largest gains first.
    """
    order = _Order.of(fixed, current, tables, towards)
    if order is None:
        return None
    for size in range(max(order.forced, 1), min(most, len(order.places)) + 1):
        found = order.search(size, holds, budget)
        if found is not None or budget.left < 0:
            return found
    return None


@dataclass
class _Order:
    """What each attribute can do for one class, attributes that must change first, then those that can do most."""

    places: list[int]
    forced: int
    finite: NDArray[np.float64]
    """How far the class is ahead of each other one, what is impossible there left out."""
    infinite: NDArray[np.intp]
    """How many pieces make each other class impossible."""
    own: NDArray[np.float64]
    """(attributes, others): what each attribute contributes as it is; 0 where it must change."""
    options: list[tuple[NDArray[np.intp], NDArray[np.float64]]]
    """Of each attribute the candidates that no other beats, and what they contribute."""
    gains: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        fixed: NDArray[np.float64],
        current: NDArray[np.float64],
        tables: Sequence[NDArray[np.float64]],
        towards: int,
    ) -> _Order | None:
        others = [c for c in range(len(fixed)) if c != towards]
        if fixed[towards] == -math.inf:
            return None

        def ahead(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            return logs[..., [towards]] - logs[..., others]

        must = np.isneginf(current[:, towards]) if len(current) else np.zeros(0, np.bool_)
        with np.errstate(invalid="ignore"):
            own = np.where(must[:, None], 0.0, ahead(current)) if len(current) else np.zeros((0, len(others)))
            start = ahead(fixed)
        options, gains = [], []
        for k, table in enumerate(tables):
            alive = np.flatnonzero(table[:, towards] > -math.inf)
            best = _undominated(ahead(table[alive]))
            options.append((alive[best], ahead(table[alive[best]])))
            with np.errstate(invalid="ignore"):
                gain = options[-1][1].max(axis=0, initial=-math.inf) - own[k]
            gains.append(np.where(np.isposinf(own[k]), 0.0, gain))
        if any(must[k] and not len(options[k][0]) for k in range(len(tables))):
            return None
        total = start + own.sum(axis=0) if len(own) else start
        need = np.maximum(np.where(np.isfinite(total), -total, 0.0), 0.0)
        worth = [float(np.clip(g, 0, need).sum()) for g in gains]
        able = [k for k in range(len(tables)) if len(options[k][0])]
        places = sorted(able, key=lambda k: (not must[k], -worth[k], k))
        pieces = np.concatenate([start[None], own])
        return cls(
            places,
            int(must.sum()),
            np.where(np.isposinf(pieces), 0.0, pieces).sum(axis=0),
            np.isposinf(pieces).sum(axis=0),
            own,
            options,
            np.array(gains).reshape(len(tables), len(others)),
        )

    def search(self, size: int, holds: Callable[[Pick], bool], budget: Budget) -> Pick | None:
        """Changes of exactly so many attributes that do it."""
        bounds = self._bounds(size)
        slack = SLACK * (1 + float(np.abs(self.finite).max(initial=0.0)))

        def deeper(start: int, finite: NDArray[np.float64], infinite: NDArray[np.intp], picked: Pick) -> Pick | None:
            left = size - len(picked)
            if not left:
                return picked if bool(((infinite > 0) | (finite >= -slack)).all()) and holds(picked) else None
            for at in range(start, len(self.places) - left + 1):
                if len(picked) < self.forced and at > len(picked):
                    return None  # an attribute that must change was passed over
                reach = np.where(infinite > 0, math.inf, finite + bounds[at, left - 1])
                if not budget.spend() or bool((reach < -slack).any()):
                    return None  # nor can any attribute after this one do it
                place = self.places[at]
                own = self.own[place]
                without = finite - np.where(np.isposinf(own), 0.0, own)
                fewer = infinite - np.isposinf(own)
                codes, values = self.options[place]
                for code, value in zip(codes.tolist(), values, strict=True):
                    with_it = without + np.where(np.isposinf(value), 0.0, value)
                    found = deeper(at + 1, with_it, fewer + np.isposinf(value), (*picked, (place, code)))
                    if found is not None or budget.left < 0:
                        return found
            return None

        return deeper(0, self.finite, self.infinite, ())

    def _bounds(self, size: int) -> NDArray[np.float64]:
        """[place, r - 1]: the most that r changes among the attributes from `place` on can gain on each other class."""
        count, others = len(self.places), self.gains.shape[1]
        top = np.full((size, others), -math.inf)
        out = np.empty((count + 1, size, others))
        out[count] = top
        for at in range(count - 1, -1, -1):
            top = -np.sort(-np.concatenate([top, self.gains[self.places[at]][None]]), axis=0)[:size]
            with np.errstate(invalid="ignore"):
                out[at] = np.cumsum(np.where(np.isneginf(top), 0.0, top), axis=0)
        return out


def _undominated(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The rows that no other row equals or beats everywhere, the largest sums first; of equal rows the first."""
    with np.errstate(invalid="ignore"):
        sums = np.where(np.isposinf(values), 1e300, values).sum(axis=1)
    kept: list[int] = []
    for k in np.argsort(-sums, kind="stable").tolist():
        if not kept or not bool((values[kept] >= values[k]).all(axis=1).any()):
            kept.append(k)
    return np.array(kept, np.intp)


def fewest_by_trying(
    sizes: Sequence[int],
    wanted: Callable[[Sequence[int], NDArray[np.intp]], NDArray[np.bool_]],
    budget: Budget,
    most: int,
) -> Pick | None:
    """The fewest changes that do it, every combination of candidates tried, smaller sets of attributes first.

    `sizes` says how many candidates each attribute has; `wanted(attributes, codes)` which rows of codes do it.
    """
    for size in range(1, min(most, len(sizes)) + 1):
        for some in combinations(range(len(sizes)), size):
            for codes in _products([sizes[k] for k in some]):
                if not budget.spend(len(codes)):
                    return None
                hits = np.flatnonzero(wanted(some, codes))
                if len(hits):
                    return tuple(zip(some, codes[hits[0]].tolist(), strict=True))
    return None


def _products(sizes: Sequence[int]) -> Iterator[NDArray[np.intp]]:
    """All rows of codes below `sizes`, in chunks; the last code runs fastest."""
    total = math.prod(sizes)
    for start in range(0, total, CHUNK):
        flat = np.arange(start, min(start + CHUNK, total))
        yield np.column_stack(np.unravel_index(flat, sizes)).astype(np.intp)


# The values that an attribute could have instead: every level, or numbers within the range of training and
# knowledge.

POINTS = 65
"""Values of training, by quantile, that a number is tried at."""
DEVIATIONS = 3
"""A number of which something is known before data may lie so many deviations from the mean that was said."""
MOST_CLASSES = 40
"""With more classes than this, peaks and crossings are sought for neighbouring classes only."""


@dataclass(frozen=True)
class ChangeChoice:
    """The cells that an attribute may be changed to: codes of levels, or numbers in order."""

    name: str
    values: NDArray[Any]
    labels: Labels | None = None
    whole: bool = False
    """Whether training had whole numbers only, so that only these are tried."""
    date: bool = False
    low: float = math.nan
    high: float = math.nan
    """The range of training, and of what is known before data."""
    complete: bool = True
    """Whether nothing that the model would answer otherwise lies between the values."""

    def cells(self, index: NDArray[np.intp]) -> Codes | NDArray[np.float64]:
        """The values at `index` as a column of a batch."""
        return self.column(self.values[index])

    def column(self, values: NDArray[Any]) -> Codes | NDArray[np.float64]:
        if self.labels is not None:
            return Codes(np.ascontiguousarray(values, np.int32), self.labels)
        return np.ascontiguousarray(values, np.float64)


def additive(model: Model) -> dict[str, tuple[Column, float]] | None:
    """For each attribute what adds its term, and its power; None where some term depends on several cells."""
    shape = model.shape()
    found = None if shape is None else sum_of(shape)
    if found is None:
        return None
    whole, power = found
    out = {term.name: (term, power * own) for term, own in whole.powered if isinstance(term, Column)}
    return out if len(out) == len(whole.terms) else None


def is_plain(term: Column) -> bool:
    """Whether the term of a number is so plain that where two classes cross can be worked out."""
    return isinstance(term, Slope) or (isinstance(term, Density) and term.kernels is None)


def choices(model: Model, batch: Batch, names: list[str], totals: NDArray[np.float64]) -> list[ChangeChoice]:
    """What each attribute in `names` could be; those that can be nothing else are left out.

    `totals` is the log score of the row, by class: it says where a number alone would turn the decision.
    """
    out = []
    for name in names:
        statistic = model.summary.columns[name]
        cells = batch.cells[name]
        if isinstance(statistic, Counts) and isinstance(cells, Codes):
            codes = np.arange(len(cells.labels), dtype=np.int32)
            codes = codes[codes != int(cells.codes[0])]
            if len(codes):
                out.append(ChangeChoice(name, codes, cells.labels))
        elif isinstance(statistic, Numbers) and not isinstance(cells, Codes):
            found = _numbers(model, name, statistic, float(cells[0]), totals)
            if found is not None:
                out.append(found)
    return out


def _numbers(model: Model, name: str, numbers: Numbers, now: float, totals: NDArray[np.float64]) -> ChangeChoice | None:
    values, _ = numbers.tally()
    ends = [*values[[0, -1]].tolist(), *_known_ends(model, name)] if len(values) else _known_ends(model, name)
    if not ends:
        return None
    low, high = min(ends), max(ends)
    whole = len(values) > 0 and bool((np.floor(values) == values).all())
    places = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(np.intp))
    bins = starts_of(model, name)
    if bins is not None:
        points = _nearest_of_bins(bins, low, high, now, whole)
    else:
        more = _turns(model, name, low, high, now, totals)
        even = low + (high - low) * np.linspace(0, 1, POINTS) if math.isfinite(high - low) else np.empty(0)
        points = np.concatenate([values[places], even, more])
    if whole:
        points = np.concatenate([np.floor(points), np.ceil(points)])
    points = points[np.isfinite(points) & (points >= low) & (points <= high) & (points != now)]
    if not len(points):
        return None
    own = (additive(model) or {}).get(name)
    complete = bins is not None or (len(totals) < 3 and own is not None and is_plain(own[0]))
    return ChangeChoice(name, np.unique(points), None, whole, model.schema[name].kind == "date", low, high, complete)


def _known_ends(model: Model, name: str) -> list[float]:
    """Between which numbers those of which something is known before data lie."""
    factor = model.factor_of(name)
    known = factor.normal.knowledge if isinstance(factor, Density) else ()
    return [
        float(one.mean) + sign * DEVIATIONS * math.sqrt(one.variance) for one in known if one is not None
        for sign in (-1, 1)
    ]  # fmt: skip


def _nearest_of_bins(
    starts: NDArray[np.float64], low: float, high: float, now: float, whole: bool
) -> NDArray[np.float64]:
    """Of each bin the number that is nearest to the one there is; the ends of the bins where there is none."""
    lows = np.concatenate([[low], starts])
    highs = np.concatenate([np.nextafter(starts, -np.inf), [high]])
    if whole:
        lows, highs = np.ceil(lows), np.floor(highs)
    inside = (lows <= highs) & (highs >= low) & (lows <= high)
    lows, highs = np.maximum(lows[inside], low), np.minimum(highs[inside], high)
    return np.concatenate([lows, highs]) if math.isnan(now) else np.clip(now, lows, highs)


def _turns(
    model: Model, name: str, low: float, high: float, now: float, totals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where log P(x | a) - log P(x | b) of two classes peaks, and numbers between those where their totals cross."""
    found = (additive(model) or {}).get(name)
    if found is None or not is_plain(found[0]):
        return np.empty(0)
    term, power = found
    classes = len(totals)
    a, b = np.triu_indices(classes, 1) if classes <= MOST_CLASSES else (np.arange(classes - 1), np.arange(1, classes))
    own = np.zeros((1, classes))
    term.add_cells(np.array([now]), own)
    with np.errstate(all="ignore"):
        rest = totals - power * own[0]
        apart = rest[a] - rest[b]
        if isinstance(term, Density):
            normal = term.normal
            mean, rate, peak = normal.mean, power * normal.rate**2, power * normal.peak
            # In u = x - mean[a]: square * u² + line * u + level = 0 where the two totals cross.
            shift = mean[b] - mean[a]
            square, line = rate[b] - rate[a], -2 * rate[b] * shift
            level = rate[b] * shift**2 + peak[a] - peak[b] + apart
            root = np.sqrt(line**2 - 4 * square * level)
            q = -(line + np.where(line < 0, -root, root)) / 2
            peaks = mean[a] - line / (2 * square)
            # In a pool a density stays as it is from `farthest` on: there the other class crosses that level.
            floor, stops = peak - rate * normal.farthest**2, [mean - normal.farthest, mean + normal.farthest]
            for k, other, sign in ((a, b, 1), (b, a, -1)):
                away = np.sqrt((peak[k] - floor[other] + sign * apart) / rate[k])
                stops += [mean[k] - away, mean[k] + away]
            crossings = np.concatenate([mean[a] + q / square, mean[a] + level / q, *stops])
        else:
            ends = np.zeros((2, classes))
            term.add_cells(np.array([low, high]), ends)
            ends *= power
            first, last = ends[0, a] - ends[0, b] + apart, ends[1, a] - ends[1, b] + apart
            peaks, crossings = np.empty(0), low + (high - low) * first / (first - last)
        crossings = np.unique(crossings[np.isfinite(crossings) & (crossings > low) & (crossings < high)])
        edges = np.concatenate([[low], crossings, [high]])
        middles = edges[:-1] / 2 + edges[1:] / 2
    return np.concatenate([peaks, middles])


# Which words a text would have to lose for the decision to be another: an answer about the model, as every
# counterfactual is. Knows one row and its texts.

MOST_WORDS = 50
"""No more words than these are taken out."""
MOST_CLASSES_OF_TEXTS = 20
"""With more classes, the most probable others are tried."""
MOST_LETTERS = 1_000_000
"""In longer texts no words are looked for."""


@dataclass(frozen=True)
class WordRemoval:
    """Words of one text without which something else would be decided."""

    name: str
    """The column."""
    words: tuple[str, ...]
    decision: str
    """What would be decided."""
    chance: float | None
    """P of that class then; None where an action is decided on, or scores are no probabilities."""

    def __str__(self) -> str:
        said = ", ".join(clean(w, 40) for w in self.words)
        many = "the word" if len(self.words) == 1 else "the words"
        then = "" if self.chance is None else f" ({percent(self.chance)})"
        return f"{clean(self.name)} without {many} {said}: {clean(self.decision)}{then}"

    def to_dict(self) -> dict[str, object]:
        """As plain values, for JSON."""
        return {"name": self.name, "words": list(self.words), "decision": self.decision, "chance": self.chance}


def word_removals(
    model: Model,
    row: QueryRow,
    names: Iterable[str],
    decide: Callable[[Posterior], NDArray[np.intp]],
    called: tuple[str, ...],
    wanted: NDArray[np.intp],
) -> tuple[WordRemoval, ...]:
    """For each text among `names` the fewest words found, without which a wanted decision is made."""
    out = []
    for factor in model.texts:
        if factor.name in names and row.states[factor.name] != "missing":
            found = _of_one(model, factor, row, decide, called, wanted)
            if found is not None:
                out.append(found)
    return tuple(out)


def _of_one(
    model: Model,
    factor: WordWeights,
    row: QueryRow,
    decide: Callable[[Posterior], NDArray[np.intp]],
    called: tuple[str, ...],
    wanted: NDArray[np.intp],
) -> WordRemoval | None:
    text = row.batch.cells[factor.name].text(0)
    if len(text) > MOST_LETTERS:
        return None
    spans, logs = _word_evidence(factor, row, text)
    joint = model.log_joint(row.batch)[0]
    now = int(np.argmax(joint))
    others = [int(c) for c in np.argsort(-joint, kind="stable") if c != now][:MOST_CLASSES_OF_TEXTS]
    best: WordRemoval | None = None
    for other in others:
        order = _order(joint, logs, other, spans)
        if best is not None:
            order = order[: len(best.words) - 1]
        if not order:
            continue
        left = [_without_spans(text, [s for w in order[: k + 1] for s in spans[w]]) for k in range(len(order))]
        batch = row.batch.take(np.zeros(len(left), np.intp))
        batch = replace(batch, cells={**batch.cells, factor.name: pack_texts(left)})
        posterior = Posterior.of(model.classes, model.log_joint(batch), one=False, proper=model.proper)
        codes = decide(posterior)
        for k, code in enumerate(codes.tolist()):
            if code in wanted:
                name = called[code]
                is_class = called == model.classes and model.proper
                chance = float(posterior.matrix[k, code]) if is_class else None
                best = WordRemoval(factor.name, tuple(order[: k + 1]), name, chance)
                break
    return best


def _order(
    joint: NDArray[np.float64], logs: dict[str, NDArray[np.float64]], wanted: int, spans: dict[str, list[Span]]
) -> list[str]:
    """The words in the order in which to take them away: always the one that speaks most for the strongest rival of the
    wanted class, as if scores were plain sums."""
    so_far, left, out = joint.copy(), dict(logs), list[str]()
    while left and len(out) < MOST_WORDS:
        rivals = so_far.copy()
        rivals[wanted] = -np.inf
        rival = int(np.argmax(rivals))
        # inf - inf is a word that both rule out: it says nothing between them.
        with np.errstate(invalid="ignore"):
            pull = {w: float(np.nan_to_num(v[rival] - v[wanted], nan=0.0)) for w, v in left.items()}
        word = min(pull, key=lambda w: (-pull[w], spans[w][0]))
        if pull[word] <= 0:
            break
        taken = left.pop(word)
        so_far = so_far - np.where(np.isfinite(taken), taken, 0.0)
        out.append(word)
    return out


def _word_evidence(
    factor: WordWeights, row: QueryRow, text: str
) -> tuple[dict[str, list[Span]], dict[str, NDArray[np.float64]]]:
    """Where each word of the text stands, and what it says of each class: pairs count half for each of their words,
    runs of characters for the word that they are of."""
    at: list[tuple[str, Span]] = [(m.group().lower(), m.span()) for m in re.finditer(r"\w+", text)]
    begins = np.array([span[0] for _, span in at] or [0])
    spans: dict[str, list[Span]] = {}
    for word, span in at:
        spans.setdefault(word, []).append(span)
    logs: dict[str, NDArray[np.float64]] = {}
    places = places_of(text, factor.scores.tokens)
    names, each = factor.parts(row.batch.cells[factor.name])
    for part, values in zip(names, each, strict=True):
        here = places.get(part, ())
        for a, b in here:
            first, last = (max(int(np.searchsorted(begins, p, side="right")) - 1, 0) for p in (a, b - 1))
            ends = {first, last}
            for k in ends:
                word = at[k][0]
                logs[word] = logs.get(word, np.zeros(len(values))) + values / (len(here) * len(ends))
    return spans, logs


def _without_spans(text: str, gone: list[Span]) -> str:
    """The text without some stretches of it."""
    out, at = [], 0
    for a, b in sorted(gone):
        out.append(text[at:a])
        at = b
    return "".join([*out, text[at:]])
