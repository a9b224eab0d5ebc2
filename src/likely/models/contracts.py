"""The contracts of models, on one screen: Factor, Model, Learner, Sweep, and the values that they exchange.

A model is prior × factors, and a factor covers a block of columns. Learners know settings, never data; models answer
for themselves through these methods and through shapes, so that no other room asks which class they are. What follows
from scores alone (posterior, prediction, file) is in model.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats, Ints
from likely.models.fractions import Quotient
from likely.models.judgement import HeldOut, HeldOutAnswers
from likely.models.model import Answers
from likely.models.posterior import Matrix, Posterior
from likely.models.shapes import (
    BinTable,
    Completed,
    Duels,
    LevelTable,
    Plane,
    Score,
    Sum,
    WordWeights,
    exhibit_planes,
    log_posterior,
    over_classes,
)
from likely.models.shapes import Exhibit as Exhibit
from likely.models.shapes import Terms as Terms
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.working.records import Working


MOST_PLANES = 5  # of more classes there are too many pairs for a table of their hyperplanes
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


class Exchange(Protocol):
    """Machines that work in step, each on its own rows: `exchange(sums)` is the sum of what all of them give. The rows
    of each are in the order of hashes, and come after those of the places before it."""

    @property
    def place(self) -> int: ...
    @property
    def places(self) -> int: ...
    @property
    def threads(self) -> int | None:
        """That each may use; None: as many as there are cores."""
        ...

    def __call__(self, sums: NDArray[np.int64]) -> NDArray[np.int64]: ...


class Together(Protocol):
    """Work on sums that are too large to be brought home, such as rows: they are dealt to places, and each works on its
    own in step with the others. Goes to Spark, as what a sweep is given."""

    def deal(self, sums: tuple[Any, ...], places: int) -> Sequence[Any]:
        """What goes to each place."""
        ...

    def work(self, dealt: Sequence[Any], exchange: Exchange) -> tuple[Any, ...] | None:
        """What one place answers of all that was dealt to it; answers are added up in the order of places. None where
        others have said it."""
        ...


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
    together: Together | None = None
    """What may be done with the sums where the rows are, by who can."""

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
        """What the rows of a batch add."""
        return self.look(*self.given, batch, group, weight)


Learning: TypeAlias = Generator[Sweep, Any, Found]
"""A learner on its way: it yields what it wants to see, is sent the sums, and returns the model."""


@dataclass(frozen=True)
class Beliefs:
    """How much each of several hypotheses is believed, and why."""

    titles: tuple[str, ...]
    weight: Floats
    """P(h | data), or stacking weights: they sum to one."""
    figure: Floats
    """Of each hypothesis: log P(data | h), or its mean held-out log score; NaN where weights were given."""
    searched: bool
    """Whether rows were looked at again to find all this, so that the summary alone does not give it back."""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> int:
        """The hypothesis of the greatest weight; the first of equals."""
        return int(self.weight.argmax())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model(Answers):
    """What a learner believes: a score, and what there is to tell of it. Plain values, and functions of the model.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "n"]}, target="play")
    >>> model.classes, model.levels("sky"), model.predict({"sky": "rain"})
    (('n', 'y'), ['rain', 'sun'], 'n')
    """

    learner: Learner
    score: Score
    """How a row gets its log scores, as a value: the one definition of them."""
    prior: tuple[Quotient, ...] = ()
    """P(class), exact; empty where the model has no prior of its own."""
    log_prior: Floats | None = None
    factors: tuple[Factor, ...] = ()
    """What is believed of the columns given the class, before it is raised to any power; empty where unknown."""
    factored: bool = False
    """Whether it is prior × factors, each perhaps raised to a power."""
    factor_powers: tuple[float, ...] = ()
    """What the prior and each of the factors, in order, is multiplied by; empty: each by 1."""
    members: tuple[Model, ...] = ()
    """The models that it asks, where there are several."""
    weights: Any = None
    """What was found of weights: of members, of attributes by name, or of the columns of a design and the classes."""
    inner: Model | None = None
    """The model as it was before it was made to answer otherwise: by another prior, by means over missing cells."""
    random: bool = False
    """Whether it answers by lot."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """How a search ended: sweeps or rounds, likelihood or loss."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else its learner found, by name; `model.trial` is `model.details["trial"]`."""
    lasting: State = field(default_factory=dict)
    """What of `state` holds as well when other rows are learned or unlearned."""
    unlasting: str = ""
    """Why it can neither learn nor unlearn rows, as a sentence, where that is not because of `lasting`."""
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Notes on what the rows chose: each with its column (or ""), and what models that chose alike share."""
    ledger_note: str = ""
    """What a reader of the terms should know of them, as a sentence."""
    held_out: HeldOut | None = None
    """How it did on rows that were held out while it was made."""
    held_out_answers: HeldOutAnswers | None = None
    """What was said of those rows, where it was made just now; a file does not keep it."""
    kept_rows: Any = field(default=None, repr=False)
    """Rows that stand for the table (`KeptRows`), as long as the model is in memory: what is learned without some of
    them shows how sure answers are. Neither files nor copies of the model have them."""
    skips_missing: bool | None = None
    """Whether a missing cell adds nothing; None: as the settings say."""
    distance_units: tuple[Mapping[str, float], bool] | None = None
    """How much of each number is a distance of 1, and whether distances add up (city-block); None: it has none."""
    prior_rows: tuple[Floats, Floats] | None = None
    """What the prior was counted from: its numerators, and the rows behind each; None where it is beyond doubt."""
    sumless: str = ""
    """Why the score is no sum over attributes, where there is more to say of it."""
    describer_note: str = ""
    """Why `describer` is another model, as a sentence with {title} for its name."""
    show: Callable[[Model], tuple[Exhibit, ...]] | None = None
    """Gives what is believed as a whole, beyond classes and columns: weights, a tree, hypotheses."""
    show_cells: Callable[[Model], tuple[Exhibit, ...]] | None = None
    """Gives the tables of attributes given others, or together, that `show --all` prints."""
    draw: Callable[[Model, int, int], dict[str, list[Any]]] | None = None
    """Draws so many rows by a seed; None: it cannot."""
    work: Callable[[Model, Batch, Mapping[str, object], Posterior], Working | None] | None = None
    """Writes the arithmetic of a row down; None: as its terms or factors say."""
    divide: Callable[[Model, str, str], Plane] | None = None
    """Gives the hyperplane between two classes."""
    freeze: Callable[[Model], Learner] | None = None
    """Gives settings that choose no more, where the learner chose."""
    describe: Callable[[Model], Model] | None = None
    """Gives the model that says how rows come about, where this one does not."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What its learner found, by name."""
            details = self.__dict__.get("details", {})
            if name in details:
                return details[name]
            raise AttributeError(f"A model by {type(self.__dict__.get('learner')).__name__} has no {name!r}.")

    def __getstate__(self) -> dict[str, Any]:
        """What copies of it hold in other processes: no rows."""
        return {**self.__dict__, "kept_rows": None}

    def called(self, first: bool = True) -> str:
        """What a sentence calls it: by its learner; where that was chosen on rows, the model."""
        name = type(self.learner).__name__
        return name if name != "Auto" else "The model" if first else "the model"

    def log_joint(self, batch: Batch) -> Matrix:
        """The log score of each class for each row; log P(class, row) where the model is generative."""
        return self.full_score.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and for each text column how many words there were and how many are not known."""
        return self.full_score.scored(batch)

    @property
    def full_score(self) -> Score:
        """How a row gets its log scores whatever is known of it: where cells are unknown, averaged over references."""
        return self.score if self.references is None else Completed(self.score, self.references)

    def log_likelihood(self, batch: Batch) -> Matrix:
        """log P(row | class), of models that say how rows come about, or how densely they lie."""
        if (
            self.log_prior is None
            or not isinstance(self.score, Sum)
            or not np.array_equal(self.score.constant, self.log_prior)
        ):
            raise SettingError(
                f"{self.called()} does not give log P(row | class). Densities are estimated with "
                "reading='density': Neighbors(reading='density')."
            )
        return replace(self.score, constant=np.zeros(len(self.classes))).scored(batch)[0]

    def log_orders(self, batch: Batch) -> Floats | None:
        """The multinomial coefficients of the texts, of which `log_joint` makes no use."""
        if not self.generative or not self.texts or self.inner is not None:
            return None
        return np.sum([text.log_orders(batch.cells[text.name]) for text in self.texts], axis=0)  # type: ignore

    def terms(self, batch: Batch) -> Terms:
        """The score as a sum of one line for each attribute or set of them, by the same code as `log_joint`."""
        terms = self.full_score.take_apart(batch)
        if terms is None:
            raise SettingError(
                self.sumless or f"The scores of {self.called(first=False)} are not a sum over attributes."
            )
        return terms

    def shape(self) -> Score | None:
        """The score, where it is a plain value; None where it takes more than tables (`shapeless` says why)."""
        return self.score if self.score.opaque is None else None

    @property
    def shapeless(self) -> str:
        """Why the score is no plain value, where it is none."""
        return "It has no portable form." if self.score.opaque is None else self.score.opaque.why

    def encoder(self) -> Encoder:
        """The encoder that reads new rows as this model's training rows were read."""
        return super().encoder() if self.inner is None else self.inner.encoder()

    def why_undecided(self, batch: Batch) -> str:
        """Why the one row of a batch cannot be classified."""
        if isinstance(self.score, Duels):
            return f"no class wins all its duels (votes: {self.score.tell_votes(batch, self.classes)})"
        return super().why_undecided(batch) if self.inner is None else self.inner.why_undecided(batch)

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model: a class by its prior, then cells given the class. Missing cells are None.

        A model of P(class | row) draws from the one of rows beside it (`describer`), where it has one.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> model.sample(3, seed=1)
        {'sky': ['sun', 'rain', 'rain'], 'play': ['y', 'y', 'n']}
        """
        if self.inner is not None:  # what rows of a class look like is the same
            return self.inner.sample(rows, seed)
        if self.draw is None:
            if self.describe is not None:
                return self.describer.sample(rows, seed)
            raise SettingError(f"{self.called()} is not a generative model, so no rows can be drawn from it.")
        return self.draw(self, rows, seed)

    @property
    def learned(self) -> Model:
        """The model that was learned, within all that was put around it."""
        return self if self.inner is None else self.inner.learned

    # -- prior × factors ------------------------------------------------------------------------------------

    @property
    def powers(self) -> tuple[float, ...]:
        """What the prior and each of the factors, in order, is multiplied by."""
        return self.factor_powers or (1.0,) * (1 + len(self.factors))

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
        score = self.learned.score
        powered = score.powered if isinstance(score, Sum) else []
        return tuple((term, power) for term, power in powered if isinstance(term, WordWeights) and term.name == name)

    def levels(self, name: str) -> list[str]:
        """The levels of a nominal attribute: of rows, as declared, and as knowledge names them."""
        table = self.factor_of(name) if self.learned.factored else None
        return list(table.labels.names) if isinstance(table, LevelTable) else super().levels(name)

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
        working = self.worked(batch, row, self.posterior(row))
        if working is None:
            raise SettingError(self.workless)
        return working

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
        """The same of a row that was read already; None where there is nothing to write down (`workless` says why)."""
        return (self.work or work_terms)(self, batch, row, posterior)

    @property
    def workless(self) -> str:
        """Why there is no working, where there is none."""
        return f"The scores of {self.called(first=False)} are no sum or product to write down."

    # -- what it says of itself -----------------------------------------------------------------------------

    def exhibits(self) -> tuple[Exhibit, ...]:
        """What the model believes as a whole, beyond its classes and columns: weights, a tree, hypotheses."""
        shown = () if self.show is None else self.show(self)
        few = shown and self.divide is not None and 2 < len(self.classes) <= MOST_PLANES
        planes = [self.plane_between(*pair) for pair in combinations(self.classes, 2)] if few else []
        return (*shown, *exhibit_planes(planes))

    def cell_tables(self) -> tuple[Exhibit, ...]:
        """Tables of attributes given others than the class, or together, in fractions; others are of its factors."""
        learned = self.learned
        return () if learned.show_cells is None else learned.show_cells(learned)

    def plane_between(self, first: str, second: str) -> Plane:
        """The hyperplane on whose one side the first class beats the second."""
        if self.divide is None:
            others = "LeastSquares, LinearDiscriminant and Logistic(numbers='linear') do."
            raise SettingError(f"{self.called()} draws no hyperplane between classes. {others}")
        return self.divide(self, first, second)

    def curve(self, name: str) -> dict[str, Any]:
        """What an attribute says by itself, in the form in which a curve can be given by hand (`Additive(curves=…)`).

        >>> import likely
        >>> data = {"sky": ["sun", "sun", "rain", "rain"] * 9, "play": ["y", "y", "n", "n"] * 9}
        >>> curve = likely.fit(data, "play", likely.Additive()).curve("sky")
        >>> curve["levels"], [evidence > 0 for evidence in curve["y"]]
        (['rain', 'sun'], [False, True])
        """
        term = self._single_terms().get(name)
        if term is None:
            self.schema[name]  # an unknown name is refused, with the nearest one
            raise SettingError(f"{shown(name)} says nothing by itself, so it has no curve.")
        if odd := {"starts", "levels"} & {*self.classes}:
            raise SettingError(f"A curve cannot name the class {shown(min(odd))}: that is what its steps are called.")
        if isinstance(term, BinTable):
            out: dict[str, Any] = {"starts": term.starts.tolist()}
            table = term.log_table[: len(term.starts) + 1]
        else:
            out = {"levels": list(term.labels.names)}
            table = term.log_table[: len(term.labels)]
        return out | {name: table[:, k].tolist() for k, name in enumerate(self.classes)}

    def with_curves(self, names: Collection[str] = ()) -> Learner:
        """Settings in which what these attributes (none named: all that have a curve) say by themselves is given, to be
        edited. A given attribute takes part in no other term: what it says together with others is not among them."""
        terms = self._single_terms()
        learner: Any = self.learner
        return replace(learner, curves={**learner.curves, **{name: self.curve(name) for name in names or terms}})  # type: ignore[no-any-return]

    def _single_terms(self) -> dict[str, BinTable | LevelTable]:
        """What attributes say by themselves, where that can be given by hand."""
        if setting_of(self.learner, "curves") is None:
            raise SettingError(f"{self.called()} takes no curves given by hand. Additive does.")
        score = self.learned.score
        terms = score.terms if isinstance(score, Sum) else ()
        return {term.name: term for term in terms if isinstance(term, (BinTable, LevelTable))}

    @property
    def beliefs(self) -> Beliefs:
        """How much each of the hypotheses is believed, of a mixture of them."""
        if "beliefs" not in self.details:
            raise AttributeError(f"A model by {type(self.learner).__name__} has no hypotheses.")
        return self.details["beliefs"]  # type: ignore[no-any-return]

    def disagreements(self, data: object, examples: int = 10) -> Disagreements:
        """Where the hypothesis believed most (MAP) and the Bayes-optimal answer are not the same class."""
        rows = count = 0
        first: list[Disagreement] = []
        names, member = self.classes, self.members[self.beliefs.best]
        for batch in self.batches(data):
            both = Posterior.of(names, self.log_joint(batch))
            alone = Posterior.of(names, over_classes(log_posterior(member.log_joint(batch)), member.classes, names))
            apart = np.flatnonzero((both.codes != alone.codes) & (both.codes >= 0) & (alone.codes >= 0))
            rows, count = rows + batch.rows, count + len(apart)
            for i in apart[: max(examples - len(first), 0)].tolist():
                mine, theirs = alone.codes[i], both.codes[i]
                chance = float(both.matrix[i, theirs])
                first.append(Disagreement(batch.start + i, names[mine], names[theirs], chance))
        return Disagreements(rows, count, tuple(first))

    @property
    def leaves_missing_out(self) -> bool:
        """Whether a missing cell adds nothing, so that the answer is that of the cells that are there."""
        if self.skips_missing is not None:
            return self.skips_missing
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
                f"{self.called()} models P(class | row), not P(row). "
                "Use Density, NaiveBayes, FullBayes, LinearDiscriminant, TreeAugmented or OneDependence."
            )

    @property
    def frozen(self) -> Learner:
        """Settings that learn this model again: the learner's own, or, where it chose among several, what it chose."""
        return self.learner if self.freeze is None else self.freeze(self)

    @property
    def describer(self) -> Model:
        """The model that says how rows come about: itself, or, where it only chose among others, one beside it."""
        return self if self.describe is None else self.describe(self)

    @property
    def of_rows(self) -> Model:
        """The model that gives log P(row): itself, or its describer; refused where neither does."""
        (model := self if self.generative else self.describer).check_generative()
        return model

    def introduce_describer(self, title: str) -> str:
        """The sentence why the describer, of this title, is another model."""
        name = type(self.learner).__name__
        note = (
            self.describer_note
            or f"{name} is not a generative model: these are from {{title}}, learned from the same sums."
        )
        return note.format(title=title)

    def search_state(self) -> State:
        """What cannot be derived from the summary again (a learner's own sweeps found it); kept in the file."""
        return self.state

    def lasting_state(self) -> State:
        """What of `search_state` holds as well when other rows are learned or unlearned."""
        if self.unlasting:
            raise SettingError(self.unlasting)
        return self.lasting


def work_terms(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
    """The arithmetic of a row as the factors of a model, or the terms of its score, say it."""
    from likely.models.working.working import evidence_working, product_working

    if model.factored:
        logs = model.terms(batch).array[0][: len(model.powers)]
        return product_working(model.classes, model.prior, model.factors, model.powers, logs, batch, row, posterior)
    try:
        terms = model.terms(batch)
    except SettingError:
        return None
    return evidence_working(model.classes, terms.names, terms.array[0], terms.last, row, posterior)


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


Trait = Literal["independent", "density", "reads text", "tries dates"]


def has_trait(learner: object, trait: Trait) -> bool:
    """Whether a learner takes attributes to be independent given the class (so that what says the same counts twice),
    learns the density of rows without a target, learns from words, or tries parts of dates on held-out rows."""
    return trait in getattr(learner, "traits", ())


def setting_of(learner: object, name: str, default: Any = None) -> Any:
    """A setting of a learner by its name; the default where it has no such setting."""
    return getattr(learner, name, default)
