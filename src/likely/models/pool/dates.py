"""Whether parts of dates are read: the pool with them against the pool without, on the same held-out rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from likely.errors import shown
from likely.models.pool.choosing import WORTH, WORTH_A_ROW, Choice
from likely.sums.summary import Summary

READ_IN_PARTS = "Dates are also read in parts"
"""How the remark begins."""


def choose_dates(summary: Summary, choose: Callable[[Summary], Choice]) -> tuple[Summary, Choice]:
    """The sums as they are read from now on, and what is chosen of them.

    Parts of dates that are tried are kept, all of them, where the pool with them is worth as much more as a member must
    be worth beside the others; a date that held-out rows say nothing of stays one number.
    """
    tried = [c for c in summary.schema.attributes if c.is_tried]
    whole = choose(summary.settled())
    if not tried:
        return summary, whole
    kept = summary.settled(keep=True)
    parts = choose(kept)
    rows, before, after = parts.trial.rows, whole.trial.score, parts.trial.score
    if not (after - before) * rows >= WORTH + WORTH_A_ROW * rows:  # also where nothing could be judged
        return summary.settled(), whole
    dates = list(dict.fromkeys(str(c.part_of) for c in tried))
    named = [f"{shown(d)} by {_listed([str(c.part) for c in tried if c.part_of == d])}" for d in dates]
    bits = [f"{-score / math.log(2):.4f}" for score in (before, after)]
    told = (
        f"{READ_IN_PARTS} ({'; '.join(named)}): on held-out rows that lowered the log loss from {bits[0]} "
        f"to {bits[1]} bits."
    )
    return kept, replace(parts, refused=(told, *parts.refused))


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
