"""What the models of several folds say, as one: each note once, and of choices the most frequent. Knows no rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from likely.errors import shown
from likely.models.contracts import Model


@dataclass(frozen=True)
class FoldNotes:
    """What the model of one fold says: plain notes, and for columns what was chosen by the rows, in words."""

    notes: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()

    @classmethod
    def by(cls, model: Model) -> FoldNotes:
        chosen = model.choices()
        return cls(tuple(n for n in model.notes if n not in chosen), tuple(chosen.values()))


def merge_notes(said: Sequence[FoldNotes]) -> tuple[str, ...]:
    """The notes of all folds, those of most folds first, and one on each column of which something was chosen."""
    count, folds = Counter(note for each in said for note in dict.fromkeys(each.notes)), len(said)
    out = [n if c == folds else f"{n} (In {c} of {folds} folds.)" for n, c in count.most_common()]
    made: dict[str, Counter[str]] = {}
    for each in said:
        for name, words in each.choices:
            made.setdefault(name, Counter())[words] += 1
    for name, counts in made.items():
        ((words, most),) = counts.most_common(1)
        where = "in every fold" if most == folds else f"in {most} of {folds} folds"
        whose = f"{shown(name)}: " if name else ""  # a choice about no column, such as the members of a pool
        out.append(f"{whose}{words}; chosen by log loss on held-out rows {where}.")
    return tuple(out)
