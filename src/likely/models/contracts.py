"""The contracts of models, on one screen: Factor, Model, Learner, Sweep, and the values that they exchange.

A model is prior × factors, and a factor covers a block of columns. Learners know settings, never data; models answer
for themselves through these methods and through shapes, so that no other room asks which class they are. What follows
from scores alone (posterior, prediction, file) is in model.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats, Ints
from likely.models.fractions import Quotient
from likely.models.model import Answers
from likely.models.posterior import Matrix, Posterior
from likely.models.shapes import Exhibit as Exhibit
from likely.models.shapes import Plane, Score, Sum, WordWeights
from likely.models.shapes import Terms as Terms
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.working.records import Working


AnyModel = TypeVar("AnyModel", bound="Model")
ModelMade = TypeVar("ModelMade", bound="Model", covariant=True)
Found = TypeVar("Found")


class Factor(Protocol):
    """What a block of columns says of the class. Every named term of `shapes` is one."""

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    def add(self, batch: Batch, out: Floats) -> tuple[int, int] | None:
        """Add log P(its cells | class) to each row of `out`. A text says how many words it had, how many unknown."""
        ...

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]: ...


@runtime_checkable
class Learner(Protocol):
    """Frozen settings that derive a model from a summary. Knows settings, never data.

    It may also have `traits` (see `has_trait`); `restore(summary, found)`, which reads what it found in the rows from a
    file; and, to be faster, `learn_folds(total, training)`, `hold_out(parts, places)` and `learn_beside(summary,
    others)`, which serve all folds, all held-out parts and other learners on the way.
    """

    def needs(self, schema: Schema) -> frozenset[str]:
        """The statistics wanted beyond the first order: names out of products, pairs, cells, rows."""
        ...

    def learn(self, summary: Summary) -> Model | Learning[Model]:
        """The model; or, from who must see the rows again, a generator: `sums = yield Sweep(look)`, … `return model`.

        Learners of the front door give their own kind of model here (`learning.looks_at_rows`), and refuse where the
        rows must be seen.
        """
        ...


class LearnsModel(Protocol[ModelMade]):
    """A learner that says which kind of model it makes, so that type checkers know what `fit` gives."""

    def needs(self, schema: Schema) -> frozenset[str]: ...
    def learn(self, summary: Summary) -> ModelMade: ...


@dataclass(frozen=True, eq=False)
class Sweep:
    """What a learner wants to see of all rows once more: a function and what it goes by.

    `look(*given, batch, group, weight)` says what the rows of a batch add: a tuple of arrays, or of anything else with
    `+`, summed over batches in the order of rows. A negative group is left out. Several threads may ask at once, each
    about another batch. To Spark go the function's name and what is given: arrays and other frozen values.
    """

    look: Callable[..., tuple[Any, ...]]
    given: tuple[Any, ...] = ()
    needed: bool = True
    """Whether there is no model without; else None may be sent in place of sums."""

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
        """What the rows of a batch add."""
        return self.look(*self.given, batch, group, weight)


Learning: TypeAlias = Generator[Sweep, Any, Found]
"""A learner on its way: it yields what it wants to see, is sent the sums, and returns the model."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model(Answers):
    """What a learner believes. `proper` says whether its posterior is made of probabilities or only of scores.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "n"]}, target="play")
    >>> model.classes, model.levels("sky"), model.predict({"sky": "rain"})
    (('n', 'y'), ['rain', 'sun'], 'n')
    """

    learner: Learner
    prior: tuple[Quotient, ...] = ()
    """P(class), exact; empty where the model has no prior of its own."""
    log_prior: Floats | None = None
    factors: tuple[Factor, ...] = ()
    """What is believed of the columns given the class, before it is raised to any power; empty where unknown."""
    members: tuple[Model, ...] = ()
    """The models that it asks, where there are several."""
    factored: ClassVar[bool] = False
    """Whether it is prior × factors, each perhaps raised to a power."""
    random: ClassVar[bool] = False
    """Whether it answers by lot."""

    @property
    @abstractmethod
    def score(self) -> Score:
        """How a row gets its log scores, as a value: the one definition of them."""

    def log_joint(self, batch: Batch) -> Matrix:
        """The log score of each class for each row; log P(class, row) where the model is generative."""
        return self.score.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        return self.score.scored(batch)

    def terms(self, batch: Batch) -> Terms:
        """The score as a sum of one line for each attribute or set of them, by the same code as `log_joint`."""
        found = self.score.take_apart(batch)
        if found is None:
            raise SettingError(self.sumless)
        return found

    @property
    def sumless(self) -> str:
        """Why the score is no sum over attributes, where it is none."""
        return f"The scores of {type(self.learner).__name__} are not a sum over attributes."

    def shape(self) -> Score | None:
        """The score, where it is a plain value; None where it takes more than tables (`shapeless` says why)."""
        return self.score if self.score.opaque is None else None

    @property
    def shapeless(self) -> str:
        """Why the score is no plain value, where it is none."""
        return "It has no portable form." if self.score.opaque is None else self.score.opaque.why

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model: a class by its prior, then cells given the class. Missing cells are None."""
        raise SettingError(f"{type(self.learner).__name__} is not a generative model, so no rows can be drawn from it.")

    # -- prior × factors ------------------------------------------------------------------------------------

    @property
    def powers(self) -> tuple[float, ...]:
        """What the prior and each of the factors, in order, is multiplied by."""
        return (1.0,) * (1 + len(self.factors))

    def factor_of(self, name: str) -> Factor | None:
        """What is believed of one attribute by itself."""
        return next((f for f in self.factors if f.name == name), None)

    def block_of(self, name: str) -> Factor | None:
        """The factor that covers an attribute together with others."""
        return next((f for f in self.factors if name in f.names and f.name != name), None)

    @property
    def texts(self) -> tuple[WordWeights, ...]:
        """The factors of text columns."""
        return tuple(f for f in self.factors if isinstance(f, WordWeights))

    def word_speakers(self, name: str) -> tuple[tuple[WordWeights, float], ...]:
        """The terms of a text column, each with its power; several where models are pooled."""
        powered = self.score.powered if isinstance(self.score, Sum) else []
        return tuple((term, power) for term, power in powered if isinstance(term, WordWeights) and term.name == name)

    def only(self, names: Collection[str]) -> Model:
        """The model with the factors of these names alone."""
        raise SettingError(f"{type(self.learner).__name__} is not a product of factors, so none can be left out.")

    def prior_rows(self) -> tuple[Floats, Floats] | None:
        """What the prior was counted from: its numerators, and the rows behind each; None where it is beyond doubt."""
        return None

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
        found = self.worked(batch, row, self.posterior(row))
        if found is None:
            raise SettingError(self.workless)
        return found

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
        """The same of a row that was read already; None where there is nothing to write down (`workless` says why)."""
        from likely.models.working.working import evidence_working, product_working

        if self.factored:
            logs = self.terms(batch).array[0][: len(self.powers)]
            return product_working(self.classes, self.prior, self.factors, self.powers, logs, batch, row, posterior)
        try:
            terms = self.terms(batch)
        except SettingError:
            return None
        return evidence_working(self.classes, terms.names, terms.array[0], terms.last, row, posterior)

    @property
    def workless(self) -> str:
        """Why there is no working, where there is none."""
        return f"The scores of {type(self.learner).__name__} are no sum or product to write down."

    # -- what it says of itself -----------------------------------------------------------------------------

    def exhibits(self) -> tuple[Exhibit, ...]:
        """What the model believes as a whole, beyond its classes and columns: weights, a tree, hypotheses."""
        return ()

    def cell_tables(self) -> tuple[Exhibit, ...]:
        """Tables of attributes given others than the class, in fractions; others are those of its factors."""
        return ()

    def plane_between(self, first: str, second: str) -> Plane:
        """The hyperplane on whose one side the first class beats the second."""
        raise SettingError(
            f"{type(self.learner).__name__} draws no hyperplane between classes. LeastSquares, Logistic and "
            "LinearDiscriminant do."
        )

    def term_strengths(self) -> dict[tuple[str, ...], float]:
        """How strong the term of each attribute, or of several together, is: in nats, the mean over rows of training.

        Empty where terms say log P(cells | class), which the page and `show` tell as counts and densities.
        """
        return {}

    def distance_units(self) -> tuple[dict[str, float], bool] | None:
        """How much of each number is a distance of 1, and whether distances add up (city-block); None: it has none."""
        return None

    def choices(self) -> dict[str, tuple[str, str]]:
        """Notes on what the rows chose: each with its column (or ""), and what models that chose alike share."""
        return {}

    @property
    def ledger_note(self) -> str:
        """What a reader of the terms should know of them, as a sentence."""
        return ""

    @property
    def held_out(self) -> HeldOut | None:
        """How it did on rows that were held out while it was made."""
        return None

    @property
    def held_out_answers(self) -> HeldOutAnswers | None:
        """What was said of those rows, where it was made just now; a file does not keep it."""
        return None

    @property
    def leaves_missing_out(self) -> bool:
        """Whether a missing cell adds nothing, so that the answer is that of the cells that are there."""
        chosen = setting_of(self.learner, "missing")
        return chosen == "skip" or (chosen is None and (self.generative or self.factored))

    def check_generative(self) -> None:
        """Refuse to speak of the density of rows where the model knows only that of classes."""
        odd = [t for t in self.texts if not t.settings.is_likelihood]
        if odd:
            raise SettingError(
                f"The text {shown(odd[0].name)} is scored by {odd[0].settings.written()}, which models "
                "P(class | words), not P(words). Use text multinomial or bernoulli, and scale = 1."
            )
        if not self.generative:
            raise SettingError(
                f"{type(self.learner).__name__} models P(class | row), not P(row). "
                "Use Density, NaiveBayes, FullBayes, LinearDiscriminant, TreeAugmented or OneDependence."
            )

    @property
    def frozen(self) -> Learner:
        """Settings that learn this model again: the learner's own, or, where it chose among several, what it chose."""
        return self.learner

    def with_curves(self, names: Collection[str] = ()) -> Learner:
        """Settings in which what these attributes (none named: all) say by themselves is given, to be edited."""
        raise SettingError(f"{type(self.learner).__name__} takes no curves given by hand. Additive does.")

    @property
    def describer(self) -> Model:
        """The model that says how rows come about: itself, or, where it only chose among others, one beside it."""
        return self

    @property
    def describer_note(self) -> str:
        """Why the describer is another model, as a sentence with {title} for its name."""
        name = type(self.learner).__name__
        return f"{name} is not a generative model: these are from {{title}}, learned from the same sums."


@dataclass(frozen=True)
class HeldOut:
    """How a model did on rows that were held out: their number, the share of hits, the mean log score in nats."""

    rows: int
    hits: float
    score: float


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
    """log P(class | row) of rows that nothing of the model has seen: neither its parts nor how they were joined."""

    logs: Floats
    truth: NDArray[np.intp]
    weight: Floats
    side: Ints
    """Rows of one side were answered by the same parts, put together without them."""
    learned: int
    """Rows that were learned from, for each row's answer."""
    beside: Mapping[str, Floats]
    """The logs of learners that were judged beside it, on the same rows."""
    folds: int = 1
    """How often parts were learned, each time without other rows; 1: the same parts answered all rows."""
    squares: Floats | None = None  # of the weights, as `KeptRows` has them


Trait = Literal["independent", "density", "reads text"]


def has_trait(learner: object, trait: Trait) -> bool:
    """Whether a learner takes attributes to be independent given the class (so that what says the same counts twice),
    learns the density of rows without a target, or learns from words."""
    return trait in getattr(learner, "traits", ())


def setting_of(learner: object, name: str, default: Any = None) -> Any:
    """A setting of a learner by its name; the default where it has no such setting."""
    return getattr(learner, name, default)
