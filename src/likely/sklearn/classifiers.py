"""The classifiers: for each learner a class whose parameters are the learner's settings."""

from __future__ import annotations

import likely
from likely.models.contracts import Learner, setting_of
from likely.sklearn.estimator import LearnerClassifier, LearnerEstimator
from likely.sklearn.tables import Rows, column_names, number_types


class NaiveBayesClassifier(LearnerClassifier, learner=likely.NaiveBayes, tokens=True):
    """Naive Bayes over levels, numbers, dates and texts, as `likely.NaiveBayes`.

    Takes counts of words (a sparse matrix of whole numbers) as one text.

    >>> X, y = {"sky": ["sun", "rain", "sun", "fog"]}, ["yes", "no", "yes", "no"]
    >>> import pandas
    >>> NaiveBayesClassifier(pseudo_count=0.5).fit(pandas.DataFrame(X), y).predict(pandas.DataFrame({"sky": ["fog"]}))
    array(['no'], dtype='<U3')
    """

    _words = True

    def _keeps_sums(self, learner: Learner) -> bool:
        return not setting_of(learner, "blocks")


class TunedNaiveBayesClassifier(LearnerClassifier, learner=likely.TunedNaiveBayes):
    """Naive Bayes whose attributes are weighed, or left out, by rows held out, as `likely.TunedNaiveBayes`.

    >>> X, y = [[0.0, 3.0], [1.0, 1.0], [2.5, 2.0], [7.0, 1.5], [8.0, 3.5], [9.5, 2.5]] * 3, [0, 0, 0, 1, 1, 1] * 3
    >>> TunedNaiveBayesClassifier().fit(X, y).predict([[8.5, 2.0]])
    array([1])
    """

    _generative = False


class FullBayesClassifier(LearnerClassifier, learner=likely.FullBayes):
    """All attributes modelled together: a normal density or a joint table for each class, as `likely.FullBayes`.

    Columns of numbers are numbers here, however few values they have; with `density="table"` they are levels.

    >>> X, y = [[0.0, 1.5], [1.0, 2.0], [0.5, 0.25], [8.0, 9.5], [9.0, 8.25], [7.5, 9.0]], [0, 0, 0, 1, 1, 1]
    >>> FullBayesClassifier(shrinkage="auto").fit(X, y).predict([[8.0, 8.5]])
    array([1])
    """

    density: str

    def _types(self, source: Rows) -> dict[str, str]:
        """Numbers stay numbers (or levels, if a table is asked for), however few values they have: the learner takes
        columns of one kind only."""
        kind = "nominal" if self.density == "table" else "number"
        return number_types(source, column_names(self), kind) | super()._types(source)


class TreeAugmentedClassifier(LearnerClassifier, learner=likely.TreeAugmented):
    """Tree-augmented naive Bayes: each attribute has one other as its parent, as `likely.TreeAugmented`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> TreeAugmentedClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """


class OneDependenceClassifier(LearnerClassifier, learner=likely.OneDependence):
    """The mean over all attributes as parents (AODE), as `likely.OneDependence`.

    >>> X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    >>> OneDependenceClassifier().fit(X, y).predict([["sun", "hot"]])
    array([1])
    """


class AdditiveClassifier(LearnerClassifier, learner=likely.Additive):
    """Boosted evidence of one, two or more attributes at a time, as `likely.Additive`.

    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 20, ["odd", "odd", "even", "even"] * 20
    >>> AdditiveClassifier().fit(X, y).predict([[1.0, 0.0]])
    array(['odd'], dtype='<U4')
    """

    _generative = False


class TextLogisticClassifier(LearnerClassifier, learner=likely.TextLogistic, tokens=True):
    """Logistic regression over words, pooled with naive Bayes, as `likely.TextLogistic`.

    Takes counts of words (a sparse matrix of whole numbers) as one text.

    >>> import pandas
    >>> X, y = pandas.DataFrame({"note": ["sun and wind again today", "rain all over the day"] * 20}), [1, 0] * 20
    >>> TextLogisticClassifier().fit(X, y).predict(pandas.DataFrame({"note": ["a rain like never before"]}))
    array([0])
    """

    _words = True
    _generative = False


class NeighborsClassifier(LearnerClassifier, learner=likely.Neighbors):
    """The classes of the k nearest training rows, as `likely.Neighbors`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]], ["low", "low", "low", "high", "high", "high"]
    >>> NeighborsClassifier(k=3).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False


class AutoClassifier(LearnerClassifier, learner=likely.Auto):
    """Tries the family of learners on rows held out and pools what helps, as `likely.Auto`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]] * 2, ["low", "low", "low", "high", "high", "high"] * 2
    >>> AutoClassifier(members=("Prior", "NaiveBayes"), parts=2).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False


class PoolClassifier(LearnerClassifier, learner=likely.Pool):
    """The logarithmic pool of some learners, their weights found on rows held out or given, as `likely.Pool`.

    Members are learners, their names, or estimators of this package.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]] * 2, ["low", "low", "low", "high", "high", "high"] * 2
    >>> members = ("Prior", likely.NaiveBayes(), NeighborsClassifier(k=1))
    >>> PoolClassifier(members=members, parts=2).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _generative = False

    def _settings(self) -> dict[str, object]:
        settings = super()._settings()
        members = settings["members"] or ()
        several = members if isinstance(members, list | tuple) else [members]
        settings["members"] = tuple(m._learner() if isinstance(m, LearnerEstimator) else m for m in several)
        return settings
