"""Estimators in the manner of scikit-learn over likely's learners, and its five naive Bayes classes on exact sums.

The only room that imports scikit-learn (and scipy, which comes with it): the extra `sklearn`. May import everything but
the other faces. `estimator` makes an estimator of any learner, its parameters those that the learner declares;
`classifiers`, `linear` and `density` name them; `regressor` is least squares of a number; `tables` reads X and y;
`exact_bayes`, `discrete`, `categorical` and `gaussian` are the five classes that take the place of scikit-learn's own.

>>> from likely.sklearn import NaiveBayesClassifier
>>> X, y = [["sun", 3.5], ["rain", 1.0], ["sun", 2.5], ["rain", 0.5]], ["yes", "no", "yes", "no"]
>>> NaiveBayesClassifier().fit(X, y).predict([["sun", 3.0]])
array(['yes'], dtype='<U3')
"""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover - the tests have it
    raise ImportError("likely.sklearn needs scikit-learn. Install it: pip install 'likely[sklearn]'.") from error

from likely.models.registry import LEARNERS as _LEARNERS
from likely.sklearn.classifiers import (
    AdditiveClassifier,
    AutoClassifier,
    DensityEstimator,
    ForestClassifier,
    FullBayesClassifier,
    LeastSquaresClassifier,
    LeastSquaresRegressor,
    LinearDiscriminantClassifier,
    LogisticClassifier,
    NaiveBayesClassifier,
    NeighborsClassifier,
    OneDependenceClassifier,
    PoolClassifier,
    TextLogisticClassifier,
    TreeAugmentedClassifier,
    TunedNaiveBayesClassifier,
)
from likely.sklearn.drop_in import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from likely.sklearn.estimator import LearnerClassifier as _LearnerClassifier

__all__ = [
    "AdditiveClassifier",
    "AutoClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "DensityEstimator",
    "ForestClassifier",
    "FullBayesClassifier",
    "GaussianNB",
    "LeastSquaresClassifier",
    "LeastSquaresRegressor",
    "LinearDiscriminantClassifier",
    "LogisticClassifier",
    "MultinomialNB",
    "NaiveBayesClassifier",
    "NeighborsClassifier",
    "OneDependenceClassifier",
    "PoolClassifier",
    "TextLogisticClassifier",
    "TreeAugmentedClassifier",
    "TunedNaiveBayesClassifier",
]


def __getattr__(name: str) -> type[_LearnerClassifier]:
    """The class of a learner that was registered with this name as its face, made when it is first asked for."""
    if name not in _LEARNERS.faces:
        raise AttributeError(f"module 'likely.sklearn' has no attribute {name!r}")
    learner = _LEARNERS[_LEARNERS.faces[name]]
    # With its place in this module it can be pickled, as clones and searches in other processes need it.
    made = type(name, (_LearnerClassifier,), {"__doc__": learner.__doc__, "__module__": __name__}, learner=learner)
    globals()[name] = made
    return made
