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

from likely.sklearn.classifiers import (
    AdditiveClassifier,
    AutoClassifier,
    DensityEstimator,
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

__all__ = [
    "AdditiveClassifier",
    "AutoClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "DensityEstimator",
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
