"""How a row is scored, in plain Python, by a model in JSON: the definition for all exports. Needs no library.

Must give what `Model.log_joint` gives, as close as arithmetic allows (tests/portable).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from likely.portable.completion import completed, unknown_in
from likely.portable.joint_terms import covariance, one_dependence, pair, table, tree, trees
from likely.portable.logs import TIE, add_scores, log, log_add, log_sum
from likely.portable.reading import MISSING, UNSEEN, Cell, Form, cells_of, words_of

Cells = Mapping[str, Cell]


def posterior(portable: Form, row: Mapping[str, object]) -> tuple[float, ...]:
    """P(class | row) of a row (a dict of values); all 0 where every class is impossible."""
    return chances(scores(portable, cells_of(portable, row)))


def chances(logs: Sequence[float]) -> tuple[float, ...]:
    """exp of scores over their sum; all 0 where every score is minus infinity. Ties with the best are exact (`TIE`).

    >>> chances((0.0, -1e-15)), chances((-math.inf, -math.inf))
    ((0.5, 0.5), (0.0, 0.0))
    """
    top = max(logs, default=-math.inf)
    if top == -math.inf:
        return (0.0,) * len(logs)
    each = [1.0 if top - v <= TIE else math.exp(v - top) for v in logs]
    total = sum(each)
    return tuple(v / total for v in each)


def scores(portable: Form, cells: Cells) -> tuple[float, ...]:
    """The log score of each class for a row that was read (`reading.cells_of`)."""
    references = getattr(portable, "references", None)
    gone = [] if references is None else unknown_in(references, cells)
    if gone:
        return tuple(completed(references, cells, gone, lambda whole: score(portable.score, whole, portable)))
    return score(portable.score, cells, portable)


def score(form: Form, cells: Cells, portable: Form) -> tuple[float, ...]:
    """What one form of score comes to."""
    match form.form:
        case "Sum":
            return _sum(form, cells, portable)
        case "Normalised":
            inside = score(form.inner, cells, portable)
            return tuple(v - log_sum(inside) for v in inside)
        case "Shifted":
            return add_scores(score(form.inner, cells, portable), form.by)
        case "Mixture":
            return _mixture(form, cells, portable)
        case "Clipped":
            return _clipped(_sum(form.outputs, cells, portable))
        case "Duels":
            return _voted(form, _sum(form.outputs, cells, portable))
    return one_dependence(form, cells)


def terms(form: Form, cells: Cells, portable: Form) -> list[tuple[str, tuple[float, ...]]]:
    """What each attribute or block adds, by name, in order; the constant is not among them."""
    size = len(form.constant)
    out: dict[str, tuple[float, ...]] = {}
    for part in form.terms:
        for name, own in parts(part, cells, portable, size):
            out[name] = add_scores(out[name], own) if name in out else own
    return list(out.items())


def _sum(form: Form, cells: Cells, portable: Form) -> tuple[float, ...]:
    out: tuple[float, ...] = form.constant
    for part in form.terms:
        for _, own in parts(part, cells, portable, len(out)):
            out = add_scores(out, own)
    return out


def parts(term: Form, cells: Cells, portable: Form, size: int) -> list[tuple[str, tuple[float, ...]]]:
    """What a term adds, by the name of an attribute or block: one entry, or for a tree one for each axis."""
    match term.form:
        case "TreeTerm":
            return tree(term, cells, size)
        case "PowerTerm":
            inside = parts(term.inner, cells, portable, size)
            return [(name, tuple(term.weight * v for v in own)) for name, own in inside]
        case "TableTerm":
            return [(term.name, table(term, cells))]
        case "CovarianceTerm":
            return [(term.name, covariance(term, cells))]
        case "PairTerm":
            return [(term.name, pair(term, cells, size))]
        case "TreesTerm":
            return [(term.name, trees(term, cells, size))]
        case "PresenceTerm":
            return [(term.name, term.known if math.isfinite(_number(cells, term.attribute)) else term.missing)]
        case "LevelTerm":
            code = cells[term.name]
            assert isinstance(code, int)
            return [(term.name, {MISSING: term.missing, UNSEEN: term.unseen}.get(code) or term.scores[code])]
        case "TextTerm":
            return [(term.name, _text(term, cells, portable))]
    x = _number(cells, term.name)
    return [(term.name, _of_number(term, x, cells) if math.isfinite(x) else term.missing)]


def _number(cells: Cells, name: str) -> float:
    x = cells[name]
    assert isinstance(x, (int, float))
    return float(x)


def _of_number(term: Form, x: float, cells: Cells) -> tuple[float, ...]:
    match term.form:
        case "BinTerm":
            return tuple(term.scores[bisect_right(term.starts, x)])
        case "NormalTerm":
            classes = zip(term.mean, term.farthest, term.rate, strict=True)
            far = [min(abs(x - mean), farthest) * rate for mean, farthest, rate in classes]
            return tuple(peak - d * d for peak, d in zip(term.peak, far, strict=True))
        case "KernelTerm":
            floor = getattr(term, "floor", (-math.inf,) * len(term.peak))  # there in pools only
            kernels = zip(term.peak, term.weights, term.rate, term.farthest, floor, strict=True)
            return tuple(
                max(peak + _kernels(term.centres, weights, x, rate, farthest), least)
                for peak, weights, rate, farthest, least in kernels
            )
        case "SlopeTerm":
            z = standard(term.unit, x)
            return tuple(k + z * w for k, w in zip(term.known, term.weights, strict=True))
    each = [standard(unit, _number(cells, unit.attribute)) for unit in term.units]
    slopes = list(term.weights[-1])
    for near, weights in zip(each, term.weights, strict=False):
        slopes = [s + near * w for s, w in zip(slopes, weights, strict=True)]
    return tuple(k + each[term.at] * s for k, s in zip(term.known, slopes, strict=True))


def standard(unit: Form, x: float) -> float:
    """A number in standard units; 0 where it is not finite."""
    if not math.isfinite(x):
        return 0.0
    try:
        scaled = math.ldexp(x, -unit.shift)
    except OverflowError:
        scaled = math.copysign(math.inf, x)
    z: float = ((scaled - unit.center) - unit.rest) / unit.spread
    return float(max(-unit.farthest, min(unit.farthest, z)))


def _kernels(centres: Sequence[float], weights: Sequence[float], x: float, rate: float, farthest: float) -> float:
    """log of the sum of weight * exp(-((x - centre) * rate)**2), with no |x - centre| beyond `farthest`."""
    far = [(min(abs(x - c), farthest) * rate, w) for c, w in zip(centres, weights, strict=True) if w > 0]
    b = min(a for a, _ in far)
    return log(sum(w * math.exp(-((a - b) * (a + b))) for a, w in far)) - b * b


def _text(term: Form, cells: Cells, portable: Form) -> tuple[float, ...]:
    text, how = cells[term.name], next(a.words for a in portable.attributes if a.name == term.name)
    if text is None:
        return (0.0,) * len(term.base)
    assert isinstance(text, str) and how is not None
    times: dict[str, int] = {}
    for word in words_of(text, how):
        times[word] = times.get(word, 0) + 1
    places = {word: k for k, word in enumerate(term.words) if word in times}
    known = sum(t for word, t in times.items() if word in places)
    out = [0.0] * len(term.base)
    for word, t in times.items():
        if word in places:
            f = damped(term.damping, t)
            out = [v + f * w for v, w in zip(out, term.weights[places[word]], strict=True)]
    factor = term.scale / math.sqrt(max(known, 1)) if term.length else term.scale
    return tuple((v + b) * factor for v, b in zip(out, term.base, strict=True))


def damped(damping: str, times: int) -> float:
    """What a word counts that occurs so many times."""
    if damping == "log":
        return 1 + math.log(times)
    return {"none": float(times), "root": math.sqrt(times), "binary": 1.0}[damping]


def _mixture(form: Form, cells: Cells, portable: Form) -> tuple[float, ...]:
    out: tuple[float, ...] = (-math.inf,) * form.size
    for member in form.members:
        inside = score(member.inner, cells, portable)
        evidence = log_sum(inside)
        own = [-math.inf] * form.size
        for k, v in zip(member.classes, inside, strict=True):
            if k >= 0 and evidence > -math.inf:
                own[k] = v - evidence
        if member.temperature != 1.0:
            warm = [v * member.temperature for v in own]
            whole = log_sum(warm)
            own = [v - whole if whole > -math.inf else v for v in warm]
        out = tuple(log_add(a, math.log(member.weight) + b) for a, b in zip(out, own, strict=True))
    return out


def _clipped(outputs: Sequence[float]) -> tuple[float, ...]:
    positive = [max(v, 0.0) for v in outputs]
    largest = max(positive)
    if largest <= 0:
        best = list(outputs).index(max(outputs))
        return tuple(0.0 if k == best else -math.inf for k in range(len(outputs)))
    shares = [v / largest for v in positive]
    total = sum(shares)
    return tuple(log(v / total) for v in shares)


def _voted(form: Form, outputs: Sequence[float]) -> tuple[float, ...]:
    votes = [0] * form.size
    for (a, b), v in zip(form.pairs, outputs, strict=True):
        votes[a if v >= 0 else b] += 1
    if form.votes and form.size > 1:
        return tuple(log(v / len(form.pairs)) for v in votes)
    return tuple(0.0 if v == form.size - 1 else -math.inf for v in votes)
