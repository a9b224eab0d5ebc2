"""Auto: the learner that tries the family on held-out rows and mixes what helps. Settings, and which are tried.

The search is in auto_search.py, the model that it ends in is in auto_model.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likely.models.dependence.one_dependence import OneDependence
from likely.models.dependence.tree import TreeAugmented
from likely.models.joint.discriminant import LinearDiscriminant
from likely.models.joint.full import FullBayes
from likely.models.linear.logistic import Logistic
from likely.models.naive.baseline import Prior
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.tuned import TunedNaiveBayes
from likely.models.neighbors.neighbors import Neighbors
from likely.models.pool.auto_model import AutoModel, restore_mixture
from likely.models.pool.auto_search import start_auto_search
from likely.models.pool.members import check_members, member_learner
from likely.models.setting_values import parts_setting
from likely.models.settings import Settings, setting
from likely.models.text_logistic.learner import TextLogistic
from likely.models.text_logistic.search import count_entries
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.table.schema import Schema

if TYPE_CHECKING:
    from likely.models.contracts import Learner, Model, Search
    from likely.models.pool.auto_model import AutoModel

MOST_NEAR = 20_000
"""Rows up to which neighbours are tried: beyond, looking for them takes longer than all the rest."""
MOST_WORK = 200_000_000
"""Rows times columns times classes up to which a logistic regression is tried: each sweep multiplies them all."""
MOST_LINKED = 150
"""Attributes up to which those that depend on each other (TreeAugmented, OneDependence, FullBayes) are tried."""
MOST_TUNED = 400
"""Numbers times classes up to which TunedNaiveBayes is tried: it learns every density once for each part of each
part. Levels are counted already, and a nominal attribute takes about a fifth of the time of a number."""
MOST_WORDS = 1 << 24
"""Different words of texts, added over all texts, times classes up to which weights of words are tried."""
RIDGE = 3.0
"""Holds back the many columns of squares and bins."""
STEPS = 0.05
"""Tolerance of logistic regressions: a twentieth of a nat of all rows' log-likelihood, which no probability shows."""


@dataclass(frozen=True)
class Auto(Settings):
    """P(class | row) = sum over members h of w_h P(class | row, h)**t_h, each normalised.

    Candidates are learned from all parts of the rows but one, and score the rows of that part, so that every row is
    scored by candidates that have not seen it. A temperature t_h makes each as sure of itself as it may be; weights w_h
    make the mixture's held-out log score the best (stacking), and are exactly 0 for what adds nothing. Prior has at
    least the weight of one row, 1 / (rows + 1), so that no class is ruled out by a mixture. A single simple model is
    kept where the mixture is not better than it by more than noise. What is kept then learns from all rows.

    >>> Auto().parts
    5
    """

    members: tuple[Any, ...] = setting(
        (), "Candidates; none: those that fit the columns and the number of rows.", convert=check_members
    )
    parts: int = parts_setting()
    noise: float = setting(
        1.0,
        "The mixture must score better than a single simple model by so many standard errors of the difference.",
        at_least=0,
    )
    seed: int = setting(0, "Deals the rows to the parts.", whole=True)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beforehand: what candidates are made of is summed by parts, in a sweep of the search."""
        return frozenset()

    def candidates(self, summary: Summary) -> tuple[Learner, ...]:
        """What is tried on these columns and rows."""
        return tuple(map(member_learner, self.members)) or candidates(summary)

    def learn(self, summary: Summary) -> Model | Search:
        """Begin the search; with a single class there is nothing to choose."""
        return start_auto_search(self, summary, self.candidates(summary), (self.parts, self.seed), self.noise)

    def restore(self, summary: Summary, found: State) -> AutoModel:
        """The model as a file keeps it."""
        return restore_mixture(self, summary, found)


def candidates(summary: Summary) -> tuple[Learner, ...]:
    """The family as far as it fits: the simple ones first, as the first of equals is taken."""
    schema, wordless = summary.schema, summary.without_text()
    numbers = [c.name for c in schema.attributes if c.kind not in ("nominal", "text")]
    nominal = [c.name for c in schema.attributes if c.kind == "nominal"]
    count, rows, classes = len(numbers) + len(nominal), summary.rows, len(summary.classes)
    out: list[Any] = [Prior(), NaiveBayes()]
    if 0 < count_entries(summary) * classes <= MOST_WORDS:
        out.append(TextLogistic())
    if numbers:
        out += [NaiveBayes(numbers="binned"), NaiveBayes(numbers="kernel")]
    if not count:
        return tuple(out)
    if (len(numbers) + len(nominal) / 5) * classes <= MOST_TUNED:
        out.append(TunedNaiveBayes(parts=3))
    linked = 2 <= count <= MOST_LINKED
    if linked:
        out.append(TreeAugmented())
    tried = [Logistic(tolerance=STEPS)]
    if numbers:
        tried += [Logistic(numbers=how, ridge=RIDGE, tolerance=STEPS) for how in ("binned", "squares")]
    for learner in tried:
        if rows * learner.design(wordless).size * classes <= MOST_WORK:
            out.append(learner)
    if linked:
        out.append(OneDependence())
        if not nominal:
            out += [LinearDiscriminant(), FullBayes(), FullBayes(shrinkage="auto")]
        elif len(numbers) > 1:
            out.append(NaiveBayes(blocks=(tuple(numbers),)))
    if rows <= MOST_NEAR:
        out += [Neighbors(k=k, pseudo_count=1.0) for k in (1, 3, 10, 30)]
    return tuple(out)
