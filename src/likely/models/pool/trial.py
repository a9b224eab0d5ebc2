"""How candidates did on rows that they have not seen, and what is kept of them. Plain values; knows no rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.contracts import HeldOut, HeldOutAnswers
from likely.models.pool.members import learner_titles, member_learner
from likely.models.shapes import Exhibit
from likely.sums.checks import read_array, read_mapping, read_number, read_text, read_whole, require
from likely.sums.contracts import State
from likely.sums.summary import MOST_ROWS

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Trial:
    """How the candidates did on held-out rows."""

    candidates: tuple[dict[str, Any], ...]
    """As plain values."""
    weights: Floats
    """0: left out."""
    scores: Floats
    """Of each by itself, with the weight that is best for it alone: mean log probability of a row's class, in nats."""
    rows: int
    """Held-out rows that were scored."""
    score: float
    """Of the pool, by weights that have not seen the rows."""
    hits: float
    """Share of the held-out rows whose class the pool holds most probable."""
    remark: str = ""
    """The sentence why nothing was weighed, where nothing was."""
    answers: HeldOutAnswers | None = None
    """What was said of those rows; kept in memory only."""

    @classmethod
    def none(cls, remark: str) -> Trial:
        """Where nothing was tried."""
        return cls((), np.empty(0), np.empty(0), 0, math.nan, math.nan, remark)

    @property
    def kept(self) -> list[int]:
        """The candidates with weight."""
        return np.flatnonzero(self.weights).tolist()

    @property
    def held_out(self) -> HeldOut | None:
        return HeldOut(self.rows, self.hits, self.score) if self.rows else None

    @property
    def titles(self) -> tuple[str, ...]:
        return learner_titles([member_learner(spec) for spec in self.candidates])

    def notes(self) -> tuple[str, ...]:
        """What was decided, as sentences."""
        if self.remark:
            return (self.remark,)
        if not self.rows:
            return ()
        titles, order = self.titles, sorted(self.kept, key=lambda h: (-self.weights[h], h))
        shares = ", ".join(f"{titles[h]} × {self.weights[h]:.3g}" for h in order)
        if not shares:
            return ("No candidate beats the class frequencies on held-out rows.",)
        count = f"{len(self.candidates)} candidates" if len(self.candidates) > 1 else "one candidate"
        return (f"Chosen from {count} on held-out rows, with evidence weights: {shares}.",)

    def exhibit(self, weighed: bool) -> tuple[Exhibit, ...]:
        """Every candidate with its weight and score; how many rows they were is known where these weigh one each."""
        if not self.candidates:
            return ()
        titles = self.titles
        order = sorted(range(len(titles)), key=lambda k: (-self.weights[k], -self.scores[k], k))
        rows = tuple((titles[k], float(self.weights[k]), float(self.scores[k])) for k in order)
        title = "Candidates on held-out rows" if weighed else f"Candidates on {self.rows:,} held-out rows"
        return (Exhibit(title, ("candidate", "weight", "log score per row on its own"), rows),)

    def state(self) -> State:
        return {
            "candidates": list(self.candidates),
            "weights": self.weights,
            "scores": self.scores,
            "rows": self.rows,
            "score": None if math.isnan(self.score) else self.score,
            "hits": None if math.isnan(self.hits) else self.hits,
            "remark": self.remark,
        }

    @classmethod
    def from_state(cls, kept: object) -> Trial:
        told = read_mapping(kept, "a trial")
        candidates: Sequence[Any] = tuple(dict(c) for c in told["candidates"])
        weights, scores = (read_array(told[n], "f", 1, n).astype(np.float64) for n in ("weights", "scores"))
        require({len(weights), len(scores)} == {len(candidates)}, "every candidate has its figures")
        for spec in candidates:
            member_learner(spec)
        rows = read_whole(told["rows"], 0, MOST_ROWS, "the rows of a trial")
        figures = (_figure(told["score"]), _figure(told["hits"]))
        return cls(tuple(candidates), weights, scores, rows, *figures, read_text(told["remark"], "a remark"))


def _figure(kept: object) -> float:
    """A figure as a file keeps it: what is no number has become none."""
    return math.nan if kept is None else read_number(kept, -math.inf, math.inf, "a figure")
