"""The portable form: how a model scores a row, as frozen plain values. Knows no model, no numpy and no arithmetic.

What each form means is defined by `reading` (cells) and `scoring` (scores). Everything that leaves the house (a page,
SQL, ONNX, PMML, JSON, a Python function) is made of these forms.

A row is read into cells, one for each attribute:

- "level": the place of the level in `Attribute.levels`, MISSING or UNSEEN;
- "number" and "date" (seconds since 1970): a float; what is not finite counts as missing;
- "text": the text, or None where it is missing.

`Scores` are natural logs, one for each class (or output), and may be minus infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from likely.portable.joint_forms import Axis as Axis
from likely.portable.joint_forms import CovarianceTerm as CovarianceTerm
from likely.portable.joint_forms import PairTerm as PairTerm
from likely.portable.joint_forms import Scores as Scores
from likely.portable.joint_forms import TableTerm as TableTerm
from likely.portable.joint_forms import TreesTerm as TreesTerm
from likely.portable.joint_forms import TreeTerm as TreeTerm

MISSING, UNSEEN = -1, -2
"""Codes of cells that are no level: not known, or not known to training."""


# -- how cells are read -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    r"""What counts as a word of a text: runs of `\w` in its small letters; see `likely.table.words.Tokens`."""

    shortest: int = 1
    pairs: bool = False
    stop: tuple[str, ...] = ()
    grams: tuple[int, int] | None = None


@dataclass(frozen=True)
class Attribute:
    """One attribute of a row."""

    name: str
    kind: Literal["level", "number", "date", "text"]
    levels: tuple[str, ...] = ()
    """Of a nominal attribute: all that the model knows."""
    numeric: bool = False
    """Whether levels are numbers, so that 1, "1.0" and "1" are one level."""
    words: Words | None = None


# -- what one attribute, or several together, add to the scores ------------------------------------------------------


@dataclass(frozen=True)
class LevelTerm:
    """Adds scores[level], `unseen` or `missing`."""

    name: str
    scores: tuple[Scores, ...]
    """One for each of the attribute's levels."""
    unseen: Scores
    missing: Scores


@dataclass(frozen=True)
class BinTerm:
    """Adds scores[bin], where bin is the number of `starts` that are at most x; `missing` where x is not finite."""

    name: str
    starts: tuple[float, ...]
    scores: tuple[Scores, ...]
    missing: Scores


@dataclass(frozen=True)
class NormalTerm:
    """Adds peak - (min(|x - mean|, farthest) * rate)**2 for each class; `missing` where x is not finite.

    rate is the root of 1/2 over the standard deviation; peak has the chance of being known in it where that counts.
    """

    name: str
    mean: Scores
    deviation: Scores
    rate: Scores
    farthest: Scores
    """So that every score is finite, and any sum of a million of them."""
    peak: Scores
    missing: Scores


@dataclass(frozen=True)
class KernelTerm:
    """Adds peak + log of the sum of weight * exp(-(min(|x - centre|, farthest) * rate)**2).

    `missing` where x is not finite.

    Sums are taken relative to the nearest centre of weight, so that they do not vanish far from all of them.
    """

    name: str
    centres: tuple[float, ...]
    """In order, for all classes together."""
    weights: tuple[Scores, ...]
    """For each class, of each centre; 0 where the class has no value there."""
    width: Scores
    rate: Scores
    farthest: Scores
    peak: Scores
    missing: Scores


@dataclass(frozen=True)
class TextTerm:
    """Adds factor * (base + sum over different known words of damped(times) * weight); nothing where it is missing.

    factor is `scale`, divided by the root of the number of known words (at least 1) if `length`. damped(t) is t
    ("none"), 1 + log t ("log"), the root of t ("root") or 1 ("binary").
    """

    name: str
    words: tuple[str, ...]
    weights: tuple[Scores, ...]
    base: Scores
    damping: Literal["none", "log", "root", "binary"]
    scale: float
    length: bool


@dataclass(frozen=True)
class Unit:
    """A number in standard units: z = ((x * 2**-shift - center) - rest) / spread, no farther from 0 than `farthest`.

    0 where x is not finite.
    """

    attribute: str
    shift: int
    center: float
    rest: float
    spread: float
    farthest: float


@dataclass(frozen=True)
class SlopeTerm:
    """Adds known + z * weights; `missing` where x is not finite."""

    name: str
    unit: Unit
    weights: Scores
    known: Scores
    missing: Scores


@dataclass(frozen=True)
class CurveTerm:
    """Adds known + z[at] * (weights[last] + sum over units of z[unit] * weights[unit]).

    `missing` where its own x is not finite.
    """

    name: str
    at: int
    """Which of the units is this attribute's own."""
    units: tuple[Unit, ...]
    weights: tuple[Scores, ...]
    """One for each unit, and last that of z[at] alone."""
    known: Scores
    missing: Scores


@dataclass(frozen=True)
class PresenceTerm:
    """Adds `known` where x is finite, `missing` where it is not. `name` may be that of a block."""

    name: str
    attribute: str
    known: Scores
    missing: Scores


@dataclass(frozen=True)
class PowerTerm:
    """Adds weight times what the inner term adds."""

    weight: float
    inner: Term

    @property
    def name(self) -> str:
        return self.inner.name


Term: TypeAlias = (
    LevelTerm
    | BinTerm
    | NormalTerm
    | KernelTerm
    | TextTerm
    | SlopeTerm
    | CurveTerm
    | PresenceTerm
    | TableTerm
    | CovarianceTerm
    | TreeTerm
    | PairTerm
    | TreesTerm
    | PowerTerm
)


# -- scores -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sum:
    """constant + the terms, in order."""

    constant: Scores
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Normalised:
    """The scores inside, less the log of the sum of their exponentials: log P(class | row)."""

    inner: Score


@dataclass(frozen=True)
class Shifted:
    """The scores inside, plus `by`: another prior."""

    inner: Score
    by: Scores


@dataclass(frozen=True)
class Member:
    """One of a mixture: P(class | row)**temperature, normalised, counts `weight`."""

    inner: Score
    weight: float
    temperature: float
    classes: tuple[int, ...]
    """The place of each of the member's classes among those of the mixture; -1 where it has none."""


@dataclass(frozen=True)
class Mixture:
    """log of the sum over members of weight * P(class | row); a member that finds the row impossible says nothing."""

    size: int
    """How many classes there are."""
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Clipped:
    """log of max(output, 0), over their sum; where no output is above 0, the largest (the first of equals) has all."""

    outputs: Sum


@dataclass(frozen=True)
class Duels:
    """Output k is at least 0: the first class of pair k wins, else the second. A class that wins all has everything;
    with `votes` each class has its share of the duels."""

    outputs: Sum
    size: int
    pairs: tuple[tuple[int, int], ...]
    votes: bool


@dataclass(frozen=True)
class OneDependence:
    """log of the mean, over the cells that may be parents, of P(class, cell) * product of P(other cell | class, cell).

    Cells are numbered over all axes, axis after axis. Where no cell of the row serves: prior + sum of alone.
    """

    axes: tuple[Axis, ...]
    serves: tuple[bool, ...]
    prior: Scores
    alone: tuple[Scores, ...]
    joint: tuple[Scores, ...]
    given: tuple[tuple[Scores, ...], ...]
    """given[parent's cell][cell]"""


Score: TypeAlias = Sum | Normalised | Shifted | Mixture | Clipped | Duels | OneDependence


@dataclass(frozen=True)
class Portable:
    """How a model scores a row. P(class | row) is exp(score) over its sum; undefined where all are minus infinity."""

    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    missing: tuple[str, ...]
    """Texts that stand for a missing cell; the empty one always does."""
    score: Score
    learner: str
    target: str | None = None
    proper: bool = True
    """Whether the posterior is made of probabilities, or of scores that sum to one."""
    generative: bool = False
    """Whether the scores are log P(class, row), so that the log of their sum is the log density of the row."""
    refuse_unseen: bool = False
    """Whether a row with a level that training did not have is refused."""
    version: int = 3

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name."""
        return next(a for a in self.attributes if a.name == name)
