"""The product: prior times factors, each perhaps raised to a power; and rows drawn from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Factor, Learner, Model, has_trait, setting_of
from likely.models.factors.bins import Binned
from likely.models.factors.categorical import Categorical
from likely.models.factors.kernel import KernelDensity
from likely.models.fractions import Quotient, log_of
from likely.models.naive.blocks import LevelBlock, NumberBlock
from likely.models.naive.prior_vs_rows import known_exhibits
from likely.models.prior import DrawnRows, chance, number_cells
from likely.models.settings import settings_of
from likely.models.shapes import Exhibit, Gaussian, LevelTable, Score, Sum
from likely.models.text.factor import TextFactor, choice_note
from likely.models.text.settings import Text
from likely.sums import state
from likely.sums.contracts import State
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]


# Rows drawn from a product: a class by its prior, then each cell from its factor. Repeatable by the seed.


def draw_rows(model: Model, rows: int, seed: int) -> DrawnRows:
    """Columns of the attributes that a product of factors speaks of, then of the target. A missing cell is None.

    The share that is reserved for other levels is spread over the known ones: a level without a name cannot be drawn.
    A number that is cut into bins is uniform within its bin, and the end bins end with the values of training.
    """
    rng = chance(rows, seed)
    assert model.log_prior is not None
    group = _draw_places(np.exp(model.log_prior)[:, None], np.zeros(int(rows), np.intp), rng)
    out: dict[str, list[Any]] = {}
    for factor in model.factors:
        if isinstance(factor, (LevelBlock, NumberBlock)):
            for name, drawn in factor.draw(group, rng).items():
                out[name] = drawn if isinstance(drawn, list) else number_cells(drawn, model.schema[name].kind)
            continue
        if isinstance(factor, TextFactor):
            out[factor.name] = _draw_texts(factor, group, rng)
            continue
        if isinstance(factor, Categorical):
            out[factor.name] = _draw_levels(factor, group, rng)
            continue
        assert isinstance(factor, (Gaussian, KernelDensity, Binned))
        cells = _draw_numbers(factor, group, rng)
        out[factor.name] = number_cells(cells, model.schema[factor.name].kind)
    out = {c.name: out[c.name] for c in model.schema.columns if c.name in out}  # blocks drew theirs together
    if model.schema.target is not None:
        out[model.schema.target.name] = np.array(model.classes, object)[group].tolist()
    return out


def _draw_places(chances: Floats, group: Places, rng: np.random.Generator) -> Places:
    """For each row a place drawn by the chances (places, groups) of its group; -1 where nothing has a chance."""
    below = np.cumsum(chances, axis=0)
    at = rng.random(len(group))
    out = np.full(len(group), -1, np.intp)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        if below[-1, k] > 0:
            # Below the total, so that a place without a chance is never drawn.
            wanted = np.minimum(at[rows] * below[-1, k], np.nextafter(below[-1, k], 0))
            out[rows] = np.searchsorted(below[:, k], wanted, side="right")
    return out


def _level_places(levels: Categorical, group: Places, rng: np.random.Generator) -> Places:
    """A level for each row, -1 where it is missing."""
    known = len(levels.labels)
    chances = np.exp(levels.log_table[:known])
    if levels.settings.missing_is_level:
        chances = np.concatenate([chances, np.exp(levels.log_table[-1:])])
    if not len(chances):
        return np.full(len(group), -1, np.intp)
    found = _draw_places(chances, group, rng)
    return np.where(found == known, -1, found)


def _draw_levels(factor: Categorical, group: Places, rng: np.random.Generator) -> list[str | None]:
    names = np.array([*factor.labels.names, None], object)
    return names[_level_places(factor, group, rng)].tolist()  # type: ignore[no-any-return]


def _draw_numbers(factor: Gaussian | KernelDensity | Binned, group: Places, rng: np.random.Generator) -> Floats:
    """A number for each row, NaN where it is missing."""
    if isinstance(factor, Binned):
        lows, highs = factor.bounds()
        place = _level_places(factor.levels, group, rng)
        share = rng.random(len(group))
        # Not low + share * (high - low), which may be beyond a double.
        cells = np.clip(lows[place] * (1 - share) + highs[place] * share, lows[place], highs[place])
        return np.where(place < 0, np.nan, cells)
    if isinstance(factor, KernelDensity):
        centre = factor.points[_points(factor, group, rng)]
        cells = centre + factor.bandwidth[group] * rng.standard_normal(len(group))
    else:
        cells = factor.mean[group] + factor.deviation[group] * rng.standard_normal(len(group))
    if factor.normal.known is None:
        return cells
    gone = np.exp(log_of(gone for _, gone in factor.normal.known))
    return np.where(rng.random(len(group)) < gone[group], np.nan, cells)


def _points(factor: KernelDensity, group: Places, rng: np.random.Generator) -> Places:
    """A value of its class for each row, by weight."""
    at = rng.random(len(group))
    out = np.empty(len(group), np.intp)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        start, stop = factor.starts[k], factor.starts[k + 1]
        below = np.cumsum(factor.weights[start:stop])
        found = np.searchsorted(below, at[rows] * below[-1], side="right")
        out[rows] = start + np.minimum(found, stop - start - 1)
    return out


def _draw_texts(factor: TextFactor, group: Places, rng: np.random.Generator) -> list[str | None]:
    """A text for each row of a class: as many words as texts of the class have, in no order. None where the class has
    no text that one could be drawn after."""
    tokens = factor.scores.tokens
    if not factor.settings.is_likelihood:
        raise SettingError(
            f"The text {shown(factor.name)} is scored by {factor.settings.written()}, which does not say how texts "
            "come about, so none can be drawn. Say text multinomial or bernoulli, and scale = 1."
        )
    if tokens.pairs or tokens.grams:
        what = "pairs of words" if tokens.pairs else "runs of characters"
        raise SettingError(f"{shown(factor.name)} is counted by {what}, from which no text can be drawn.")
    out: list[str | None] = [None] * len(group)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        chances = np.exp(factor.scores.weights[:, k])
        if factor.settings.model == "bernoulli":
            for row in rows.tolist():  # odds p / (1 - p) are below u / (1 - u) for a share p of all u
                u = rng.random(len(chances))
                out[row] = _text_of(factor, np.flatnonzero(u < chances / (1 + chances)))
            continue
        of, lengths, weight = factor.sums.lengths
        below = np.cumsum(np.where(of == k, weight, 0.0))
        if not len(below) or not below[-1] or not chances.sum():
            continue
        many = lengths[np.searchsorted(below, rng.random(len(rows)) * below[-1], side="right")]
        upto = np.cumsum(chances)
        for row, count in zip(rows.tolist(), many.tolist(), strict=True):
            found = np.searchsorted(upto, rng.random(count) * upto[-1], side="right")
            out[row] = _text_of(factor, np.minimum(found, len(upto) - 1))
    return out


def _text_of(factor: TextFactor, words: NDArray[np.intp]) -> str | None:
    return " ".join(factor.scores.vocabulary[int(k)] for k in words) or None


# The product: prior times factors, each of an attribute or of a block of them. What naive Bayes believes.


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Product(Model):
    """log P(class) + sum of log P(cell | class)."""

    prior: tuple[Quotient, ...]
    """P(class), exact."""
    log_prior: NDArray[np.float64]
    factors: tuple[Factor, ...]
    chosen: Mapping[str, Text] = field(default_factory=dict)
    """Settings of text columns that were chosen on rows held out: they cannot be derived from the sums again."""
    describes_rows: bool = True
    """Whether the factors say how rows come about; the prior alone says nothing of them."""

    factored: ClassVar[bool] = True

    def choices(self) -> dict[str, tuple[str, str]]:
        """What was chosen of texts: with the scale, which hardly any two tables share, and without."""
        return {choice_note(n, how.written()): (n, how.written(scaled=False)) for n, how in self.chosen.items()}

    @property
    def generative(self) -> bool:  # type: ignore[override]
        """Unless a text is scored otherwise than by the probability of its words."""
        return self.describes_rows and all(text.settings.is_likelihood for text in self.texts)

    @property
    def proper(self) -> bool:  # type: ignore[override]
        """Scores of texts that are no likelihood are brought to the size of probabilities by their scale."""
        return all(t.settings.is_likelihood or t.settings.scale != "none" for t in self.texts)

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

    @cached_property
    def score(self) -> Score:
        """log P(class) + sum of log P(cell | class) over the attributes."""
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


# Naive Bayes with a weight for each attribute, or one for all evidence: factors raised to powers. Knows no search.


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class WeightedProduct(Model):
    """temperature * (log P(class) + sum of weight * log P(cell | class))."""

    product: Product
    weights: Mapping[str, float]
    """Of each factor, by its name; 1 where none is given, 0 leaves it out."""
    temperature: float = 1.0
    """What all of it is multiplied by, the prior too: below 1 the model is less sure of itself."""
    factored: ClassVar[bool] = True

    @property
    def powers(self) -> tuple[float, ...]:
        """What the prior and each of the factors, in order, is multiplied by."""
        return (self.temperature, *(self.temperature * self.weights.get(f.name, 1.0) for f in self.factors))

    @cached_property
    def score(self) -> Score:
        """The product's, with powers."""
        prior_power, *powers = self.powers
        return Sum(prior_power * self.product.log_prior, self.factors, tuple(powers))

    def only(self, names: Collection[str]) -> WeightedProduct:
        """The same of the factors of these names alone."""
        product = self.product.only(names)
        return replace(self, product=product, factors=product.factors)

    @property
    def describer(self) -> Model:
        """The product as it was before: a power of a density does not say how rows come about."""
        return self.product

    @property
    def describer_note(self) -> str:
        return "Scaled evidence is not a model of rows: these are from {title} without scaling."

    def levels(self, name: str) -> list[str]:
        """Those of the product."""
        return self.product.levels(name)

    def choices(self) -> dict[str, tuple[str, str]]:
        """What was chosen of texts."""
        return self.product.choices()

    @property
    def chosen(self) -> Learner:
        """The naive Bayes that this is."""
        powers: Any = {"attribute_weights": dict(self.weights) or None, "temperature": self.temperature}
        return replace(self.product.frozen, **powers)  # type: ignore[type-var]

    @property
    def frozen(self) -> Learner:
        """The same: settings that choose no more."""
        return self.chosen

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The weights, the largest first, with the density of each number; and the temperature."""
        if not self.weights:
            return (*self.product.exhibits(), *self._heat())
        kinds = {f.name: type(f).__name__.lower().replace("density", "") for f in self.factors}
        order = sorted(kinds, key=lambda n: -self.weights.get(n, 1.0))
        rows = tuple((n, kinds[n], float(self.weights.get(n, 1.0))) for n in order)
        title = "Each attribute's evidence is multiplied by its weight"
        return (Exhibit(title, ("attribute", "factor", "weight"), rows), *self.product.exhibits(), *self._heat())

    def _heat(self) -> tuple[Exhibit, ...]:
        if self.temperature == 1.0:
            return ()
        return (Exhibit("All evidence, the prior too, is multiplied by", ("temperature",), ((self.temperature,),)),)

    def lasting_state(self) -> State:
        """What was chosen stays as it is when rows are learned or unlearned."""
        return self.search_state()

    def search_state(self) -> State:
        """What was chosen, where rows were needed to choose it."""
        if has_trait(self.learner, "independent"):
            own = {} if setting_of(self.learner, "temperature") != "auto" else {"temperature": self.temperature}
            return {**self.product.search_state(), **own}
        return {"chosen": settings_of(self.chosen)}


def weight_product(
    product: Product, weights: Mapping[str, float], learner: Learner, temperature: float = 1.0, *notes: str
) -> WeightedProduct:
    """A product under these weights and this temperature."""
    none = [f.name for f in product.factors if weights.get(f.name, 1.0) == 0.0]
    named = ",".join(f" {shown(n, 30)}" for n in none[:8])
    more = f" and {len(none) - 8} more" if len(none) > 8 else ""
    told = (f"Left out because they add nothing to the others:{named}{more}.",) if none else ()
    return WeightedProduct(
        learner=learner,
        summary=product.summary,
        prior=product.prior,
        log_prior=product.log_prior,
        factors=product.factors,
        product=product,
        weights=dict(weights),
        temperature=temperature,
        notes=(*product.notes, *told, *notes),
        refuse_unseen=product.refuse_unseen,
    )


def tempered(model: Model, temperature: float) -> Model:
    """Naive Bayes with its evidence weighed by this temperature; any other model as it is."""
    if not isinstance(model, Product) or not has_trait(model.learner, "independent"):
        return model
    return weight_product(model, {}, replace(model.learner, temperature=temperature), temperature)  # type: ignore[type-var]
