"""Mixtures of hypotheses: Mixture asks all of them, each by how much it is believed; Gibbs asks one, drawn by lot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likely.errors import shown
from likely.models import shapes
from likely.models.contracts import Learning, Model
from likely.models.heldout.kept_rows import uniform_numbers
from likely.models.heldout.search import log_posterior
from likely.models.learning import looks_at_rows
from likely.models.pool.hypotheses import Beliefs, Hypotheses, HypothesesModel
from likely.models.posterior import Matrix, Posterior
from likely.models.settings import setting
from likely.models.shapes import Member, Opaque, Score
from likely.models.working.records import Quantity, Step, Working
from likely.models.working.working import added
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Mixture(Hypotheses):
    """The Bayes-optimal classifier: P(class | row) = sum over h of P(class | row, h) P(h | data).

    >>> from likely.models.naive.naive import NaiveBayes
    >>> Mixture((NaiveBayes(), NaiveBayes(pseudo_count=0.5)), weights=(0.25, 0.75)).titles
    ('NaiveBayes', 'NaiveBayes(pseudo_count=0.5)')
    """

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[MixtureModel]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        found = yield from self.weigh_members(summary)
        assert isinstance(found, MixtureModel)
        return found

    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> MixtureModel:
        """The model that asks all members."""
        refuse = any(m.refuse_unseen for m in models)
        return MixtureModel(
            learner=self, summary=summary, members=models, beliefs=beliefs, notes=notes, refuse_unseen=refuse
        )


@dataclass(frozen=True)
class Gibbs(Hypotheses):
    """For each row one hypothesis, drawn by its P(h | data), answers alone.

    Its expected error is at most twice that of `Mixture`, where the weights are right and each hypothesis is sure of
    one class. The lot depends on the seed and on the number of the row in its table: not on batches, threads or time.

    >>> from likely.models.naive.naive import NaiveBayes
    >>> Gibbs((NaiveBayes(),), weights=(1.0,), seed=7).seed
    7
    """

    seed: int = setting(0, "Draws the hypothesis that answers for a row.", whole=True)

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[GibbsModel]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        found = yield from self.weigh_members(summary)
        assert isinstance(found, GibbsModel)
        return found

    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> GibbsModel:
        """The model that asks one member for each row."""
        refuse = any(m.refuse_unseen for m in models)
        return GibbsModel(
            learner=self, summary=summary, members=models, beliefs=beliefs, notes=notes, refuse_unseen=refuse
        )


@dataclass(frozen=True)
class Disagreement:
    """A row for which the hypothesis that is believed most says another class than all of them together."""

    row: int
    """Its place in the table, from 0."""
    by_map: str
    by_all: str
    probability: float
    """Of the class that all say."""


@dataclass(frozen=True)
class Disagreements:
    """How many of the rows are disagreed about, and the first of them."""

    rows: int
    count: int
    examples: tuple[Disagreement, ...]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MixtureModel(HypothesesModel):
    """All hypotheses, each by its weight."""

    @cached_property
    def score(self) -> Score:
        """log P(class | row). A hypothesis that calls the row impossible says nothing; the others share its weight."""
        given = self.learner.temperatures or (1.0,) * len(self.members)
        each = zip(self.members, self.beliefs.weight.tolist(), given, strict=True)
        parts = (Member(m.score, float(weight), float(heat), m.classes) for m, weight, heat in each if weight > 0)
        return shapes.Mixture(tuple(parts), self.classes)

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """Σ P(h | data) · P(class | x, h). A hypothesis that calls the row impossible is left out."""
        steps, weights, silent = [], {}, []
        for h, (title, weight) in enumerate(zip(self.beliefs.titles, self.beliefs.weight.tolist(), strict=True), 1):
            logs = self._answer(h - 1, batch)[0]
            if not weight or np.isneginf(logs).all():
                silent += (
                    [f"h{h}, {shown(title, 80)[1:-1]}, calls the row impossible and is left out."] if weight else []
                )
                continue
            weights[f"h{h}"] = weight
            chances = np.exp(logs).tolist()
            texts = {c: f"{weight:.4g} × {p:.4g}" for c, p in zip(self.classes, chances, strict=True)}
            values = {c: weight * p for c, p in zip(self.classes, chances, strict=True)}
            steps.append(Step(title, None, values, values, title=f"P(h{h}) × P(class | x, h{h})", texts=texts))
        name = "P(h | data)" if self.learner.weights == "evidence" else "weights P(h)"
        named = "; ".join(f"h{h} = {shown(title, 80)[1:-1]}" for h, title in enumerate(self.beliefs.titles, 1))
        found = added(
            self.classes,
            steps,
            posterior,
            sign="P({} | x)",
            quantities=[Quantity(name, weights)],
            remarks=[f"{named}.", *silent],
        )
        whole = sum(weights.values())
        if silent and weights:
            remark = f"The weights that are left sum to {whole:.4g}, by which the sums are divided."
            found = replace(found, remarks=(*found.remarks, remark))
        return found

    def disagreements(self, data: object, examples: int = 10) -> Disagreements:
        """Where the hypothesis believed most (MAP) and the Bayes-optimal answer are not the same class."""
        rows = count = 0
        found: list[Disagreement] = []
        names = self.classes
        for batch in self.batches(data):
            both = Posterior.of(names, self.log_joint(batch))
            alone = Posterior.of(names, log_posterior(self.members[self.beliefs.best], batch, names))
            apart = np.flatnonzero((both.codes != alone.codes) & (both.codes >= 0) & (alone.codes >= 0))
            rows, count = rows + batch.rows, count + len(apart)
            for i in apart[: max(examples - len(found), 0)].tolist():
                mine, theirs = alone.codes[i], both.codes[i]
                chance = float(both.matrix[i, theirs])
                found.append(Disagreement(batch.start + i, names[mine], names[theirs], chance))
        return Disagreements(rows, count, tuple(found))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GibbsModel(HypothesesModel):
    """One hypothesis for each row."""

    learner: Gibbs
    random: ClassVar[bool] = True

    @cached_property
    def score(self) -> Score:
        """log P(class | row) of the hypothesis that was drawn."""
        why = "It draws a hypothesis for each row by the place of the row in its table; Mixture asks all of them."
        drawn = Opaque("the hypothesis drawn", self._answer_drawn, why)
        return shapes.Sum(np.zeros(len(self.classes)), (drawn,), whole=True)

    def _answer_drawn(self, batch: Batch) -> Matrix:
        out = np.full((batch.rows, len(self.classes)), -np.inf)
        lot = self.draw_members(batch)
        for h in range(len(self.members)):
            rows = np.flatnonzero(lot == h)
            if len(rows):
                out[rows] = self._answer(h, batch.take(rows))
        return out

    def draw_members(self, batch: Batch) -> NDArray[np.intp]:
        """The number of the hypothesis that answers for each row."""
        ends = np.cumsum(self.beliefs.weight)
        last = int(np.flatnonzero(self.beliefs.weight)[-1])  # rounding must not draw what nobody believes
        return np.minimum(
            np.searchsorted(ends, uniform_numbers(self.learner.seed, batch.start, batch.rows), "right"), last
        )

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """What the hypothesis says that was drawn for the row."""
        (h,) = self.draw_members(batch).tolist()
        values = dict(zip(self.classes, posterior.matrix[0].tolist(), strict=True))
        step = Step(self.beliefs.titles[h], None, values, values, title=f"P(class | x, h{h + 1})")
        drawn = f"Drawn for this row: h{h + 1} = {shown(self.beliefs.titles[h], 80)[1:-1]}, which answers alone."
        return added(self.classes, [step], posterior, sign="P({} | x)", remarks=[drawn])
