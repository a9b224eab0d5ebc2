"""Mixtures of hypotheses: Mixture asks all of them, each by how much it is believed; Gibbs asks one, drawn by lot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.models.contracts import Beliefs, Learning, Model, setting_of
from likely.models.heldout.kept_rows import uniform_numbers
from likely.models.heldout.search import log_posterior
from likely.models.learning import looks_at_rows
from likely.models.pool.hypotheses import Hypotheses
from likely.models.posterior import Matrix, Posterior
from likely.models.settings import setting
from likely.models.shapes import Exhibit, Member, Opaque, Score, temper
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
    def learn(self, summary: Summary) -> Learning[Model]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        return self.weigh_members(summary)

    def build_model(
        self, summary: Summary, members: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> Model:
        """The model that asks all members. One that calls the row impossible says nothing; the others share its
        weight."""
        temperatures = self.temperatures or (1.0,) * len(members)
        each = zip(members, beliefs.weight.tolist(), temperatures, strict=True)
        parts = (Member(m.score, float(weight), float(heat), m.classes) for m, weight, heat in each if weight > 0)
        model = hypotheses_model(self, summary, members, beliefs, notes, shapes.Mixture(tuple(parts), summary.classes))
        return replace(model, work=_work_all)


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
    def learn(self, summary: Summary) -> Learning[Model]:
        """The model; refused where the rows must be seen again, as `likely.fit` does."""
        return self.weigh_members(summary)

    def build_model(
        self, summary: Summary, members: tuple[Model, ...], beliefs: Beliefs, notes: tuple[str, ...]
    ) -> Model:
        """The model that asks one member for each row."""
        why = "It draws a hypothesis for each row by the place of the row in its table; Mixture asks all of them."
        lot = Lot(members, beliefs.weight, self.temperatures, summary.classes, self.seed)
        score = shapes.Sum(np.zeros(len(summary.classes)), (Opaque("the hypothesis drawn", lot, why),), whole=True)
        model = hypotheses_model(self, summary, members, beliefs, notes, score)
        details = {**model.details, "draw_members": lot.draw_members}
        return replace(model, random=True, details=details, work=partial(_work_drawn, lot))


def hypotheses_model(
    learner: Hypotheses,
    summary: Summary,
    members: tuple[Model, ...],
    beliefs: Beliefs,
    notes: tuple[str, ...],
    score: Score,
) -> Model:
    """A model of several hypotheses: log P(class | row)."""
    model = Model(
        learner=learner,
        summary=summary,
        score=score,
        members=members,
        notes=notes,
        refuse_unseen=any(member.refuse_unseen for member in members),
        details={"beliefs": beliefs},
        show=_show_hypotheses,
    )
    if not beliefs.searched:
        return model
    # Weights and members, where searches found them.
    state: dict[str, Any] = {
        "weights": beliefs.weight,
        "figures": beliefs.figure,
        "members": [member.state for member in members],
        "notes": list(model.notes),
    }
    return replace(model, state=state)


def _answer(member: Model, temperature: float | None, batch: Batch, classes: tuple[str, ...]) -> Matrix:
    """log P(class | row) by a hypothesis, at its temperature; all -inf where it calls the row impossible."""
    logs = log_posterior(member, batch, classes)
    return logs if temperature is None else temper(logs, temperature)


@dataclass(frozen=True, eq=False)
class Lot:
    """Who answers for a row is drawn by the place of the row in its table."""

    members: tuple[Model, ...]
    weight: Floats
    temperatures: tuple[float, ...] | None
    classes: tuple[str, ...]
    seed: int

    def __call__(self, batch: Batch) -> Matrix:
        """log P(class | row) by the hypothesis that was drawn."""
        out = np.full((batch.rows, len(self.classes)), -np.inf)
        lot = self.draw_members(batch)
        for h, member in enumerate(self.members):
            rows = np.flatnonzero(lot == h)
            if len(rows):
                heat = None if self.temperatures is None else self.temperatures[h]
                out[rows] = _answer(member, heat, batch.take(rows), self.classes)
        return out

    def draw_members(self, batch: Batch) -> NDArray[np.intp]:
        """The number of the hypothesis that answers for each row."""
        ends = np.cumsum(self.weight)
        last = int(np.flatnonzero(self.weight)[-1])  # rounding must not draw what nobody believes
        return np.minimum(np.searchsorted(ends, uniform_numbers(self.seed, batch.start, batch.rows), "right"), last)


def _show_hypotheses(model: Model) -> tuple[Exhibit, ...]:
    """The hypotheses and how much each is believed."""
    weights, beliefs = setting_of(model.learner, "weights"), model.beliefs
    title, header = "Hypotheses, with the given weights", ["hypothesis", "weight"]
    if weights == "evidence":
        title, header = "Hypotheses", ["hypothesis", "P(h | data)", "log P(data | h)"]
    elif weights == "held-out":
        title = "Hypotheses, weighted for the best held-out log score of their mixture (stacking)"
        header = ["hypothesis", "weight", "held-out log score of a row"]
    columns = [beliefs.titles, beliefs.weight.tolist(), beliefs.figure.tolist()][: len(header)]
    temperatures = setting_of(model.learner, "temperatures")
    if temperatures is not None:
        header.append("temperature")
        columns.append(temperatures)
    best = beliefs.titles[beliefs.best]
    name = "MAP hypothesis" if weights != "held-out" else "greatest weight"
    return (
        Exhibit(title, tuple(header), tuple(zip(*columns, strict=True))),
        Exhibit("The most probable hypothesis", (name,), ((best,),)),
    )


def _work_drawn(lot: Lot, model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """What the hypothesis says that was drawn for the row."""
    (h,) = lot.draw_members(batch).tolist()
    titles = model.beliefs.titles
    values = dict(zip(model.classes, posterior.matrix[0].tolist(), strict=True))
    step = Step(titles[h], None, values, values, title=f"P(class | x, h{h + 1})")
    drawn = f"Drawn for this row: h{h + 1} = {shown(titles[h], 80)[1:-1]}, which answers alone."
    return added(model.classes, [step], posterior, sign="P({} | x)", remarks=[drawn])


def _work_all(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """Σ P(h | data) · P(class | x, h). A hypothesis that calls the row impossible is left out."""
    steps, weights, silent = [], {}, []
    beliefs, classes = model.beliefs, model.classes
    heats = setting_of(model.learner, "temperatures") or (None,) * len(model.members)
    for h, (title, weight) in enumerate(zip(beliefs.titles, beliefs.weight.tolist(), strict=True), 1):
        logs = _answer(model.members[h - 1], heats[h - 1], batch, classes)[0]
        if not weight or np.isneginf(logs).all():
            silent += [f"h{h}, {shown(title, 80)[1:-1]}, calls the row impossible and is left out."] if weight else []
            continue
        weights[f"h{h}"] = weight
        chances = np.exp(logs).tolist()
        texts = {c: f"{weight:.4g} × {p:.4g}" for c, p in zip(classes, chances, strict=True)}
        values = {c: weight * p for c, p in zip(classes, chances, strict=True)}
        steps.append(Step(title, None, values, values, title=f"P(h{h}) × P(class | x, h{h})", texts=texts))
    name = "P(h | data)" if setting_of(model.learner, "weights") == "evidence" else "weights P(h)"
    named = "; ".join(f"h{h} = {shown(title, 80)[1:-1]}" for h, title in enumerate(beliefs.titles, 1))
    working = added(
        classes,
        steps,
        posterior,
        sign="P({} | x)",
        quantities=[Quantity(name, weights)],
        remarks=[f"{named}.", *silent],
    )
    if silent and weights:
        remark = f"The weights that are left sum to {sum(weights.values()):.4g}, by which the sums are divided."
        working = replace(working, remarks=(*working.remarks, remark))
    return working
