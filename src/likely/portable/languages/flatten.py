"""What languages with nothing but arithmetic can say: a sum of terms of single attributes or of small tables.

Brings a portable form to that, or says in a sentence why it cannot be. Knows no language and no model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from likely.errors import SettingError, shown
from likely.portable import forms
from likely.portable.forms import Portable, Scores, Term


@dataclass(frozen=True)
class Flat:
    """Scores that are a constant and terms; the posterior is their softmax, or (clipped) their positive parts."""

    constant: Scores
    terms: tuple[tuple[float, Term], ...]
    """How often each counts, and the term."""
    clipped: bool = False


def flatten(portable: Portable, language: str, able: Iterable[type]) -> Flat:
    """The form as one sum; refused, with what to do instead, where the language does not know one of its terms."""
    if portable.refuse_unseen:
        raise SettingError(
            f"The model refuses rows with levels that training did not have, and {language} cannot refuse a row. "
            "Learn it with unseen='skip' (--unseen skip)."
        )
    found = _flatten_score(portable.score, language)
    known = tuple(able)
    for _, term in found.terms:
        if not isinstance(term, known):
            raise SettingError(f"{language} cannot say {_describe(term)}. {_REMEDY.get(type(term), _ELSE)}")
    return found


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
