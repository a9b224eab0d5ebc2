"""likely: Bayes classification on exact sums.

>>> import likely
>>> model = likely.fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
>>> model.predict({"sky": "rain"})
'no'
"""

# ruff: noqa: I001 - names are ordered by what they are about

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.errors import LikelyError as LikelyError

if TYPE_CHECKING:  # what type checkers see; at run time a name is imported when it is first used, by _NAMES
    # From a table to a model
    from likely.apply.fitting import summarize as summarize, learn as learn, load as load
    from likely.evaluate.judging import fit as fit
    from likely.apply.streams import Window as Window
    from likely.table.databases import database as database

    # What learns
    from likely.models.additive.additive import Additive as Additive
    from likely.models.additive.forest import Forest as Forest
    from likely.models.naive.naive import NaiveBayes as NaiveBayes
    from likely.models.naive.tuned import TunedNaiveBayes as TunedNaiveBayes
    from likely.models.dependence.tree import TreeAugmented as TreeAugmented
    from likely.models.dependence.one_dependence import OneDependence as OneDependence
    from likely.models.full_bayes import FullBayes as FullBayes
    from likely.models.full_bayes import LinearDiscriminant as LinearDiscriminant
    from likely.models.linear.least_squares import LeastSquares as LeastSquares
    from likely.models.linear.logistic import Logistic as Logistic
    from likely.models.text_logistic.learner import TextLogistic as TextLogistic
    from likely.models.neighbors.neighbors import Neighbors as Neighbors
    from likely.models.pool.mixture import Mixture as Mixture, Gibbs as Gibbs
    from likely.models.pool.auto import Auto as Auto, Pool as Pool
    from likely.models.naive.one_rule import OneRule as OneRule
    from likely.models.naive.one_rule import Prior as Prior
    from likely.models.naive.density import Density as Density

    # What it may be told
    from likely.models.knowledge import Knowledge as Knowledge
    from likely.models.text.settings import Text as Text
    from likely.table.words import Tokens as Tokens
    from likely.models.loss import Loss as Loss

    # What comes out
    from likely.models.contracts import Model as Model
    from likely.models.posterior import Posterior as Posterior
    from likely.table.schema import Schema as Schema
    from likely.sums.summary import Summary as Summary

    # From a model to answers
    from likely.apply.decide.decider import decide as decide
    from likely.apply.decide.decider import Decision as Decision
    from likely.apply.decide.missing import by_missing as by_missing
    from likely.apply.decide.asking import ask as ask
    from likely.apply.explain.explaining import explain as explain
    from likely.apply.explain.ledger import Ledger as Ledger
    from likely.apply.explain.counterfactual import counterfactual as counterfactual, Counterfactual as Counterfactual
    from likely.apply.explain.sureness import sureness as sureness, Sureness as Sureness
    from likely.apply.novelty import remarks as remarks
    from likely.apply.tables import tables as tables
    from likely.portable.languages.export import export as export
    from likely.present.page.writing import card as card
    from likely.classroom.plotting import plot as plot

    # How good, and what changed
    from likely.evaluate.look import look as look
    from likely.evaluate.compare import compare as compare
    from likely.evaluate.curve import curve as curve, Curve as Curve
    from likely.evaluate.compare import repeats as repeats
    from likely.evaluate.doctor import doctor as doctor
    from likely.evaluate.drift.tables import drift as drift
    from likely.evaluate.drift.changes import changes as changes

    # What a picture shows
    from likely.classroom.pictures import two_numbers as two_numbers
    from likely.classroom.pictures import straight_line as straight_line

    # Without a classifier
    from likely.classroom.joint_table import joint as joint
    from likely.classroom.regression import regress as regress, Regression as Regression

__version__ = "1.0.0rc1"

_NAMES = {
    # From a table to a model
    "likely.evaluate.judging": "fit",
    "likely.apply.fitting": "summarize learn load",
    "likely.apply.streams": "Window",
    "likely.table.databases": "database",
    # What it may be told
    "likely.models.knowledge": "Knowledge",
    "likely.models.text.settings": "Text",
    "likely.table.words": "Tokens",
    "likely.models.loss": "Loss",
    # What comes out
    "likely.models.contracts": "Model",
    "likely.models.posterior": "Posterior",
    "likely.table.schema": "Schema",
    "likely.sums.summary": "Summary",
    # From a model to answers
    "likely.apply.decide.decider": "decide Decision",
    "likely.apply.decide.missing": "by_missing",
    "likely.apply.decide.asking": "ask",
    "likely.apply.explain.explaining": "explain",
    "likely.apply.explain.ledger": "Ledger",
    "likely.apply.explain.counterfactual": "counterfactual Counterfactual",
    "likely.apply.explain.sureness": "sureness Sureness",
    "likely.apply.novelty": "remarks",
    "likely.apply.tables": "tables",
    "likely.portable.languages.export": "export",
    "likely.present.page.writing": "card",
    "likely.classroom.plotting": "plot",
    # How good, and what changed
    "likely.evaluate.look": "look",
    "likely.evaluate.compare": "compare repeats",
    "likely.evaluate.curve": "curve Curve",
    "likely.evaluate.doctor": "doctor",
    "likely.evaluate.drift.tables": "drift",
    "likely.evaluate.drift.changes": "changes",
    # What a picture shows
    "likely.classroom.pictures": "two_numbers straight_line",
    # Without a classifier
    "likely.classroom.joint_table": "joint",
    "likely.classroom.regression": "regress Regression",
}
"""The public names, by the module that holds them: `import likely` loads none of these modules. What learns is in the
registry (models/registry.py), which is read when a name is first used."""


def _modules() -> dict[str, str]:
    """The module of every public name."""
    from likely.models.registry import FAMILY

    modules = {name: module for module, names in _NAMES.items() for name in names.split()}
    return modules | {name: f"likely.models.{entry.learner}" for name, entry in FAMILY.items()}


def __getattr__(name: str) -> object:
    """Names are imported when first used: `import likely` stays quick."""
    from importlib import import_module

    if name == "probability":  # a room that is public as it is
        return import_module("likely.classroom")
    modules = _modules()
    if name == "__all__":
        return [*modules, "LikelyError"]
    if name not in modules:
        from likely.errors import nearest

        raise AttributeError(f"module 'likely' has no attribute {name!r}. {nearest(name, list(modules))}")
    found: object = getattr(import_module(modules[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_modules()])
