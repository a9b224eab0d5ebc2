"""The score of a row taken apart: a piece for the prior and for each attribute or block; words of texts marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

import numpy as np

from likely.apply.explain.row import QueryRow, State
from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Model
from likely.models.shapes import Axis, Column, Curve, Graph, Opaque, PairTable, TreeSum, WordWeights, graph_of
from likely.models.shapes.lines import Line, Work
from likely.models.shapes.references import OTHERS
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

Kind = Literal["prior", "value", "block", "all", "part", "rest", "others"]
"""others: what unknown cells would probably say, given the known ones."""


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
    """The terms of a row, and the sentence why they are not one for each attribute, where they are not."""
    try:
        terms = model.terms(row.batch)
    except SettingError as error:
        return _whole(model, joint), str(error)
    array, graph = terms.array[0], graph_of(model.score)
    by_attribute: dict[str, EvidencePiece] = {}
    together: dict[tuple[str, ...], Floats] = {}
    wholes: list[EvidencePiece] = []
    in_sets: set[str] = set()
    in_blocks: set[str] = set()
    alone = _alone(model, row, terms.lines)
    averaged, moved = terms.averaged, np.zeros(array.shape[1])
    for k, (line, logs) in enumerate(zip(terms.lines, array[1:], strict=False)):
        if not line.parts:
            wholes.append(EvidencePiece(OTHERS, "others", logs - moved))
            continue
        name, term = line.name, line.parts[-1].term
        if isinstance(term, WordWeights):
            by_attribute[name] = _of_text([(part.term, part.power) for part in line.parts], logs, row)
        elif isinstance(term, (PairTable, TreeSum)) and line.parts[-1].share is None:
            # What several say beyond what each says by itself.
            in_sets.update(term.names)
            if averaged and any(row.states[name] != "known" for name in term.names):
                for one in term.names:  # what they say is in the line of others, but for what is said of one alone
                    share = alone.get((k, one))
                    if share is not None and share.any():
                        together[(one,)] = together[(one,)] + share if (one,) in together else share
                        moved = moved + share
                continue
            known = tuple(axis.name for axis in term.axes if _has_code(axis, row.states[axis.name]))
            for one in known if len(known) > 1 else ():  # what it says of one alone belongs to that one
                share = alone.get((k, one))
                if share is not None and share.any():
                    together[(one,)] = together[(one,)] + share if (one,) in together else share
                    logs = logs - share
            if known:  # a larger set may still speak of those that are known
                together[known] = together[known] + logs if known in together else logs
        elif isinstance(term, Opaque):  # a member of a pool that takes all values together
            wholes += [EvidencePiece(name, "block", logs)] if logs.any() else []
        elif line.parts[-1].share is not None or isinstance(term, (Column, Curve)):
            by_attribute[name] = _of_value(line, logs, row, _note(graph, name, row, logs))
        elif model.factored:
            by_attribute.update(dict.fromkeys(term.names, _of_block(name, term.names, logs, row)))
        else:  # that of a member of a pool
            in_blocks.update(term.names)
            wholes.append(_of_block(name, term.names, logs, row))
    for (name, *others), logs in together.items():
        if not others and name in by_attribute:
            by_attribute[name] = replace(by_attribute[name], logs=by_attribute[name].logs + logs)
        elif not others and logs.any():
            by_attribute[name] = EvidencePiece(name, "value", logs, row.cells.get(name), row.states[name])
    pieces = [EvidencePiece("", "prior", array[0])]
    for column in model.schema.attributes:
        if column.name in in_blocks and column.name not in by_attribute:
            continue  # what it says is in the line of its block
        piece = by_attribute.get(column.name) or _of_silent(column.name, column.name in in_sets, row, array[0])
        if not any(piece is p for p in pieces):  # a block stands where its first attribute does
            pieces.append(piece)
    # Of a pair of which one is unknown nothing is left; it has no line.
    pieces += [_of_set(names, logs, row) for names, logs in together.items() if len(names) > 1]
    pieces += wholes
    # What normalises scores, or a density that all classes share, is the same for all: it is no evidence.
    if terms.last == "rounding" and _differs(array):
        pieces.append(EvidencePiece("", "rest", array[-1]))
    return pieces, None


def _alone(model: Model, row: QueryRow, lines: Sequence[Line]) -> dict[tuple[int, str], Floats]:
    """What each larger set says of each of its attributes alone, against knowing none: by line and attribute."""
    larger = {
        k: line
        for k, line in enumerate(lines)
        if line.parts and line.parts[-1].share is None and isinstance(line.parts[-1].term, TreeSum)
    }
    in_sets = {name for line in larger.values() for name in line.parts[-1].term.names}
    names = [name for name in row.states if name in in_sets and row.cells.get(name) is not None]
    if not names:
        return {}
    cells = {name: [row.cells[name] if name == other else None for other in (*names, None)] for name in names}
    (batch,) = model.batches(cells)
    work, out = Work(batch), {}
    for k, line in larger.items():
        logs = np.zeros((1, batch.rows, len(model.classes)))
        line.add_apart(work, logs)
        for place, name in enumerate(names):
            if name in line.parts[-1].term.names:
                out[k, name] = logs[0, place] - logs[0, -1]
    return out


def _has_code(axis: Axis, state: State) -> bool:
    """Whether a cell says something: it is known, or being missing is evidence."""
    return state == "known" or (state != "unseen" and axis.missing >= 0)


def _of_set(names: tuple[str, ...], logs: Floats, row: QueryRow) -> EvidencePiece:
    """What several attributes say beyond what each says by itself."""
    cells = (row.told(n) if row.states[n] == "known" else f"{n} missing" for n in names)
    return EvidencePiece(" × ".join(names), "block", logs, ", ".join(cells))


def _differs(array: Floats) -> bool:
    """Whether the last term rules classes out, or differs between them by more than the rounding of those before it."""
    rounding = 8 * float(np.finfo(np.float64).eps) * np.abs(array[:-1]).sum()
    return not (np.isfinite(array[-1]).all() and np.ptp(array[-1]) <= rounding)


def _of_value(line: Line, logs: Floats, row: QueryRow, note: str) -> EvidencePiece:
    """An attribute by itself; where its term can tell parts of the value apart, with these."""
    (*others, last), cells = line.parts, row.batch.cells[line.name]
    labels, each = (not others and isinstance(last.term, Column) and last.term.parts(cells)) or ((), ())
    parts = tuple(EvidencePiece(str(t), "part", last.power * np.asarray(v)) for t, v in zip(labels, each, strict=True))
    return EvidencePiece(line.name, "value", logs, row.cells.get(line.name), row.states[line.name], note, parts)


def _of_silent(name: str, in_set: bool, row: QueryRow, like: Floats) -> EvidencePiece:
    """An attribute without a line of its own."""
    note = "says nothing on its own, only together with others" if in_set else "is not in the model, so it is ignored"
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


def _of_block(name: str, members: tuple[str, ...], logs: Floats, row: QueryRow) -> EvidencePiece:
    """Attributes that are modelled together have one term."""
    known = [m for m in members if row.states[m] != "missing"]
    cell = ", ".join(row.told(m) for m in known)
    return EvidencePiece(name, "block", logs, cell, "known" if known else "missing")


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
