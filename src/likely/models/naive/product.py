"""The product: prior times factors, each of an attribute or of a block of them. What naive Bayes believes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.factors.categorical import Categorical
from likely.models.factors.numeric import NumberFactor
from likely.models.model import Exhibit, Learner, Model, Terms
from likely.models.naive import sampling
from likely.models.naive.blocks import LevelBlock, NumberBlock
from likely.models.naive.prior_vs_rows import known_exhibits
from likely.models.naive.working import Working, working
from likely.models.posterior import Matrix
from likely.models.quotient import Quotient
from likely.models.text.factor import TextFactor, chosen_note
from likely.models.text.settings import Text
from likely.sums import state
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache while the factors are added."""

Factor = Categorical | NumberFactor | LevelBlock | NumberBlock | TextFactor


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(Model):
    """log P(class) + sum of log P(cell | class). `terms` is the one definition of the score."""

    prior: tuple[Quotient, ...]
    """P(class), exact."""
    log_prior: NDArray[np.float64]
    factors: tuple[Factor, ...]
    chosen: Mapping[str, Text] = field(default_factory=dict)
    """Settings of text columns that were chosen on rows held out: they cannot be derived from the sums again."""

    @property
    def texts(self) -> tuple[TextFactor, ...]:
        """The factors of text columns."""
        return tuple(f for f in self.factors if isinstance(f, TextFactor))

    def choices(self) -> dict[str, tuple[str, str]]:
        """What was chosen of texts: with the scale, which hardly any two tables share, and without."""
        return {chosen_note(n, how.written()): (n, how.written(scaled=False)) for n, how in self.chosen.items()}

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
        return scored(self, batch, add_factor)

    def log_orders(self, batch: Batch) -> NDArray[np.float64] | None:
        """The multinomial coefficients of the texts, of which `log_joint` makes no use."""
        if not self.texts:
            return None
        return np.sum([text.log_orders(batch.cells[text.name]) for text in self.texts], axis=0)  # type: ignore[no-any-return]

    def found(self) -> dict[str, Any]:
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

    def carried(self) -> dict[str, Any]:
        """Chosen settings stay as they are when rows are learned or unlearned."""
        return self.found()

    def terms(self, batch: Batch) -> Terms:
        """The prior and each factor's share of `log_joint`, by the same code."""
        out = np.zeros((1 + len(self.factors), batch.rows, len(self.classes)))
        out[0] = self.log_prior
        for part, factor in zip(out[1:], self.factors, strict=True):
            add_factor(factor, batch, part)
        return Terms(("prior", *(f.name for f in self.factors)), out.transpose(1, 0, 2))

    def block_of(self, name: str) -> LevelBlock | NumberBlock | None:
        """The block that an attribute is in; None where it stands alone."""
        blocks = (f for f in self.factors if isinstance(f, (LevelBlock, NumberBlock)))
        return next((block for block in blocks if name in block.names), None)

    def share_block(self, one: str, other: str) -> bool:
        """Whether two attributes are modelled together."""
        block = self.block_of(one)
        return block is not None and other in block.names

    def exhibits(self) -> tuple[Exhibit, ...]:
        """What was known before the rows, and what is believed of each block; other attributes are shown one by one."""
        blocks = (f for f in self.factors if isinstance(f, (LevelBlock, NumberBlock)))
        before = known_exhibits(self.learner, self.summary, self.prior, self.factors)
        together = (exhibit for block in blocks for exhibit in block.exhibits(self.classes))
        return (*before, *together, *(exhibit for text in self.texts for exhibit in text.exhibits(self.classes)))

    def levels(self, name: str) -> list[str]:
        """The levels of a nominal attribute: of rows, as declared, and as knowledge names them."""
        own = next((f for f in self.factors if isinstance(f, Categorical) and f.name == name), None)
        return super().levels(name) if own is None else list(own.labels.names)

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model: a class by its prior, then each cell given the class. Missing cells are None.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> model.sample(3, seed=1)
        {'sky': ['sun', 'rain', 'rain'], 'play': ['y', 'y', 'n']}
        """
        return sampling.sample(self, rows, seed)

    def working(self, row: Mapping[str, object]) -> Working:
        """The arithmetic of one answer, as a person would write it on a board.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> print(model.working({"sky": "sun"}))
        L(class) = P(class) × P(sky=sun | class)
        L(n) = 1/4 × 1/3 = 1/12 = 0.08333
        L(y) = 3/4 × 3/5 = 9/20 = 0.45
        ...
        """
        (batch,) = self.batches(self.table_of_one(row))
        terms = self.terms(batch).array[0]
        return working(self.classes, self.prior, self.factors, terms, batch, row, self.posterior(row))


def add_factor(factor: Factor, batch: Batch, out: NDArray[np.float64]) -> tuple[int, int] | None:
    """Add a factor's share of the score: a block reads the cells of several columns, any other factor those of one.

    A text says how many words it had, and how many are not known.
    """
    if isinstance(factor, TextFactor):
        return factor.add(batch.cells[factor.name], out)
    if isinstance(factor, (LevelBlock, NumberBlock)):
        factor.add(batch, out)
    else:
        factor.add(batch.cells[factor.name], out)
    return None


def scored(
    model: Product, batch: Batch, add: Callable[[Factor, Batch, Matrix], tuple[int, int] | None]
) -> tuple[Matrix, dict[str, tuple[int, int]]]:
    """Prior and factors, added block by block of rows in this order; and the words of texts, known or not."""
    counted = {text.name: (0, 0) for text in model.texts}
    out = np.empty((batch.rows, len(model.classes)))
    out[:] = model.log_prior
    for start in range(0, batch.rows, BLOCK):
        rows = slice(start, start + BLOCK)
        block = batch.sliced(rows)
        for factor in model.factors:
            words = add(factor, block, out[rows])
            if words is not None:
                before = counted[factor.name]
                counted[factor.name] = (before[0] + words[0], before[1] + words[1])
    return out, counted
