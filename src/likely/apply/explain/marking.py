"""A text with its words marked: where each word stands in it, and what it says. Knows one text; no model, no colours.

Words are found as `words_of` finds them (tests/explaining/test_marking.py), with their places in the text as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from likely.table.words.tokens import Tokens

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
