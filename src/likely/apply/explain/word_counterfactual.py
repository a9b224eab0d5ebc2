"""Which words a text would have to lose for the decision to be another: an answer about the model, as every
counterfactual is. Knows one row and its texts.

The words that speak most against another decision are cut out of the text one after the other, and what
is left is read and scored as any text is. Where scores are plain sums and there are two classes, no fewer words do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.explain.marking import Span, places_of
from likely.apply.explain.row import QueryRow
from likely.apply.explain.words import clean, percent
from likely.models.contracts import Model
from likely.models.posterior import Posterior
from likely.models.shapes import WordWeights
from likely.table.batch import pack_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_WORDS = 50
"""No more words than these are taken out."""
MOST_CLASSES = 20
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
    others = [int(c) for c in np.argsort(-joint, kind="stable") if c != now][:MOST_CLASSES]
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
