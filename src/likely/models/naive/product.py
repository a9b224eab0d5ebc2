"""The product: prior times factors, each of an attribute or of a block of them. What naive Bayes believes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.models.contracts import Factor, Learner, Model, Terms, setting_of
from likely.models.drawing import DrawnRows
from likely.models.naive.prior_vs_rows import known_exhibits
from likely.models.naive.sampling import draw_rows
from likely.models.posterior import Matrix
from likely.models.quotient import Quotient
from likely.models.shapes import Exhibit, LevelTable, Score, Sum
from likely.models.text.factor import choice_note
from likely.models.text.settings import Text
from likely.sums import state
from likely.sums.contracts import State
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache while the factors are added."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Product(Model):
    """log P(class) + sum of log P(cell | class). `terms` is the one definition of the score."""

    prior: tuple[Quotient, ...]
    """P(class), exact."""
    log_prior: NDArray[np.float64]
    factors: tuple[Factor, ...]
    chosen: Mapping[str, Text] = field(default_factory=dict)
    """Settings of text columns that were chosen on rows held out: they cannot be derived from the sums again."""

    factored: ClassVar[bool] = True

    def choices(self) -> dict[str, tuple[str, str]]:
        """What was chosen of texts: with the scale, which hardly any two tables share, and without."""
        return {choice_note(n, how.written()): (n, how.written(scaled=False)) for n, how in self.chosen.items()}

    @property
    def generative(self) -> bool:  # type: ignore[override]
        """Unless a text is scored otherwise than by the probability of its words."""
        return all(text.settings.is_likelihood for text in self.texts)

    @property
    def proper(self) -> bool:  # type: ignore[override]
        """Scores of texts that are no likelihood are brought to the size of probabilities by their scale."""
        return all(t.settings.is_likelihood or t.settings.scale != "none" for t in self.texts)

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + sum of log P(cell | class) over the attributes, (rows, classes)."""
        return self.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        return scored(self, batch, lambda factor, block, out: factor.add(block, out))

    def log_orders(self, batch: Batch) -> NDArray[np.float64] | None:
        """The multinomial coefficients of the texts, of which `log_joint` makes no use."""
        if not self.texts:
            return None
        return np.sum([text.log_orders(batch.cells[text.name]) for text in self.texts], axis=0)  # type: ignore[no-any-return]

    def search_state(self) -> State:
        """The settings that were chosen on rows held out."""
        if not self.chosen:
            return {}
        return {"text": {name: state.plain(text) for name, text in self.chosen.items()}}

    @property
    def frozen(self) -> Learner:
        """The learner, with the settings of text that were chosen on held-out rows as if they had been said."""
        learner: Any = self.learner
        if not self.chosen:
            return self.learner
        if len(self.chosen) == 1 and not learner.text_by_column and len(self.texts) == 1:
            return replace(learner, text=next(iter(self.chosen.values())))  # type: ignore[no-any-return]
        return replace(learner, text_by_column={**learner.text_by_column, **self.chosen})  # type: ignore[no-any-return]

    def lasting_state(self) -> State:
        """Chosen settings stay as they are when rows are learned or unlearned."""
        return self.search_state()

    def terms(self, batch: Batch) -> Terms:
        """The prior and each factor's share of `log_joint`, by the same code."""
        out = np.zeros((1 + len(self.factors), batch.rows, len(self.classes)))
        out[0] = self.log_prior
        for part, factor in zip(out[1:], self.factors, strict=True):
            factor.add(batch, part)
        return Terms(("prior", *(f.name for f in self.factors)), out.transpose(1, 0, 2))

    def shape(self) -> Score:
        """The prior and the factors, added up."""
        return Sum(self.log_prior, self.factors)

    def only(self, names: Collection[str]) -> Product:
        """The product of the factors of these names alone."""
        return replace(self, factors=tuple(f for f in self.factors if f.name in names))

    def prior_rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """The counts of the classes, and what smoothing or knowledge adds to them."""
        if setting_of(self.learner, "prior", "observed") != "observed":
            return None
        top = np.array([float(q.top) for q in self.prior])
        known = any(k.attribute is None for k in setting_of(self.learner, "knowledge", ()))
        return top, top if known else self.summary.total.floats()

    def exhibits(self) -> tuple[Exhibit, ...]:
        """What was known before the rows, and what is believed of each block; other attributes are shown one by one."""
        before = known_exhibits(self.learner, self.summary, self.prior, self.factors)
        blocks_first = sorted(self.factors, key=lambda factor: len(factor.names) == 1)
        return (*before, *(exhibit for factor in blocks_first for exhibit in factor.exhibits(self.classes)))

    def levels(self, name: str) -> list[str]:
        """The levels of a nominal attribute: of rows, as declared, and as knowledge names them."""
        own = next((f for f in self.factors if isinstance(f, LevelTable) and f.name == name), None)
        return super().levels(name) if own is None else list(own.labels.names)

    def sample(self, rows: int, seed: int = 0) -> DrawnRows:
        """Rows drawn from the model: a class by its prior, then each cell given the class. Missing cells are None.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> model.sample(3, seed=1)
        {'sky': ['sun', 'rain', 'rain'], 'play': ['y', 'y', 'n']}
        """
        return draw_rows(self, rows, seed)


def scored(
    model: Product, batch: Batch, add: Callable[[Factor, Batch, Matrix], tuple[int, int] | None]
) -> tuple[Matrix, dict[str, tuple[int, int]]]:
    """Prior and factors, added block by block of rows in this order; and the words of texts, known or not."""
    counted = {text.name: (0, 0) for text in model.texts}
    out = np.empty((batch.rows, len(model.classes)))
    out[:] = model.log_prior
    for start in range(0, batch.rows, BLOCK):
        rows = slice(start, start + BLOCK)
        block = batch if batch.rows <= BLOCK else batch.sliced(rows)
        for factor in model.factors:
            words = add(factor, block, out[rows])
            if words is not None:
                before = counted[factor.name]
                counted[factor.name] = (before[0] + words[0], before[1] + words[1])
    return out, counted
