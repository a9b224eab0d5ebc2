"""A model around another one, which answers otherwise but reads rows and draws them as the one inside does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from likely.models.model import Model
from likely.models.naive.weighed import Weighed
from likely.models.pool.members import learner_titles
from likely.table.encode import Encoder


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Around(Model):
    """Whether it is proper and generative, its levels and its encoder are those of the model inside."""

    inner: Model

    @property
    def proper(self) -> bool:  # type: ignore[override]
        return self.inner.proper

    @property
    def generative(self) -> bool:  # type: ignore[override]
        return self.inner.generative

    def levels(self, name: str) -> list[str]:
        return self.inner.levels(name)

    def encoder(self) -> Encoder:
        return self.inner.encoder()

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model inside: what rows of a class look like is the same."""
        return self.inner.sample(rows, seed)


def settings_of(model: Model) -> dict[str, Any]:
    """What a model around this one takes over from it."""
    return {
        "learner": model.learner,
        "summary": model.summary,
        "notes": model.notes,
        "refuse_unseen": model.refuse_unseen,
        "loss": model.loss,
        "inner": model,
    }


def inside(model: Model) -> Model:
    """The model that was learned, within all that was put around it."""
    while isinstance(model, Around):
        model = model.inner
    return model


def beside(model: Model, describer: Model) -> str:
    """The sentence that says whose view of rows is taken, where the model has none of its own."""
    title = learner_titles([describer.learner])[0]
    if isinstance(inside(model), Weighed):
        return f"Evidence that is weighed does not say how rows come about: that is how {title} sees them unweighed."
    return (
        f"{type(inside(model).learner).__name__} does not say how rows come about: that is how {title} sees them, "
        "from the same sums."
    )
