"""What the words of a text come to: its count vector, θ of each word as it was counted, and the orders of its words.

Reads the shape of a text; where its words have weights that are no probabilities there is nothing to be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial, prod
from typing import NamedTuple

from likely.models.quotient import Quotient
from likely.models.shapes import WordWeights
from likely.models.working.records import Quantity
from likely.models.working.writing import MOST_STEPS, Value, clean
from likely.table.batch import Texts

EXACT = 60
"""A product of more words than this is a decimal: nobody reads such a fraction."""


class WordsOfText(NamedTuple):
    """P(words | class) without the orders of the words, exact where they are few; and what went into it."""

    values: tuple[Quotient, ...] | None
    quantities: tuple[Quantity, ...]


def text_quantities(factor: WordWeights, cells: Texts, classes: tuple[str, ...]) -> WordsOfText:
    """The count vector of a text, θ of its words, and what they come to; nothing where θ are no probabilities."""
    vocabulary, settings = factor.scores.vocabulary, factor.settings
    found = [(word, k, times) for word, k, times in factor.scores.words(cells.text(0)) if k >= 0]
    if not len(vocabulary) or factor.word_quotients(0) is None:
        return WordsOfText(None, ())
    bernoulli = settings.model == "bernoulli"
    name, there = clean(factor.name), {k for _, k, _ in found}
    few = (len(vocabulary) if bernoulli else len(found)) <= EXACT
    if bernoulli and few:  # what is not there counts as well
        found += [(vocabulary[k], k, 0) for k in range(len(vocabulary)) if k not in there]
    words = sorted(found, key=lambda word: word[1])
    counts: Value = tuple(f"{clean(word)} {min(t, 1) if bernoulli else t}" for word, _, t in words[:MOST_STEPS])
    more = f" and {len(words) - MOST_STEPS} more" if len(words) > MOST_STEPS else ""
    kind = "words there (1) or not (0)" if bernoulli else "count vector"
    out = [Quantity(f"{name}: {kind}{more}", {"": counts})]
    table = {k: factor.word_quotients(k) or () for _, k, _ in words}
    for word, k, _ in words[:MOST_STEPS]:
        out.append(Quantity(f"θ({clean(word)})", dict(zip(classes, table[k], strict=True))))
    if not few:
        return WordsOfText(None, tuple(out))
    if bernoulli:
        each = [[_there(table[k][c], times) for _, k, times in words] for c in range(len(classes))]
        values = tuple(_product(some) for some in each)
        formula = "product of θ of words there, 1 − θ of words not there"
        out.append(Quantity(f"P({name} | class) = {formula}", _values(classes, values)))
        return WordsOfText(values, tuple(out))
    each = [[table[k][c] for _, k, times in words for _ in range(times)] for c in range(len(classes))]
    values = tuple(_product(some) for some in each)
    times = [t for _, _, t in words]
    orders = factorial(sum(times)) // prod(factorial(t) for t in times)
    below = "·".join(f"{t}!" for t in times) or "1"
    told = "the same for all classes, so left out of L"
    out.append(Quantity(f"orders of the words ({told}): {sum(times)}!/({below})", {"": orders}))
    powers = " × ".join(f"θ({clean(w)})" + (f"^{t}" if t > 1 else "") for w, _, t in words[:MOST_STEPS]) or "1"
    whole = tuple(Quotient(orders * v.top, v.bottom) for v in values)
    out.append(Quantity(f"P({name} | class) = {orders} × {powers}", _values(classes, whole)))
    return WordsOfText(values, tuple(out))


def _there(theta: Quotient, times: int) -> Quotient:
    return theta if times else Quotient(theta.bottom - theta.top, theta.bottom)


def _product(some: Sequence[Quotient]) -> Quotient:
    """One quotient, reduced: of many words neither part can be read."""
    whole = prod((q.value for q in some), start=Fraction(1))
    return Quotient(Fraction(whole.numerator), Fraction(whole.denominator))


def _values(classes: tuple[str, ...], values: Sequence[Quotient]) -> dict[str, Value]:
    return dict(zip(classes, (v.value for v in values), strict=True))
