"""A model around another one, which answers otherwise but believes, reads and draws rows as the one inside does."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from likely.models.contracts import Learner, Model
from likely.models.pool.members import learner_titles
from likely.models.shapes import Exhibit
from likely.table.batch import Batch
from likely.table.encode import Encoder


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Wrapper(Model):
    """All but its scores is of the model inside: whether it is proper and generative, factors, levels, encoder."""

    inner: Model

    @property
    def proper(self) -> bool:  # type: ignore[override]
        return self.inner.proper

    @property
    def generative(self) -> bool:  # type: ignore[override]
        return self.inner.generative

    @property
    def shapeless(self) -> str:  # type: ignore[override]
        return self.inner.shapeless

    def why_undecided(self, batch: Batch) -> str:
        return self.inner.why_undecided(batch)

    def power_of(self, name: str) -> float:
        return self.inner.power_of(name)

    def cell_tables(self) -> tuple[Exhibit, ...]:
        return self.inner.cell_tables()

    def term_strengths(self) -> dict[tuple[str, ...], float]:
        return self.inner.term_strengths()

    def with_curves(self, names: Collection[str] = ()) -> Learner:
        return self.inner.with_curves(names)

    def levels(self, name: str) -> list[str]:
        return self.inner.levels(name)

    def encoder(self) -> Encoder:
        return self.inner.encoder()

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model inside: what rows of a class look like is the same."""
        return self.inner.sample(rows, seed)


def wrap(model: Model) -> dict[str, Any]:
    """What a model around this one takes over from it."""
    return {
        "learner": model.learner,
        "summary": model.summary,
        "notes": model.notes,
        "refuse_unseen": model.refuse_unseen,
        "loss": model.loss,
        "prior": model.prior,
        "log_prior": model.log_prior,
        "factors": model.factors,
        "members": model.members,
        "inner": model,
    }


def unwrap(model: Model) -> Model:
    """The model that was learned, within all that was put around it."""
    while isinstance(model, Wrapper):
        model = model.inner
    return model


def describer_sentence(model: Model, describer: Model) -> str:
    """The sentence that says whose view of rows is taken, where the model has none of its own."""
    return unwrap(model).describer_note.format(title=learner_titles([describer.learner])[0])
