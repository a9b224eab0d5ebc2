"""What languages with nothing but arithmetic can say: a sum of terms of single attributes or of small tables.

Brings a score to that, or says in a sentence why it cannot be. Knows kinds of terms; no language and no model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.portable.describe import Portable, presence_of
from likely.portable.joint_terms import cholesky_solve

UNKNOWN_CELLS = (
    "Rows with unknown cells have no answer here, as likely averages over what they may hold; answered are rows with "
    "the gaps that many training rows have, and rows of which nothing is known."
)
COMPLETE_ROWS = (
    "This is for rows without unknown cells: likely averages over what they may hold, and PMML leaves them out, which "
    "gives other probabilities."
)
"""What an export says, where a model averages over unknown cells: SQL and ONNX give no answer, PMML cannot refuse."""
COUNTED = (shapes.LevelTable, shapes.BinTable, shapes.Gaussian)
TABLES = (shapes.LevelTable, shapes.BinTable, shapes.Slope, shapes.PairTable, shapes.TreeSum)
"""What PMML knows of naive Bayes, and what can be said there of other sums."""
ARITHMETIC = (*COUNTED, *TABLES, shapes.Curve, shapes.CellTable, shapes.MultivariateNormal)
ABLE: dict[str, tuple[type, ...]] = {
    "SQL": ARITHMETIC,
    "ONNX": (*ARITHMETIC, shapes.Density),
    "PMML": (*COUNTED, *TABLES),
}
"""The kinds of terms that a language can say."""


@dataclass(frozen=True)
class Flat:
    """Scores that are a constant and terms; the posterior is their softmax, or (clipped) their positive parts."""

    constant: tuple[float, ...]
    terms: tuple[tuple[float, Any], ...]
    """How often each counts, and the term."""
    clipped: bool = False


def flatten(portable: Portable, language: str) -> Flat:
    """The form as one sum; refused, with what to do instead, where the language does not know one of its terms."""
    if not portable.attributes:
        raise SettingError(f"The model has no attributes, and {language} needs columns to read. {_ELSE}")
    if portable.refuse_unseen:
        raise SettingError(
            f"The model refuses rows with levels that training did not have, and {language} cannot refuse a row. "
            "Learn it with unseen='skip' (--unseen skip)."
        )
    part = next((a for a in portable.attributes if a.part is not None), None)
    if language == "PMML" and part is not None:
        raise SettingError(
            f"The model reads parts of dates, such as {shown(part.name)}, and PMML cannot say how they are found. Fit "
            "it with --dates whole, or put the parts into the table as columns before you fit."
        )
    found = _flatten_score(portable.score, language)
    able = ABLE[language]
    if language == "PMML" and not is_naive_bayes(portable, found):
        able = TABLES
        if found.clipped or portable.target is None or not found.terms:
            raise SettingError(
                f"PMML says naive Bayes and sums of what attributes say, and this model is none. {_ELSE}"
            )
    for _, term in found.terms:
        if not isinstance(term, able):
            raise SettingError(f"{language} cannot say {_describe(term)}. {_remedy(term)}")
        if isinstance(term, shapes.MultivariateNormal) and len(term.names) > MOST_TOGETHER:
            raise SettingError(
                f"{language} cannot say the normal density of {len(term.names)} numbers together "
                f"({shown(shapes.line_name(term), 40)}), of which any may be missing; {MOST_TOGETHER} are the most. "
                f"{_ELSE}"
            )
    return found


def is_naive_bayes(portable: Portable, found: Flat) -> bool:
    """Whether it is naive Bayes as PMML knows it: probabilities of single attributes, each counted once."""
    counted = portable.target is not None and portable.generative and not found.clipped and bool(found.terms)
    return counted and all(weight == 1 and isinstance(term, COUNTED) for weight, term in found.terms)


def refusal(portable: Portable, language: str) -> str:
    """The sentence why a language cannot say a model, or nothing."""
    try:
        flatten(portable, language)
    except SettingError as error:
        return str(error)
    return ""


_ELSE = "Export the model to python, which says every model."


def _remedy(term: Any) -> str:
    match term:
        case shapes.Gaussian():
            return _ELSE
        case shapes.Density():
            return "Learn it with normal densities or bins (--numbers gaussian or binned), or export it to python."
        case shapes.WordWeights():
            return "Leave the text out (--type COLUMN=ignore), or export the model to python."
    return _ELSE


def _describe(term: Any) -> str:
    if isinstance(term, shapes.Tree):
        return "a tree of attributes, of which any may be missing"
    name, together = shown(shapes.line_name(term), 40), shown(shapes.line_name(term), 60)
    match term:
        case shapes.Gaussian():
            return f"how {name} counts"
        case shapes.Density():
            return f"the kernel density of {name}"
        case shapes.WordWeights():
            return f"what the words of {name} count"
        case shapes.MultivariateNormal():
            return f"the normal density of {together} together"
        case shapes.CellTable():
            return f"the joint table of {together}"
        case shapes.PairTable():
            return f"the table of {together}"
        case shapes.TreeSum():
            return f"the trees over {together}"
        case shapes.BinTable():
            return f"the bins of {name}"
    return f"how {name} counts"


def _flatten_score(score: shapes.Score, language: str) -> Flat:
    match score:
        case shapes.Sum():
            parts = ((power, part) for term, power in score.powered for part in _parts(term))
            return Flat(tuple(score.constant.tolist()), tuple(parts))
        case shapes.Normalised(inner):
            return _flatten_score(inner, language)  # what is the same for all classes does not matter to the posterior
        case shapes.Shifted(inner, by):
            found = _flatten_score(inner, language)
            if not found.clipped:
                return Flat(tuple(a + b for a, b in zip(found.constant, by.tolist(), strict=True)), found.terms)
        case shapes.Clipped(outputs):
            found = _flatten_score(outputs, language)
            return Flat(found.constant, found.terms, clipped=True)
        case _:
            pass
    names = {
        shapes.Mixture: "a mixture of models",
        shapes.Duels: "duels between pairs of classes",
        shapes.OneDependence: "a mean over one-dependence models",
    }
    raise SettingError(f"{language} cannot say {names.get(type(score), 'this model')}. {_ELSE}")


def _parts(term: Any) -> list[Any]:
    """A block is what is believed of its numbers, and where gaps are evidence a table of one bin for each of them."""
    if not isinstance(term, shapes.Block):
        return [term]
    gaps = [shapes.BinTable(name, np.empty(0), np.stack([known, gone])) for name, known, gone in presence_of(term)]
    return [term.joint, *gaps]


MOST_TOGETHER = 6
"""Numbers of one density at most; every one more doubles the patterns."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """What a row adds that has just these numbers: peak - |d @ weights|**2 / 2, where d is 0 for what is missing."""

    weights: Floats
    """For each class; row i is of attribute i."""
    peak: tuple[float, ...]


def patterns(normal: shapes.MultivariateNormal) -> tuple[Pattern, ...]:
    """One for each set of numbers that are there: bit i of its place says that attribute i is. The first is of none."""
    size = len(normal.names)
    return tuple(_pattern(normal, [k for k in range(size) if place >> k & 1]) for place in range(1 << size))


def _pattern(normal: shapes.MultivariateNormal, there: list[int]) -> Pattern:
    size, classes = len(normal.names), len(normal.mean)
    if len(there) == size:
        whole = normal.whitened(np.arange(size))
        return Pattern(np.stack([whitening for whitening, _ in whole]), tuple(-float(volume) for _, volume in whole))
    weights, peak = np.zeros((classes, size, size)), [0.0] * classes
    for c in range(classes if there else 0):
        part, log_root = normal.correlation[c][np.ix_(there, there)].tolist(), 0.0
        for own, unit in zip(there, np.eye(len(there)).tolist(), strict=True):
            # Linear in d, so what each unit gives is all there is to know.
            weights[c, own, : len(there)], log_root = cholesky_solve(part, unit, float(normal.least[c]))
        volume = 0.5 * len(there) * math.log(2 * math.pi) + log_root
        peak[c] = -(volume + sum(math.log(normal.deviation[c, k]) for k in there))
    return Pattern(weights, tuple(peak))


@dataclass(frozen=True)
class Calculated:
    """A number of a graph, to calculate with by Python's own signs."""

    name: str
    operate: Callable[..., str]
    """Adds an operator to the graph; the name of its result."""
    constant: Callable[[int], str]

    def _with(self, operator: str, other: Calculated | int) -> Calculated:
        name = other.name if isinstance(other, Calculated) else self.constant(other)
        return replace(self, name=self.operate(operator, self.name, name))

    def __add__(self, other: Calculated | int) -> Calculated:
        return self._with("Add", other)

    def __sub__(self, other: Calculated | int) -> Calculated:
        return self._with("Sub", other)

    def __mul__(self, other: Calculated | int) -> Calculated:
        return self._with("Mul", other)

    def __truediv__(self, other: Calculated | int) -> Calculated:
        return self._with("Div", other)
