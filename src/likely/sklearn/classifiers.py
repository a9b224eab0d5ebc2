"""The classifiers: for each learner a class whose parameters are the learner's settings, spelled out.

Parameters that all have: `types` says how columns are read ({"zip": "nominal"}), `missing_cells` which cells mean
"missing", `loss` what decisions cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import likely
from likely.sklearn.face import ClassifierFace
from likely.sklearn.taking import names_of
from likely.table.encode import column_form


class NaiveBayesClassifier(ClassifierFace):
    """Naive Bayes over levels, numbers, dates and texts, as `likely.NaiveBayes`, whose settings are the parameters.

    Takes counts of words (a sparse matrix of whole numbers) as one text. `tokens` says what counts as a word of texts.

    >>> X, y = {"sky": ["sun", "rain", "sun", "fog"]}, ["yes", "no", "yes", "no"]
    >>> import pandas
    >>> NaiveBayesClassifier(pseudo_count=0.5).fit(pandas.DataFrame(X), y).predict(pandas.DataFrame({"sky": ["fog"]}))
    array(['no'], dtype='<U3')
    """

    _maker = likely.NaiveBayes
    _words = True

    def __init__(
        self,
        *,
        pseudo_count: float = 1.0,
        m_estimate: float | None = None,
        level_weights: Mapping[str, Mapping[str, float]] | None = None,
        prior: Any = "observed",
        prior_pseudo_count: float = 0.0,
        variance: str = "unbiased",
        variance_floor: float = 1e-3,
        missing: str = "skip",
        unseen: str = "skip",
        numbers: Any = "gaussian",
        bandwidth: Any = "silverman",
        bins: Any = "mdl",
        bin_count: int = 10,
        bins_closed: str = "left",
        blocks: Any = (),
        shrinkage: Any = 0.0,
        text: Any = "auto",
        text_by_column: Mapping[str, Any] | None = None,
        knowledge: Any = (),
        attribute_weights: Mapping[str, float] | None = None,
        temperature: Any = 1.0,
        tokens: Any = None,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.pseudo_count = pseudo_count
        self.m_estimate = m_estimate
        self.level_weights = level_weights
        self.prior = prior
        self.prior_pseudo_count = prior_pseudo_count
        self.variance = variance
        self.variance_floor = variance_floor
        self.missing = missing
        self.unseen = unseen
        self.numbers = numbers
        self.bandwidth = bandwidth
        self.bins = bins
        self.bin_count = bin_count
        self.bins_closed = bins_closed
        self.blocks = blocks
        self.shrinkage = shrinkage
        self.text = text
        self.text_by_column = text_by_column
        self.knowledge = knowledge
        self.attribute_weights = attribute_weights
        self.temperature = temperature
        self.tokens = tokens
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"text_by_column": self.text_by_column or {}}

    def _keeps_sums(self, learner: Any) -> bool:
        return not learner.blocks


class FullBayesClassifier(ClassifierFace):
    """All attributes modelled together: a normal density or a joint table for each class, as `likely.FullBayes`.

    Columns of numbers are numbers here, however few values they have; with `density="table"` they are levels.

    >>> X, y = [[0.0, 1.5], [1.0, 2.0], [0.5, 0.25], [8.0, 9.5], [9.0, 8.25], [7.5, 9.0]], [0, 0, 0, 1, 1, 1]
    >>> FullBayesClassifier(shrinkage="auto").fit(X, y).predict([[8.0, 8.5]])
    array([1])
    """

    _maker = likely.FullBayes

    def __init__(
        self,
        *,
        density: str = "auto",
        pseudo_count: float = 1.0,
        prior: Any = "observed",
        prior_pseudo_count: float = 0.0,
        variance: str = "unbiased",
        variance_floor: float = 1e-6,
        shrinkage: Any = 0.0,
        unseen: str = "skip",
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.density = density
        self.pseudo_count = pseudo_count
        self.prior = prior
        self.prior_pseudo_count = prior_pseudo_count
        self.variance = variance
        self.variance_floor = variance_floor
        self.shrinkage = shrinkage
        self.unseen = unseen
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss

    def _types(self, source: Any) -> dict[str, str]:
        """Numbers stay numbers (or levels, if a table is asked for), however few values they have: the learner takes
        columns of one kind only."""
        kind = "nominal" if self.density == "table" else "number"
        forms = {name: column_form(source.schema.field(name).type) for name in source.schema.names}
        numbers = {name: kind for name, form in forms.items() if form == "number" and name in names_of(self)}
        return numbers | super()._types(source)


class TreeAugmentedClassifier(ClassifierFace):
    """Tree-augmented naive Bayes: each attribute has one other as its parent, as `likely.TreeAugmented`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> TreeAugmentedClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """

    _maker = likely.TreeAugmented

    def __init__(
        self,
        *,
        pseudo_count: float = 1.0,
        root: str | None = None,
        prior: Any = "observed",
        prior_pseudo_count: float = 0.0,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.pseudo_count = pseudo_count
        self.root = root
        self.prior = prior
        self.prior_pseudo_count = prior_pseudo_count
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss


class OneDependenceClassifier(ClassifierFace):
    """The mean over all attributes as parents (AODE), as `likely.OneDependence`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> OneDependenceClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """

    _maker = likely.OneDependence

    def __init__(
        self,
        *,
        pseudo_count: float = 1.0,
        minimum: float = 1.0,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.pseudo_count = pseudo_count
        self.minimum = minimum
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss


class LeastSquaresClassifier(ClassifierFace):
    """Least squares: a regression for each class, or for each pair of classes, as `likely.LeastSquares`.

    What `predict_proba` gives are normalised scores, no probabilities.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> LeastSquaresClassifier().fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _maker = likely.LeastSquares
    _generative = False

    def __init__(
        self,
        *,
        mode: str = "multi",
        ridge: float = 0.0,
        ties: str = "dont_know",
        tolerance: float = 1e-12,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.mode = mode
        self.ridge = ridge
        self.ties = ties
        self.tolerance = tolerance
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss


class LogisticClassifier(ClassifierFace):
    """Logistic regression by maximum likelihood with a ridge, as `likely.Logistic`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> LogisticClassifier().fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _maker = likely.Logistic
    _generative = False

    def __init__(
        self,
        *,
        ridge: float = 1.0,
        max_sweeps: int = 100,
        tolerance: float = 1e-12,
        numbers: str = "linear",
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.ridge = ridge
        self.max_sweeps = max_sweeps
        self.tolerance = tolerance
        self.numbers = numbers
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss


class NeighborsClassifier(ClassifierFace):
    """The classes of the k nearest training rows, as `likely.Neighbors`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> NeighborsClassifier(k=3).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _maker = likely.Neighbors
    _generative = False

    def __init__(
        self,
        *,
        k: int = 5,
        distance: str = "euclidean",
        weights: str = "equal",
        attribute_weights: Mapping[str, float] | None = None,
        prior: Any = "observed",
        scale: bool = True,
        reading: str = "posterior",
        pseudo_count: float = 0.0,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.k = k
        self.distance = distance
        self.weights = weights
        self.attribute_weights = attribute_weights
        self.prior = prior
        self.scale = scale
        self.reading = reading
        self.pseudo_count = pseudo_count
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss
