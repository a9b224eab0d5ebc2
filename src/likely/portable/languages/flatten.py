"""What languages with nothing but arithmetic can say: a sum of terms of single attributes or of small tables.

Brings a portable form to that, or says in a sentence why it cannot be. Knows no language and no model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likely.errors import SettingError, shown
from likely.portable import forms
from likely.portable.forms import CovarianceTerm, Portable, Scores, Term
from likely.portable.joint_terms import cholesky_solve

SINGLE = (forms.LevelTerm, forms.BinTerm, forms.NormalTerm, forms.SlopeTerm, forms.CurveTerm, forms.PresenceTerm)
SETS = (forms.TableTerm, forms.CovarianceTerm, forms.PairTerm, forms.TreesTerm)
COUNTED = (forms.LevelTerm, forms.BinTerm, forms.NormalTerm)
TABLES = (forms.LevelTerm, forms.BinTerm, forms.SlopeTerm, forms.PairTerm, forms.TreesTerm)
"""What PMML knows of naive Bayes, and what can be said there of other sums."""
ABLE: dict[str, tuple[type, ...]] = {
    "SQL": (*SINGLE, *SETS),
    "ONNX": (*SINGLE, forms.KernelTerm, *SETS),
    "PMML": (*COUNTED, *TABLES),
    "A list of probabilities": (*COUNTED, forms.KernelTerm),
}
"""The terms that a language can say."""


@dataclass(frozen=True)
class Flat:
    """Scores that are a constant and terms; the posterior is their softmax, or (clipped) their positive parts."""

    constant: Scores
    terms: tuple[tuple[float, Term], ...]
    """How often each counts, and the term."""
    clipped: bool = False


COLUMNS_NEEDED = ("SQL", "ONNX", "PMML")


def flatten(portable: Portable, language: str) -> Flat:
    """The form as one sum; refused, with what to do instead, where the language does not know one of its terms."""
    if not portable.attributes and language in COLUMNS_NEEDED:
        raise SettingError(f"The model has no attributes, and {language} needs columns to read. {_ELSE}")
    if portable.refuse_unseen:
        raise SettingError(
            f"The model refuses rows with levels that training did not have, and {language} cannot refuse a row. "
            "Learn it with unseen='skip' (--unseen skip)."
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
            raise SettingError(f"{language} cannot say {_describe(term)}. {_REMEDY.get(type(term), _ELSE)}")
        if isinstance(term, forms.CovarianceTerm) and len(term.attributes) > MOST_TOGETHER:
            raise SettingError(
                f"{language} cannot say the normal density of {len(term.attributes)} numbers together "
                f"({shown(term.name, 40)}), of which any may be missing; {MOST_TOGETHER} are the most. {_ELSE}"
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


_REMEDY: dict[type, str] = {
    forms.KernelTerm: "Learn it with normal densities or bins (--numbers gaussian or binned), or export it to python.",
    forms.TextTerm: "Leave the text out (--type COLUMN=ignore), or export the model to python.",
}
_ELSE = "Export the model to python, which says every model."


def _describe(term: Term) -> str:
    words: dict[type, str] = {
        forms.KernelTerm: f"the kernel density of {shown(term.name, 40)}",
        forms.TextTerm: f"what the words of {shown(term.name, 40)} count",
        forms.CovarianceTerm: f"the normal density of {shown(term.name, 60)} together",
        forms.TreeTerm: "a tree of attributes, of which any may be missing",
        forms.TableTerm: f"the joint table of {shown(term.name, 60)}",
        forms.PairTerm: f"the table of {shown(term.name, 60)}",
        forms.TreesTerm: f"the trees over {shown(term.name, 60)}",
        forms.BinTerm: f"the bins of {shown(term.name, 40)}",
    }
    return words.get(type(term), f"how {shown(term.name, 40)} counts")


def _flatten_score(score: forms.Score, language: str) -> Flat:
    match score:
        case forms.Sum(constant, terms):
            return Flat(constant, tuple(_powered(t) for t in terms))
        case forms.Normalised(inner):
            return _flatten_score(inner, language)  # what is the same for all classes does not matter to the posterior
        case forms.Shifted(inner, by):
            found = _flatten_score(inner, language)
            if not found.clipped:
                return Flat(tuple(a + b for a, b in zip(found.constant, by, strict=True)), found.terms)
        case forms.Clipped(outputs):
            found = _flatten_score(outputs, language)
            return Flat(found.constant, found.terms, clipped=True)
        case _:
            pass
    names = {
        forms.Mixture: "a mixture of models",
        forms.Duels: "duels between pairs of classes",
        forms.OneDependence: "a mean over one-dependence models",
    }
    raise SettingError(f"{language} cannot say {names.get(type(score), 'this model')}. {_ELSE}")


def _powered(term: Term) -> tuple[float, Term]:
    if isinstance(term, forms.PowerTerm):
        weight, inner = _powered(term.inner)
        return term.weight * weight, inner
    return 1.0, term


MOST_TOGETHER = 6
"""Numbers of one density at most; every one more doubles the patterns."""

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Pattern:
    """What a row adds that has just these numbers: peak - |d @ weights|**2 / 2, where d is 0 for what is missing."""

    weights: tuple[Matrix, ...]
    """For each class; row i is of attribute i."""
    peak: tuple[float, ...]


def patterns(term: CovarianceTerm) -> tuple[Pattern, ...]:
    """One for each set of numbers that are there: bit i of its place says that attribute i is. The first is of none."""
    size = len(term.attributes)
    return tuple(_pattern(term, [k for k in range(size) if place >> k & 1]) for place in range(1 << size))


def _pattern(term: CovarianceTerm, there: list[int]) -> Pattern:
    size, classes = len(term.attributes), range(len(term.mean))
    if len(there) == size:
        return Pattern(term.whitening, term.peak)
    weights, peak = [], []
    for c in classes:
        rows = [[0.0] * size for _ in range(size)]
        part = [[term.correlation[c][i][j] for j in there] for i in there]
        log_root = 0.0
        for k, own in enumerate(there):  # linear in d, so what each unit gives is all there is to know
            unit = [float(j == k) for j in range(len(there))]
            apart, log_root = cholesky_solve(part, unit, term.least[c])
            rows[own][: len(there)] = apart
        volume = 0.5 * len(there) * math.log(2 * math.pi) + log_root
        peak.append(-(volume + sum(math.log(term.deviation[c][k]) for k in there)) if there else 0.0)
        weights.append(tuple(map(tuple, rows)))
    return Pattern(tuple(weights), tuple(peak))
