"""What logistic regression over words ends in: prior, other attributes as naive Bayes has them, and learned words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Factor, Learner, Model
from likely.models.judgement import HeldOut
from likely.models.model import unread_texts
from likely.models.naive.naive import NaiveBayes, plain_naive_bayes
from likely.models.naive.product import product_of, raise_to_powers
from likely.models.shapes import Exhibit
from likely.models.text.factor import TextFactor, WordScores
from likely.models.text.sums import DAMPED, WordSums
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.sums.words.counting import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_STORED = (1 << 15) - 1
"""The largest weight, in units of the smallest."""


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """A ridge, what learned weights and log-count ratios are multiplied by, and how that did on held-out rows."""

    ridge: float
    least: int
    """Texts that a word must be in at least."""
    learned: float = 1.0
    naive: float = 0.0
    loss: float = 0.0
    rows: int = 0
    hits: float = 0.0
    """The log loss of a held-out row, how many there are, and the share of these that were classified rightly."""
    start: Floats | None = field(default=None, repr=False)
    """Weights by spread to start from."""
    tried: tuple[tuple[float, float, float], ...] = ()
    """What was tried: (ridge, least, log loss of held-out rows)."""


@dataclass(frozen=True)
class LearnedWords:
    """How learned words count: sqrt(times / known words of the text) times the weight of the word."""

    ridge: float
    least_documents: int
    model: Literal["logistic"] = "logistic"
    damping: Literal["root"] = "root"
    length: bool = True
    scale: float = 1.0
    is_likelihood: bool = False

    def written(self) -> str:
        """In words, for people."""
        least = f", words of at least {self.least_documents} texts" if self.least_documents > 1 else ""
        return f"logistic regression, ridge {self.ridge:.4g}, pooled with naive Bayes{least}"


class WordLearner(Learner, Protocol):
    """What a search for weights of words goes by."""

    @property
    def ridge(self) -> float | Literal["auto"]: ...
    @property
    def least_documents(self) -> int | Literal["auto"]: ...


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: all that a file keeps of it."""

    ridge: float
    least: int
    """Texts that a word must be in at least."""
    weights: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """(known words, classes) of each text column, in whole multiples of `unit`."""
    unit: float = 1.0
    kept: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """Which words of the sums have weights."""
    others: float = 1.0
    """What the evidence of all other attributes is multiplied by."""
    scales: tuple[float, float] = (1.0, 0.0)
    """What learned weights and log-count ratios were multiplied by; the weights are their sum."""
    tried: tuple[tuple[float, float, float], ...] = ()
    """What was tried: (ridge, least, log loss of held-out rows)."""
    loss: float = 0.0
    rows: int = 0
    hits: float = 0.0
    """The log loss of a held-out row, how many there are, and the share of these that were classified rightly."""
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Floats],
        kept: Mapping[str, NDArray[np.bool_]],
        choice: RidgeChoice,
        others: float,
        remarks: tuple[str, ...],
    ) -> Found:
        """With weights as whole multiples of one power of two, so that 16 bits hold the largest."""
        largest = max((float(np.abs(table).max(initial=0.0)) for table in tables.values()), default=0.0)
        unit = 2.0 ** math.ceil(math.log2(largest / MOST_STORED)) if largest else 1.0
        weights = {name: np.rint(table / unit).astype(np.int64) for name, table in tables.items()}
        return cls(
            choice.ridge,
            choice.least,
            weights,
            unit,
            kept,
            others,
            (choice.learned, choice.naive),
            choice.tried,
            choice.loss,
            choice.rows,
            choice.hits,
            remarks,
        )


def build_model(learner: WordLearner, summary: Summary, found: Found) -> Model:
    """log P(class) + what other attributes say, times one weight, + sum over words of root share * weight.

    An empty text, a text of unknown words and a missing text add nothing.
    """
    plain = NaiveBayes().product(without_words(summary))
    own = {factor.name: factor for factor in plain.factors}
    factors: list[Factor] = []
    unread = unread_texts(plain.summary.schema)
    notes = [*found.remarks, *(note for note in plain.notes if note not in unread)]
    for column in summary.schema.attributes:
        held = summary.columns[column.name]
        if not isinstance(held, Words):
            factors += [own[column.name]] if column.name in own else []
        elif column.name in found.weights:
            factors.append(learned_factor(column.name, held, found, len(summary.classes)))
        else:
            notes.append(f"{shown(column.name)} is left out: there is no word to learn from.")
    others = {name: found.others for name in own} if found.others != 1.0 else {}
    product = product_of(learner, summary, plain.prior, tuple(factors), notes=tuple(notes))
    state: State = {}
    if found.weights:
        state = {
            "ridge": found.ridge,
            "least": found.least,
            "unit": found.unit,
            "others": found.others,
            "scales": list(found.scales),
            "weights": dict(found.weights),
            "kept": {name: np.packbits(kept) for name, kept in found.kept.items()},
            "tried": [list(pair) for pair in found.tried],
            "loss": found.loss,
            "rows": found.rows,
            "hits": found.hits,
            "remarks": list(found.remarks),
        }
    model = raise_to_powers(product, others, learner)
    choices: dict[str, tuple[str, str]] = {}
    if found.tried:  # with the scales, which hardly any two tables share, and without
        choices = {found.remarks[-1]: (model.texts[0].name, model.texts[0].settings.written())}
    return replace(
        model,
        notes=product.notes,
        details={**model.details, "found": found},
        state=state,
        lasting={},  # with other rows the weights are to be learned again
        choices=choices,
        held_out=HeldOut(found.rows, found.hits, -found.loss) if found.rows else None,
        # A text that is missing has no words, and other attributes are those of naive Bayes.
        skips_missing=True,
        describer_note="TextLogistic is not a generative model: these are from {title}, learned from the same sums.",
        show=_show_words,
        freeze=_freeze_words if found.weights else None,
        describe=plain_naive_bayes,
    )


def _freeze_words(model: Model) -> Learner:
    """The learner with what was chosen."""
    found: Found = model.details["found"]
    return replace(model.learner, ridge=found.ridge, least_documents=found.least)  # type: ignore[type-var]


def _show_words(model: Model) -> tuple[Exhibit, ...]:
    """The words, and how the ridge was chosen."""
    found: Found = model.details["found"]
    out = list(model.details["product"].exhibits())
    if model.weights:
        out.append(Exhibit("Evidence of other attributes is multiplied by", ("weight",), ((found.others,),)))
    if found.tried:
        title = "The weight of a word is the sum of these, multiplied by"
        out.append(Exhibit(title, ("learned weights", "log-count ratios"), (found.scales,)))
        title = f"Log loss of {found.rows:,} held-out rows"
        tried = tuple((ridge, least, loss / math.log(2)) for ridge, least, loss in found.tried)
        out.append(Exhibit(title, ("ridge", "texts of a word at least", "bits a row"), tried))
    return tuple(out)


def learned_factor(name: str, words: Words, found: Found, classes: int) -> TextFactor:
    """What the words of a column say."""
    sums, kept = WordSums(words, classes), found.kept[name]
    vocabulary = sums.tally.vocabulary.taken(np.flatnonzero(kept))
    table = np.ascontiguousarray(found.weights[name] * found.unit)
    scores = WordScores(vocabulary, table, words.tokens, DAMPED["root"])
    return TextFactor(name, LearnedWords(found.ridge, found.least), scores, np.zeros(classes), sums, kept)


def without_words(summary: Summary) -> Summary:
    """The same sums without text columns."""
    columns = (replace(c, role="left out") if c.kind == "text" else c for c in summary.schema.columns)
    return summary.with_schema(summary.schema.with_columns(columns))


def note_choice(choice: RidgeChoice) -> str:
    """The sentence that says how ridge and scales were found."""
    if not choice.tried:
        return f"Words: ridge {choice.ridge:.4g}, no naive Bayes: there are too few rows to choose by."
    return (
        f"Words: weights learned with ridge {choice.ridge:.4g} times {choice.learned:.3g} plus naive Bayes' log-count "
        f"ratios times {choice.naive:.3g}; chosen by the log loss of {choice.rows:,} held-out rows."
    )
