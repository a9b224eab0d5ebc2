"""The score of a row taken apart: a piece for the prior and for each attribute or block; words of texts marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

from likely.apply.explain.row import QueryRow, State
from likely.errors import SettingError, shown
from likely.machinery.arrays import Bools, Floats
from likely.machinery.words import clean
from likely.models.contracts import Model
from likely.models.shapes import Column, Graph, WordWeights, graph_of
from likely.models.shapes.folding import MOST_SUBSETS, ROOTS, fold_lines, hide_cells, share_game
from likely.models.shapes.lines import Line
from likely.models.shapes.score import log_posterior
from likely.table.words import Tokens

# A text with its words marked: where each word stands in it, and what it says. Knows one text; no model, no
# colours.

Span = tuple[int, int]
"""From and to, in characters."""
MOST_LETTERS = 1500
"""A longer text is cut to what stands around the words that weigh most."""
AROUND = 60
"""Characters shown to either side of such a word."""
FAINT = 0.1
"""Words that weigh less than this share of the one that weighs most are not marked."""


@dataclass(frozen=True)
class Marked:
    """A stretch of a text: a word with what it says (in nats), or what stands between words."""

    text: str
    log_ratio: float | None = None
    cut: bool = False
    """Whether something was left out before it."""


def spans_of(text: str, tokens: Tokens) -> list[tuple[str, Span]]:
    """The words (pairs, runs) of a text in order, each with its place.

    >>> spans_of("The CAT, the dog", Tokens(shortest=2, stop=("the",)))
    [('cat', (4, 7)), ('dog', (13, 16))]
    """
    low = text.lower()
    starts = [0, *accumulate(len(c.lower()) for c in text)] if len(low) != len(text) else None

    def placed(a: int, b: int) -> Span:
        if starts is None:
            return a, b
        return bisect_right(starts, a) - 1, bisect_right(starts, b - 1)

    stop = set(tokens.stop)
    found = [(m.group(), m.start(), m.end()) for m in re.finditer(r"\w+", low)]
    kept = [f for f in found if len(f[0]) >= tokens.shortest and f[0] not in stop]
    out: list[tuple[str, Span]] = []
    for k, (word, a, b) in enumerate(kept):
        if tokens.grams is not None:
            out += [(run, placed(*place)) for run, place in _runs(word, a, *tokens.grams)]
            continue
        out.append((word, placed(a, b)))
        if tokens.pairs and k:
            before = kept[k - 1]
            out.append((f"{before[0]} {word}", (placed(before[1], before[2])[0], placed(a, b)[1])))
    return out


def _runs(word: str, at: int, low: int, high: int) -> list[tuple[str, Span]]:
    """The runs of a word with their places; the blanks at its ends take up none."""
    padded, out, size = f" {word} ", [], len(word)
    for n in range(low, high + 1):
        for k in range(max(len(padded) - n, 0) + 1):
            run = padded[k : k + n]
            a, b = min(max(k - 1, 0), size - 1), min(max(k - 1 + len(run), 1), size)
            out.append((run, (at + a, at + max(b, a + 1))))
        if len(padded) <= n:
            break
    return out


def places_of(text: str, tokens: Tokens) -> dict[str, tuple[Span, ...]]:
    """Where each different word stands."""
    out: dict[str, list[Span]] = {}
    for word, span in spans_of(text, tokens):
        out.setdefault(word, []).append(span)
    return {word: tuple(spans) for word, spans in out.items()}


def mark_words(
    text: str, said: Mapping[str, tuple[float, Sequence[Span]]], everything: bool = False
) -> tuple[Marked, ...]:
    """The text cut into stretches, its words with what they say.

    `said` gives for each word what all its occurrences say together, and where they stand. What a pair says is put
    down to its two words, half to each; what a run says, to its word.
    """
    words = [(m.start(), m.end()) for m in re.finditer(r"\w+", text)]
    begins = [a for a, _ in words]
    weight: dict[int, float] = {}
    for log, spans in said.values():
        for a, b in spans:
            first, last = max(bisect_right(begins, a) - 1, 0), max(bisect_right(begins, b - 1) - 1, 0)
            ends = [first] if first == last else [first, last]
            for k in ends:
                weight[k] = weight.get(k, 0.0) + log / len(spans) / len(ends)
    known = {k: w for k, w in weight.items() if w == w and k < len(words)}
    finite = [abs(w) for w in known.values() if abs(w) != float("inf")]
    least = 0.0 if everything else FAINT * max(finite, default=0.0)
    marks = [(*words[k], w) for k, w in sorted(known.items()) if everything or abs(w) >= least > 0 or abs(w) > 1e300]
    windows = [(0, len(text))] if everything or len(text) <= MOST_LETTERS else _windows(text, marks)
    out = [piece for window in windows for piece in _stretches(text, window, marks)]
    return (*out, Marked("", None, True)) if windows[-1][1] < len(text) else tuple(out)


def _windows(text: str, marks: Sequence[tuple[int, int, float]]) -> list[Span]:
    """What is shown of a long text: around the words that weigh most, or its beginning where there are none."""
    shown: list[Span] = []
    room = MOST_LETTERS
    for a, b, _ in sorted(marks, key=lambda m: (-abs(m[2]), m[0])):
        if any(low <= a and b <= high for low, high in shown):
            continue
        low, high = _at_blank(text, max(a - AROUND, 0), +1, a), _at_blank(text, min(b + AROUND, len(text)), -1, b)
        if b - a > MOST_LETTERS:  # one word of megabytes
            continue
        if high - low > room:
            break
        room -= high - low
        shown = _merge_spans([*shown, (low, high)])
    return shown or [(0, MOST_LETTERS)]


def _at_blank(text: str, at: int, step: int, limit: int) -> int:
    """The nearest end of a word towards the limit, so that no word is cut in two."""
    while 0 < at < len(text) and at != limit and not (text[at - 1].isspace() or text[at].isspace()):
        at += step
    return at


def _merge_spans(spans: list[Span]) -> list[Span]:
    """Overlapping or touching ones as one."""
    out: list[Span] = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], b)
        else:
            out.append((a, b))
    return out


def _stretches(text: str, window: Span, marks: Sequence[tuple[int, int, float]]) -> list[Marked]:
    """One window in pieces."""
    at, until = window
    out = []
    for a, b, log in marks:
        if a < at or b > until:
            continue
        if a > at:
            out.append(Marked(text[at:a]))
        out.append(Marked(text[a:b], log))
        at = b
    if at < until:
        out.append(Marked(text[at:until]))
    if out and window[0] > 0:
        out[0] = Marked(out[0].text, out[0].log_ratio, True)
    return out


# The score of a row taken apart: a piece for the prior and for each attribute or block, words of texts as parts.

Kind = Literal["prior", "value", "block", "all", "part", "share", "rest"]
"""block: what a member of a pool says of all values together; part: a piece of a value, such as a word; share:
what an attribute says by itself, or has of what several say together."""
AVERAGED = "averaged over"
"""What is said of an unknown cell where the answer is the mean over what it may hold."""
FOLDED = "Each line is what the value adds to the answer when it becomes known, the mean over {} orders."
MOST_NAMED = 3


@dataclass(frozen=True)
class EvidencePiece:
    """One term of the score: a log for each class, and whose it is."""

    name: str
    kind: Kind
    logs: Floats
    cell: str | None = None
    state: State = "known"
    note: str = ""
    parts: tuple[EvidencePiece, ...] = ()
    spans: tuple[Span, ...] = ()
    unknown: int | None = None


def pieces_of(model: Model, row: QueryRow, joint: Floats) -> tuple[list[EvidencePiece], str | None]:
    """What each attribute says of a row, folded: its own term and its share of all that several say together. And the
    sentence what lines are, where the score is no such sum."""
    try:
        terms = model.terms(row.batch)
    except SettingError as error:
        told, how = _of_answers(model, row)
        return (told, f"{error} {how}") if told else (_whole(model, joint), str(error))
    if terms.averaged:
        told, how = _of_answers(model, row)
        return (told, how) if told else (_whole(model, joint), None)
    array, graph = terms.array[0], graph_of(model.score)
    shares, whole = fold_lines(terms, row.batch)
    lines = {line.name: line for line in terms.lines}
    by_attribute: dict[str, dict[tuple[str, ...], Floats]] = {}
    for share in shares:
        own = by_attribute.setdefault(share.name, {})
        own[share.together] = own.get(share.together, 0.0) + share.logs[0]
    pieces = [EvidencePiece("", "prior", array[0])]
    for column in model.schema.attributes:
        found, line = by_attribute.get(column.name), lines.get(column.name)
        if found is None:
            pieces.append(_of_silent(column.name, row, array[0]))
        elif line is not None and isinstance(line.parts[-1].term, WordWeights):
            pieces.append(_of_text([(part.term, part.power) for part in line.parts], found[()], row))
        else:
            pieces.append(_of_value(column.name, found, line, row, graph))
    for k in whole:  # members of a pool that take all values together
        if array[1 + k].any():
            pieces.append(EvidencePiece(terms.lines[k].name, "block", array[1 + k]))
    # What normalises scores, or a density that all classes share, is the same for all: it is no evidence.
    if terms.last == "rounding" and _differs(array):
        pieces.append(EvidencePiece("", "rest", array[-1]))
    return pieces, None


def _of_answers(model: Model, row: QueryRow) -> tuple[list[EvidencePiece], str]:
    """What each known value adds to the answer when it becomes known, the mean over all orders of becoming known: where
    unknown cells are averaged over, or scores are no sum. Nothing where a part of the row has no answer, or a
    class is impossible: which values rule it out together cannot be told one by one."""
    names = [column.name for column in model.schema.attributes if row.states[column.name] == "known"]
    hidden = [column.name for column in model.schema.attributes if row.states[column.name] != "known"]
    if not model.proper or model.random:
        return [], ""
    blank = hide_cells(row.batch, hidden, np.zeros((1, len(hidden)), np.bool_))

    def ask(known: Bools) -> Floats:
        return log_posterior(model.log_joint(hide_cells(blank, names, known)))[:, None]

    prior = ask(np.zeros((1, len(names)), np.bool_))[0, 0]
    if not np.isfinite(prior).all():
        return [], ""
    each = share_game(len(names), ask)[:, 0]
    if not np.isfinite(each).all():
        return [], ""
    said = dict(zip(names, each, strict=True))
    silent = np.zeros_like(prior)
    values = [
        EvidencePiece(n, "value", said.get(n, silent), row.cells.get(n), row.states[n], "" if n in said else AVERAGED)
        for n in row.states
    ]
    how = FOLDED.format("all" if len(names) <= MOST_SUBSETS else f"{2 * len(ROOTS)} of their")
    return [EvidencePiece("", "prior", prior), *values], how


def _of_value(
    name: str, found: Mapping[tuple[str, ...], Floats], line: Line | None, row: QueryRow, graph: Graph | None
) -> EvidencePiece:
    """An attribute with what it says by itself and together with others, or with the parts of its value."""
    logs = np.sum(list(found.values()), axis=0)
    told = {together: own for together, own in found.items() if own.any()}
    parts: tuple[EvidencePiece, ...] = ()
    note = _note(graph, name, row, logs)
    if len(told) > 1:
        parts = tuple(EvidencePiece(_with(together), "share", own) for together, own in told.items())
    elif told and (together := next(iter(told))):
        note = note or f"taken together with {_listed(together)}"
    elif line is not None:
        (*others, last), cells = line.parts, row.batch.cells[name]
        labels, each = (not others and isinstance(last.term, Column) and last.term.parts(cells)) or ((), ())
        parts = tuple(
            EvidencePiece(str(t), "part", last.power * np.asarray(v)) for t, v in zip(labels, each, strict=True)
        )
    return EvidencePiece(name, "value", logs, row.cells.get(name), row.states[name], note, parts)


def _with(together: tuple[str, ...]) -> str:
    """What a share is called."""
    return f"with {_listed(together)}" if together else "by itself"


def _listed(names: tuple[str, ...]) -> str:
    """Some names, and how many more."""
    told = [clean(n) for n in names]
    return ", ".join(told) if len(told) <= MOST_NAMED else f"{', '.join(told[:2])} and {len(told) - 2} others"


def _differs(array: Floats) -> bool:
    """Whether the last term rules classes out, or differs between them by more than the rounding of those before it."""
    rounding = 8 * float(np.finfo(np.float64).eps) * np.abs(array[:-1]).sum()
    return not (np.isfinite(array[-1]).all() and np.ptp(array[-1]) <= rounding)


def _of_silent(name: str, row: QueryRow, like: Floats) -> EvidencePiece:
    """An attribute that the model does not use."""
    note = "is not in the model, so it is ignored"
    return EvidencePiece(name, "value", np.zeros_like(like), row.cells.get(name), row.states[name], note)


def _of_text(speakers: Sequence[tuple[WordWeights, float]], logs: Floats, row: QueryRow) -> EvidencePiece:
    """A text with what each of its words says, all speakers together."""
    first, _ = speakers[0]
    name, state = first.name, row.states[first.name]
    cells = row.batch.cells[name]
    text = cells.text(0)
    places = places_of(text, first.scores.tokens)
    said: dict[str, Floats] = {}
    for factor, power in speakers:
        for word, each in zip(*factor.parts(cells), strict=True):
            said[word] = said[word] + power * np.asarray(each) if word in said else power * np.asarray(each)
    parts = tuple(EvidencePiece(str(word), "part", each, spans=places.get(word, ())) for word, each in said.items())
    total = sum(map(len, places.values()))
    unknown = total - sum(len(p.spans) for p in parts)
    note = f"{unknown:,} of {total:,} words {'is' if unknown == 1 else 'are'} not known" if unknown else ""
    if not total and state != "missing":
        note = "has no words, so it says nothing"
    elif unknown == total > 0:
        note = "none of its words is known, so it says nothing"
    return EvidencePiece(name, "value", logs, text, state, note, parts, unknown=unknown)


def _whole(model: Model, joint: Floats) -> list[EvidencePiece]:
    """Where scores are no sum over attributes: the prior, if there is one, and all values together."""
    prior = model.log_prior if model.generative else None
    if prior is None:
        return [EvidencePiece("", "all", joint)]
    rest = np.where(np.isneginf(prior), 0.0, joint - np.where(np.isneginf(prior), 0.0, prior))
    return [EvidencePiece("", "prior", prior), EvidencePiece("", "all", rest)]


def _note(graph: Graph | None, name: str, row: QueryRow, logs: Floats) -> str:
    """What is special about an attribute that others depend on, or that depends on another."""
    if graph is None or not graph.arrows or name not in graph.names:
        return ""
    parent = graph.parent(name)
    if row.states[name] != "known":
        return "is unknown; only what depends on it counts" if logs.any() else ""
    if parent is None:
        return ""
    if row.states[parent] == "known":
        return f"given {shown(parent)}"
    return "" if logs.any() else f"is counted together with {shown(parent)}, on which it depends"
