"""Mixtures of hypotheses: Mixture asks all of them, each by how much it is believed; Gibbs asks one, drawn by lot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.models import shapes
from likely.models.contracts import Learning, Model
from likely.models.heldout.kept_rows import uniform_numbers
from likely.models.heldout.search import log_posterior
from likely.models.learning import looks_at_rows
from likely.models.pool.hypotheses import Beliefs, Hypotheses
from likely.models.posterior import Matrix, Posterior
from likely.models.settings import setting
from likely.models.shapes import Exhibit, Member, Opaque, Score, temper
from likely.models.working.records import Quantity, Step, Working
from likely.models.working.working import added
from likely.sums.contracts import State
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
    def learn(self, summary: Summary) -> Learning[HypothesesModel]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        model = yield from self.weigh_members(summary)
        assert isinstance(model, HypothesesModel)
        return model

    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> HypothesesModel:
        """The model that asks all members."""
        refuse = any(m.refuse_unseen for m in models)
        return HypothesesModel(
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
    def learn(self, summary: Summary) -> Learning[HypothesesModel]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        model = yield from self.weigh_members(summary)
        assert isinstance(model, HypothesesModel)
        return model

    def build_model(
        self, summary: Summary, models: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> HypothesesModel:
        """The model that asks one member for each row."""
        refuse = any(m.refuse_unseen for m in models)
        return HypothesesModel(
            learner=self,
            summary=summary,
            members=models,
            beliefs=beliefs,
            seed=self.seed,
            notes=notes,
            refuse_unseen=refuse,
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
class HypothesesModel(Model):
    """A model of several hypotheses, which asks all of them, each by its weight, or for each row one, drawn by lot."""

    learner: Hypotheses
    members: tuple[Model, ...]
    beliefs: Beliefs
    seed: int | None = None
    """What the hypothesis of each row is drawn by; None: all are asked."""

    @property
    def random(self) -> bool:  # type: ignore[override]
        return self.seed is not None

    @cached_property
    def score(self) -> Score:
        """log P(class | row). A hypothesis that calls the row impossible says nothing; the others share its weight."""
        if self.random:
            why = "It draws a hypothesis for each row by the place of the row in its table; Mixture asks all of them."
            drawn = Opaque("the hypothesis drawn", self._answer_drawn, why)
            return shapes.Sum(np.zeros(len(self.classes)), (drawn,), whole=True)
        temperatures = self.learner.temperatures or (1.0,) * len(self.members)
        each = zip(self.members, self.beliefs.weight.tolist(), temperatures, strict=True)
        parts = (Member(m.score, float(weight), float(heat), m.classes) for m, weight, heat in each if weight > 0)
        return shapes.Mixture(tuple(parts), self.classes)

    def _answer(self, h: int, batch: Batch) -> Matrix:
        """log P(class | row) by a hypothesis, at its temperature; all -inf where it calls the row impossible."""
        logs, given = log_posterior(self.members[h], batch, self.classes), self.learner.temperatures
        return logs if given is None else temper(logs, given[h])

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The hypotheses and how much each is believed."""
        weights, beliefs = self.learner.weights, self.beliefs
        title, header = "Hypotheses, with the given weights", ["hypothesis", "weight"]
        if weights == "evidence":
            title, header = "Hypotheses", ["hypothesis", "P(h | data)", "log P(data | h)"]
        elif weights == "held-out":
            title = "Hypotheses, weighted for the best held-out log score of their mixture (stacking)"
            header = ["hypothesis", "weight", "held-out log score of a row"]
        columns = [beliefs.titles, beliefs.weight.tolist(), beliefs.figure.tolist()][: len(header)]
        if self.learner.temperatures is not None:
            header.append("temperature")
            columns.append(self.learner.temperatures)
        best = beliefs.titles[beliefs.best]
        name = "MAP hypothesis" if weights != "held-out" else "greatest weight"
        return (
            Exhibit(title, tuple(header), tuple(zip(*columns, strict=True))),
            Exhibit("The most probable hypothesis", (name,), ((best,),)),
        )

    def search_state(self) -> State:
        """Weights and members, where searches found them."""
        if not self.beliefs.searched:
            return {}
        return {
            "weights": self.beliefs.weight,
            "figures": self.beliefs.figure,
            "members": [m.search_state() for m in self.members],
            "notes": list(self.notes),
        }

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
            np.searchsorted(ends, uniform_numbers(self.seed or 0, batch.start, batch.rows), "right"), last
        )

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """The arithmetic of all hypotheses, or of the one that was drawn for the row."""
        return self._work_drawn(batch, posterior) if self.random else self._work_all(batch, posterior)

    def _work_drawn(self, batch: Batch, posterior: Posterior) -> Working:
        """What the hypothesis says that was drawn for the row."""
        (h,) = self.draw_members(batch).tolist()
        values = dict(zip(self.classes, posterior.matrix[0].tolist(), strict=True))
        step = Step(self.beliefs.titles[h], None, values, values, title=f"P(class | x, h{h + 1})")
        drawn = f"Drawn for this row: h{h + 1} = {shown(self.beliefs.titles[h], 80)[1:-1]}, which answers alone."
        return added(self.classes, [step], posterior, sign="P({} | x)", remarks=[drawn])

    def _work_all(self, batch: Batch, posterior: Posterior) -> Working:
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
