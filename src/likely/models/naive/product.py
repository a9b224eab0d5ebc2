"""The product: prior times factors, each perhaps raised to a power; and rows drawn from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from likely.models.shapes import Exhibit, Gaussian, Sum, WordWeights
from likely.models.text.factor import TextFactor, choice_note
from likely.models.text.settings import Text
from likely.sums.contracts import State
from likely.sums.state import plain as state_of
from likely.sums.summary import Summary

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


def product_of(
    learner: Learner,
    summary: Summary,
    prior: tuple[Quotient, ...],
    factors: tuple[Factor, ...],
    *,
    notes: tuple[str, ...] = (),
    refuse_unseen: bool = False,
    chosen: Mapping[str, Text] | None = None,
    describes_rows: bool = True,
) -> Model:
    """log P(class) + sum of log P(cell | class).

    `chosen` are settings of text columns that were chosen on rows held out: they cannot be derived from the sums again.
    `describes_rows`: whether the factors say how rows come about; the prior alone says nothing of them.
    """
    chosen = chosen or {}
    log_prior = log_of(prior)
    texts = [factor.settings for factor in factors if isinstance(factor, WordWeights)]
    state: State = {"text": {name: state_of(text) for name, text in chosen.items()}} if chosen else {}
    written = ((choice_note(n, how.written()), n, how.written(scaled=False)) for n, how in chosen.items())
    return Model(
        learner=learner,
        summary=summary,
        score=Sum(log_prior, factors),
        prior=prior,
        log_prior=log_prior,
        factors=factors,
        factored=True,
        # Unless a text is scored otherwise than by the probability of its words.
        generative=describes_rows and all(text.is_likelihood for text in texts),
        # Scores of texts that are no likelihood are brought to the size of probabilities by their scale.
        proper=all(text.is_likelihood or text.scale != "none" for text in texts),
        notes=notes,
        refuse_unseen=refuse_unseen,
        details={"chosen": chosen, "describes_rows": describes_rows},
        # With the scale, which hardly any two tables share, and without.
        choices={note: (name, plain) for note, name, plain in written},
        state=state,
        lasting=state,  # chosen settings stay as they are when rows are learned or unlearned
        prior_rows=_prior_rows(learner, summary, prior),
        show=show_product,
        draw=draw_rows,
        freeze=_freeze_texts if chosen else None,
    )


def only_factors(model: Model, names: Collection[str]) -> Model:
    """A product of factors, or of their powers, with the factors of these names alone."""
    if not model.factored:
        raise SettingError(f"{model.called()} is not a product of factors, so none can be left out.")
    details = model.details
    factors = tuple(factor for factor in model.factors if factor.name in names)
    if "product" in details:
        product = only_factors(details["product"], names)
        return raise_to_powers(product, model.weights, model.learner, details["temperature"])
    return product_of(
        model.learner,
        model.summary,
        model.prior,
        factors,
        notes=model.notes,
        refuse_unseen=model.refuse_unseen,
        chosen=details.get("chosen"),
        describes_rows=details.get("describes_rows", True),
    )


def _prior_rows(learner: Learner, summary: Summary, prior: tuple[Quotient, ...]) -> tuple[Floats, Floats] | None:
    """The counts of the classes, and what smoothing or knowledge adds to them."""
    if setting_of(learner, "prior", "observed") != "observed":
        return None
    top = np.array([float(q.top) for q in prior])
    known = any(k.attribute is None for k in setting_of(learner, "knowledge", ()))
    return top, top if known else summary.total.floats()


def _freeze_texts(model: Model) -> Learner:
    """The learner, with the settings of text that were chosen on held-out rows as if they had been said."""
    learner: Any = model.learner
    chosen: Mapping[str, Text] = model.details["chosen"]
    if len(chosen) == 1 and not learner.text_by_column and len(model.texts) == 1:
        return replace(learner, text=next(iter(chosen.values())))  # type: ignore[no-any-return]
    return replace(learner, text_by_column={**learner.text_by_column, **chosen})  # type: ignore[no-any-return]


def show_product(model: Model) -> tuple[Exhibit, ...]:
    """What was known before the rows, and what is believed of each block; other attributes are shown one by one."""
    before = known_exhibits(model.learner, model.summary, model.prior, model.factors)
    blocks_first = sorted(model.factors, key=lambda factor: len(factor.names) == 1)
    return (*before, *(exhibit for factor in blocks_first for exhibit in factor.exhibits(model.classes)))


# Naive Bayes with a weight for each attribute, or one for all evidence: factors raised to powers. Knows no search.


def raise_to_powers(
    product: Model, weights: Mapping[str, float], learner: Learner, temperature: float = 1.0, *notes: str
) -> Model:
    """temperature * (log P(class) + sum of weight * log P(cell | class)).

    `weights` are of factors, by name: 1 where none is given, 0 leaves it out. All of it, the prior too, is multiplied
    by the temperature: below 1 the model is less sure of itself.
    """
    assert product.log_prior is not None
    none = [f.name for f in product.factors if weights.get(f.name, 1.0) == 0.0]
    named = ",".join(f" {shown(n, 30)}" for n in none[:8])
    more = f" and {len(none) - 8} more" if len(none) > 8 else ""
    left_out = (f"Left out because they add nothing to the others:{named}{more}.",) if none else ()
    powers = tuple(temperature * weights.get(f.name, 1.0) for f in product.factors)
    return Model(
        learner=learner,
        summary=product.summary,
        score=Sum(temperature * product.log_prior, product.factors, powers),
        prior=product.prior,
        log_prior=product.log_prior,
        factors=product.factors,
        factored=True,
        factor_powers=(temperature, *powers),
        notes=(*product.notes, *left_out, *notes),
        refuse_unseen=product.refuse_unseen,
        weights=dict(weights),
        details={"product": product, "temperature": temperature},
        choices=product.choices,
        describer_note="Scaled evidence is not a model of rows: these are from {title} without scaling.",
        show=_show_powers,
        describe=_before_powers,
    )


def weight_product(
    product: Model, weights: Mapping[str, float], learner: Learner, temperature: float = 1.0, *notes: str
) -> Model:
    """Naive Bayes under these weights and this temperature."""
    model = replace(raise_to_powers(product, weights, learner, temperature, *notes), freeze=_freeze_powers)
    # What was chosen, where rows were needed to choose it; it stays when rows are learned or unlearned.
    if not has_trait(learner, "independent"):
        state: State = {"chosen": settings_of(model.frozen)}
    else:
        heat = {"temperature": temperature} if setting_of(learner, "temperature") == "auto" else {}
        state = {**product.state, **heat}
    return replace(model, state=state, lasting=state)


def _before_powers(model: Model) -> Model:
    """The product as it was before: a power of a density does not say how rows come about."""
    product: Model = model.details["product"]
    return product


def _freeze_powers(model: Model) -> Learner:
    """The naive Bayes that this is: settings that choose no more."""
    powers: Any = {"attribute_weights": dict(model.weights) or None, "temperature": model.details["temperature"]}
    return replace(_before_powers(model).frozen, **powers)  # type: ignore[type-var]


def _show_powers(model: Model) -> tuple[Exhibit, ...]:
    """The weights, the largest first, with the density of each number; and the temperature."""
    out = list(_before_powers(model).exhibits())
    if model.weights:
        kinds = {f.name: type(f).__name__.lower().replace("density", "") for f in model.factors}
        order = sorted(kinds, key=lambda n: -model.weights.get(n, 1.0))
        rows = tuple((n, kinds[n], float(model.weights.get(n, 1.0))) for n in order)
        title = "Each attribute's evidence is multiplied by its weight"
        out.insert(0, Exhibit(title, ("attribute", "factor", "weight"), rows))
    temperature = model.details["temperature"]
    if temperature != 1.0:
        out.append(Exhibit("All evidence, the prior too, is multiplied by", ("temperature",), ((temperature,),)))
    return tuple(out)


def tempered(model: Model, temperature: float) -> Model:
    """Naive Bayes with its evidence weighed by this temperature; any other model as it is."""
    plain = model.factored and "product" not in model.details
    if not plain or not has_trait(model.learner, "independent"):
        return model
    return weight_product(model, {}, replace(model.learner, temperature=temperature), temperature)  # type: ignore[type-var]
