"""Sentences about text columns that flatter a score: copies of texts, words of headers, words that give a class away.

Knows what was counted; looks at no text. Everything that came from data is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass

from likely.errors import shown
from likely.evaluate.attributes.word_information import NEARLY_ALL, Word, WordsTold
from likely.evaluate.troubles.copies import Copies

MANY_COPIES = 0.01
"""A share of copied texts from which on they flatter the score."""
MOST_NAMED = 6


@dataclass(frozen=True)
class TextSeen:
    """What a first look saw of a text column."""

    words: WordsTold
    copies: Copies


def beware(seen: TextSeen) -> list[str]:
    """What flatters the score."""
    out = []
    name = shown(seen.words.name)
    for word in seen.words.deciding[:3]:
        out.append(
            f"The word {shown(word.word)} alone nearly tells whether {name} is of class {shown(word.label)}: "
            f"{_share(word.share)} of its texts have it, and {_share(word.elsewhere)} of the others. Is it part of the "
            "text, or was it put there with the class?"
        )
    if len(seen.words.deciding) > 3:
        out.append(f"{len(seen.words.deciding) - 3} more words of {name} nearly tell a class each.")
    if seen.words.in_nearly_all:
        out.append(_in_nearly_all(name, seen.words.in_nearly_all))
    if seen.copies.copied >= MANY_COPIES * seen.copies.texts and seen.copies.copied:
        out.append(_copied(name, seen.copies))
    return out


def notes(seen: TextSeen) -> list[str]:
    """What does little harm, but is good to know."""
    few = 0 < seen.copies.copied < MANY_COPIES * seen.copies.texts
    return [_copied(shown(seen.words.name), seen.copies)] if few else []


def _in_nearly_all(name: str, words: tuple[Word, ...]) -> str:
    some = ", ".join(shown(w.word, 20) for w in words[:MOST_NAMED]) + (" …" if len(words) > MOST_NAMED else "")
    are = "1 word is" if len(words) == 1 else f"{len(words)} words are"
    return (
        f"{are} in at least {100 * NEARLY_ALL:.0f} % of the texts of {name}: {some}. If they belong to a header or a "
        "form, what is filled in there may give the class away, as it will not in other texts."
    )


def _copied(name: str, copies: Copies) -> str:
    of = f"{copies.texts:,}" + (" that were compared" if copies.sampled else "")
    out = f"{copies.copied:,} of {of} texts of {name} ({_share(copies.copied / copies.texts)}) occur more than once"
    if copies.across:
        each = "each" if copies.across == copies.copied else f"{copies.across:,} of them"
        out += f", {each} with a copy in another fold, which was learned before it was predicted"
    if copies.disputed:
        out += f"; {copies.disputed:,} have a copy of another class"
    return f"{out}."


def _share(value: float) -> str:
    """A share in per cent, never 0 or 100 where it is not."""
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    return f"{100 * value:.1f} %" if 0.001 <= value < 0.9995 else f"{100 * value:.3g} %"
