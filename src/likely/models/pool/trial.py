"""The verdict on candidates from their held-out probabilities: temperatures, weights, and whether one alone will do.

Knows arrays and which candidates are simple; no rows, no sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.threads import in_order
from likely.models.contracts import Learner
from likely.models.dependence.tree import TreeAugmented
from likely.models.heldout.tempering import temperature_of, tempered
from likely.models.linear.logistic import Logistic
from likely.models.naive.baseline import Prior
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.tuned import TunedNaiveBayes
from likely.models.pool.members import learner_titles, member_spec
from likely.models.pool.stacking import stacking_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIMPLE: tuple[tuple[type[Any], ...], ...] = ((Prior,), (NaiveBayes, TunedNaiveBayes), (TreeAugmented, Logistic))
"""Models that are sums over attributes, the simplest first: the best of a group is kept where it is good enough."""


def is_simple(learner: Learner, group: tuple[type[Any], ...]) -> bool:
    """Whether a learner is of a group, and what it says of a value is a line or a table, and not a product."""
    return isinstance(learner, group) and getattr(learner, "numbers", "") != "squares"


@dataclass(frozen=True)
class Trial:
    """How the candidates did on held-out rows, and what is kept of them."""

    candidates: tuple[dict[str, Any], ...]
    """As plain values."""
    weights: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    scores: NDArray[np.float64]
    """Mean log probability of the class of a held-out row, in nats, once tempered."""
    rows: int
    """Held-out rows that were scored."""
    mixture: float
    """The score of the mixture with the best weights, whether it was kept or not."""
    single: str = ""
    """The sentence why a single model was kept; empty where a mixture was."""
    hits: float = float("nan")
    """Share of the held-out rows whose class what was kept holds most probable."""

    @classmethod
    def none(cls) -> Trial:
        """Where nothing was tried."""
        return cls((), np.empty(0), np.empty(0), np.empty(0), 0, float("nan"))

    @classmethod
    def of_first(cls, candidates: Sequence[Learner]) -> Trial:
        """Where no row can be held out: the first naive Bayes, or the first of all, as it is."""
        first = next((h for h, c in enumerate(candidates) if isinstance(c, NaiveBayes)), 0)
        weights, count = np.zeros(len(candidates)), len(candidates)
        weights[first] = 1.0
        title = learner_titles(candidates)[first]
        note = f"{title} was taken as it is: all rows fell into one part, so that none could be held out."
        specs = tuple(map(member_spec, candidates))
        return cls(specs, weights, np.ones(count), np.full(count, np.nan), 0, float("nan"), note)

    @property
    def kept(self) -> float:
        """The score of what was kept."""
        return float(self.scores[np.flatnonzero(self.weights)[0]]) if self.single and self.rows else self.mixture

    def notes(self, titles: Sequence[str]) -> tuple[str, ...]:
        """What was decided, as sentences."""
        if self.single:
            return (self.single,)
        kept = [h for h in np.argsort(-self.weights, kind="stable") if self.weights[h] > 0]
        shares = ", ".join(f"{titles[h]} {self.weights[h]:.3g}" for h in kept)
        return (f"A mixture by held-out log score ({self.mixture:.4g} nats a row): {shares}.",)


def judge_candidates(
    candidates: Sequence[Learner],
    logs: NDArray[np.float64],
    truth: NDArray[np.intp],
    weight: NDArray[np.float64],
    shares: NDArray[np.float64],
    rows: float,
    noise: float,
) -> Trial:
    """The trial, from log P(class | row) of every candidate, (candidates, rows, classes)."""
    if not len(truth):
        return Trial.of_first(candidates)
    specs = tuple(map(member_spec, candidates))
    count, here = len(candidates), np.arange(len(truth))

    def heat(h: int) -> float:
        return 1.0 if isinstance(candidates[h], Prior) else temperature_of(logs[h], truth, weight, shares, rows)

    temperatures = np.array(list(in_order(iter(range(count)), heat)))

    def warm(h: int) -> NDArray[np.float64]:
        return np.exp(tempered(logs[h], float(temperatures[h])))

    chance = np.stack([warm(h)[here, truth] for h in range(count)], axis=1)
    share = weight / weight.sum()

    def hits(own: NDArray[np.float64]) -> float:
        mixed = sum(own[h] * warm(h) for h in np.flatnonzero(own).tolist())
        return float(share @ (np.asarray(mixed).argmax(axis=1) == truth))

    with np.errstate(divide="ignore"):
        scores = share @ np.log(chance)
    weights = _with_prior(candidates, stacking_weights(chance, weight), rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixed = np.log(chance @ weights)
        mixture = float(share @ mixed)
        for group in SIMPLE:
            some = [h for h, c in enumerate(candidates) if is_simple(c, group) and np.isfinite(scores[h])]
            if not some:
                continue
            best = max(some, key=lambda h: (scores[h], -h))
            lead = mixed - np.log(chance[:, best])
            error = _standard_error(lead, weight)
            if mixture - scores[best] <= noise * error:
                one = np.zeros(count)
                one[best] = 1.0
                title = learner_titles(candidates)[best]
                better = mixture - float(scores[best])
                said = (
                    f"{title} was kept alone: on held-out rows a mixture is better by {better:.2g} nats a row only, "
                    f"with a standard error of {error:.2g}."
                )
                return Trial(specs, one, temperatures, scores, len(truth), mixture, said, hits(one))
    return Trial(specs, weights, temperatures, scores, len(truth), mixture, hits=hits(weights))


def _with_prior(candidates: Sequence[Learner], weights: NDArray[np.float64], rows: float) -> NDArray[np.float64]:
    """The weights with at least that of one row for the prior, so that a mixture rules no class out."""
    least = 1 / (rows + 1)
    prior = next((h for h, c in enumerate(candidates) if isinstance(c, Prior)), None)
    if prior is None or weights[prior] >= least:
        return weights
    out = weights * ((1 - least) / (1 - weights[prior]))
    out[prior] = least
    return np.asarray(out / out.sum())


def _standard_error(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Of the weighted mean of values."""
    share = weight / weight.sum()
    mean = float(share @ values)
    spread = float(share @ (values - mean) ** 2)
    effective = 1 / float(share @ share)
    return float(np.sqrt(spread / max(effective - 1, 1.0)))
