"""The posterior: the probability of each class for each row, and the awkward truths that come with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery.arrays import Bools
from likely.machinery.presented import Presented
from likely.models import kernels
from likely.models.shapes.guarantee import Guarantee, intervals_by_gap, sets_by_gap
from likely.table.formats.memory import FrameKind, to_frame
from likely.table.labels import label
from likely.table.output.sink import prediction_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNTRIED = (
    "Nothing is known of how sure this model's answers are: it was not tried on rows that were held out, or has "
    "learned, unlearned or merged rows since. Fit it on all rows by likely.fit(…, judge=True) or likely fit --judge."
)
Matrix: TypeAlias = "NDArray[np.float64]"


def first_best(scores: Matrix) -> NDArray[np.intp]:
    """The class of the highest log score of each row: the first of those that only rounding sets apart.

    >>> first_best(np.log([[0.25, 0.25 + 1e-15, 0.5], [0.4, 0.4 + 1e-15, 0.2]])).tolist()
    [2, 0]
    """
    return np.asarray((scores >= scores.max(axis=1, keepdims=True) - kernels.TIE).argmax(axis=1), np.intp)


@dataclass(frozen=True, repr=False)
class Posterior(Presented):
    """P(class | row) as a matrix (rows, classes). A row that is impossible under every class is all zero.

    >>> p = Posterior.of(("no", "yes"), np.log([[0.2, 0.6]]))
    >>> round(p.prob("yes"), 3), p.best
    (0.75, 'yes')
    """

    classes: tuple[str, ...]
    matrix: Matrix
    log_evidence: NDArray[np.float64]
    """log P(row) under the model."""
    one: bool = False
    """Whether a single row was asked about: then `prob` and `best` give one answer, not a list."""
    proper: bool = True
    """False for normalised scores that are not probabilities."""
    unseen: Mapping[str, int] = field(default_factory=dict)
    """For each column, how many cells held a level that training did not have."""
    strays: Mapping[str, int] = field(default_factory=dict)
    """For each column of numbers, how many cells were not numbers; they count as missing."""
    absent: tuple[str, ...] = ()
    """Attributes that the table does not have; their cells count as missing."""
    remarks: tuple[Sequence[str], NDArray[np.intp]] | None = field(default=None, repr=False, compare=False)
    """What is unusual of rows, and which of that each has, where it was asked for."""
    words: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """For each text column, how many words there were, and how many of these the model does not know and skipped."""
    frames: FrameKind | None = field(default=None, repr=False, compare=False)
    """The kind of frame that the rows came in, where they came in one."""
    gaps: NDArray[np.int8] | None = field(default=None, repr=False, compare=False)
    """How much of each row is unknown (`shapes/guarantee.py`), where a model has answered."""
    row: Any = field(default=None, repr=False, compare=False)
    """Of a single row in place of the gaps: the row, so that they are found where they are asked for."""
    answered_by: Any = field(default=None, repr=False, compare=False)
    """The model, which knows how it did on rows that were held out."""

    @classmethod
    def of(cls, classes: tuple[str, ...], log_joint: Matrix, one: bool | None = None, proper: bool = True) -> Posterior:
        """Normalise log P(class, row), once."""
        matrix = np.ascontiguousarray(log_joint, np.float64).copy()
        evidence = np.empty(len(matrix))
        kernels.normalise(matrix, evidence)
        return cls(classes, matrix, evidence, len(matrix) == 1 if one is None else one, proper)

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def undefined(self) -> NDArray[np.bool_]:
        """Rows that cannot be classified: every class is impossible."""
        return np.isneginf(self.log_evidence)

    def prob(self, name: object) -> float | NDArray[np.float64]:
        """The probability of one class, for the one row or for every row."""
        column = self.matrix[:, self._class_index(name)]
        return float(column[0]) if self.one else column

    def _class_index(self, name: object) -> int:
        wanted = label(name)
        if wanted not in self.classes and isinstance(name, (bool, np.bool_)):
            # A file may have spelled it True, TRUE or 1.
            spelled = [c for c in self.classes if c.lower() == wanted or c == str(int(name))]
            wanted = spelled[0] if len(spelled) == 1 else wanted
        if wanted not in self.classes:
            raise ColumnError(f"There is no class {shown(name)}. {nearest(str(wanted), self.classes)}")
        return self.classes.index(wanted)

    @property
    def codes(self) -> NDArray[np.intp]:
        """Index of the most probable class of each row; the first of equals; -1 where there is none."""
        if not self.classes:
            return np.full(len(self.matrix), -1)
        return np.where(self.undefined, -1, self.matrix.argmax(axis=1))

    @property
    def best(self) -> str | list[str | None] | None:
        """The most probable class: None where the row cannot be classified."""
        names: list[str | None] = [*self.classes, None]
        found = [names[c] for c in self.codes]
        return found[0] if self.one else found

    def sets(self, level: float = 0.9) -> Bools:
        """Which classes are in the set of each row, (rows, classes): the true class is in it with at least this
        probability, as it was for held-out rows. None is in it where a row has no probabilities, or where nothing is
        known of rows of which so much is unknown."""
        return sets_by_gap(self._guarantees(), self.matrix, self._gaps(), level)

    def set(self, level: float = 0.9) -> tuple[str, ...] | list[tuple[str, ...]]:
        """The classes that cannot be ruled out: the true one is among them with at least this probability.

        >>> import likely
        >>> table = {"x": [float(k % 10) for k in range(200)], "y": ["a" if k % 10 < 5 else "b" for k in range(200)]}
        >>> likely.fit(table, "y").posterior({"x": 2.0}).set(0.95)
        ('a',)
        """
        inside = self.sets(level)
        found = [tuple(self.classes[k] for k in np.flatnonzero(row)) for row in inside]
        return found[0] if self.one else found

    def intervals(self, level: float = 0.9) -> tuple[Matrix, Matrix]:
        """For each probability where the share of the class lies among rows that are answered so: low and high,
        (rows, classes). NaN where nothing is known of that."""
        return intervals_by_gap(self._guarantees(), self.matrix, self._gaps(), level)

    def interval(self, name: object, level: float = 0.9) -> tuple[Any, Any]:
        """Low and high of one class: of the held-out rows that were answered so, so many were of it. Two numbers for
        one row, two arrays for a table."""
        k = self._class_index(name)
        low, high = self.intervals(level)
        return (float(low[0, k]), float(high[0, k])) if self.one else (low[:, k], high[:, k])

    def _guarantees(self) -> Sequence[Guarantee]:
        judgement = None if self.answered_by is None else self.answered_by.judgement
        if judgement is None or not judgement.guarantees:
            raise SettingError(UNTRIED)
        found: Sequence[Guarantee] = judgement.guarantees
        return found

    def _gaps(self) -> NDArray[np.int8]:
        if self.gaps is None and self.row is not None:
            return np.asarray(self.answered_by.gaps(self.row), np.int8)
        return np.zeros(len(self.matrix), np.int8) if self.gaps is None else self.gaps

    def frame(self) -> Any:
        """Prediction and probabilities, p(class), of every row, in the kind of frame that the rows came in, with its
        index; a pyarrow Table where they came in none (a file, a dict, a list), which has `to_pandas`. A row that
        cannot be classified has empty cells.

        >>> Posterior.of(("no", "yes"), np.log([[0.5, 0.5]])).frame().to_pydict()
        {'prediction': ['no'], 'p(no)': [0.5], 'p(yes)': [0.5]}
        """
        return to_frame(prediction_batch(self.classes, self.codes, self.matrix), self.frames)

    def __repr__(self) -> str:
        if not self.one:
            return f"<Posterior: {len(self)} rows, classes {', '.join(shown(c, 20) for c in self.classes[:6])}>"
        if self.undefined[0]:
            return f"<Posterior: cannot be classified; {why_undecided(self.proper)}>"
        chances = (f"{shown(c, 20)} {p:.4g}" for c, p in zip(self.classes, self.matrix[0], strict=True))
        return f"<Posterior: {', '.join(chances)}>"


def why_undecided(proper: bool) -> str:
    """Why a row cannot be classified: of probabilities, or of scores that are won by duels."""
    return "every class is impossible" if proper else "no class wins all its duels"


class RowPosterior(Posterior):
    """The posterior of one row: `prob` is a number and `best` one class.

    >>> RowPosterior.of(("no", "yes"), np.log([[0.2, 0.6]]), one=True).best
    'yes'
    """

    if TYPE_CHECKING:

        def prob(self, name: object) -> float: ...
        @property
        def best(self) -> str | None: ...


class TablePosterior(Posterior):
    """The posterior of the rows of a table: `prob` is an array and `best` a list, with an entry for each row.

    >>> TablePosterior.of(("no", "yes"), np.log([[0.2, 0.6]]), one=False).best
    ['yes']
    """

    if TYPE_CHECKING:

        def prob(self, name: object) -> NDArray[np.float64]: ...
        @property
        def best(self) -> list[str | None]: ...


def join_posteriors(classes: tuple[str, ...], parts: Sequence[Posterior], one: bool) -> RowPosterior | TablePosterior:
    """Posteriors of consecutive batches as one."""
    joined = _join(classes, parts, one)
    own = {f.name: getattr(joined, f.name) for f in fields(joined)}
    return RowPosterior(**own) if one else TablePosterior(**own)


def _join(classes: tuple[str, ...], parts: Sequence[Posterior], one: bool) -> Posterior:
    if len(parts) == 1:
        return replace(parts[0], one=one, absent=tuple(sorted(parts[0].absent)))
    matrix = np.concatenate([p.matrix for p in parts]) if parts else np.empty((0, len(classes)))
    evidence = np.concatenate([p.log_evidence for p in parts]) if parts else np.empty(0)
    unseen, strays = (dict(sum((Counter(getattr(p, name)) for p in parts), Counter())) for name in ("unseen", "strays"))
    absent = tuple(sorted({name for p in parts for name in p.absent}))
    gaps = None if not parts or any(p.gaps is None for p in parts) else np.concatenate([p.gaps for p in parts])
    who = parts[0].answered_by if parts else None
    proper = all(p.proper for p in parts)
    words = {name: _count_words(name, parts) for p in parts for name in p.words}
    return Posterior(
        classes,
        matrix,
        evidence,
        one,
        proper,
        unseen=unseen,
        strays=strays,
        absent=absent,
        words=words,
        gaps=gaps,
        answered_by=who,
    )


def _count_words(name: str, parts: Sequence[Posterior]) -> tuple[int, int]:
    found = [p.words[name] for p in parts if name in p.words]
    return sum(words for words, _ in found), sum(unknown for _, unknown in found)
