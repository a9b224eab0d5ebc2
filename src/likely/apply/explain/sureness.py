"""How sure an answer is: an interval for each probability, and the classes that cannot be ruled out.

By held-out rows, of any model that was tried on some: what became of rows that were answered so. By counts, of naive
Bayes: draws the model's parameters by a seed, and reads the interval off the posteriors that they give.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.explain.doubt import HALF, Behind, doubt_of, log_gamma, variance
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery.arrays import Bools
from likely.machinery.presented import Presented
from likely.machinery.words import clean
from likely.models.contracts import Model
from likely.models.posterior import UNTRIED, Matrix, Posterior, join_posteriors
from likely.table.batch import Batch, Codes
from likely.table.labels import label
from likely.table.open import open_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 1 << 18
"""Numbers held at a time, rows * classes * draws: as many as stay in the processor's cache."""
MOST_NAMED = 8
"""Classes that a sentence names."""
FEW = 30
"""Fewer cases than this are called few."""


@dataclass(frozen=True)
class Thinnest:
    """What leaves the interval most room: the count with the largest share in the doubt about the log-odds."""

    attribute: str | None
    """None: the frequency of the class itself."""
    value: str | None
    """The level, where it is one."""
    label: str
    """The class within which it was counted."""
    cases: float
    """How much of training is behind it: rows with that level in that class, values of the number in that class, values
    near it (kernels), or rows of the class. Knowledge counts for what it is worth."""
    behind: Behind

    def __str__(self) -> str:
        n = round(self.cases) if self.behind == "near" or self.cases >= 100 else self.cases
        few = "only " if self.cases < FEW else ""
        count = f"{few}{'about ' if self.behind == 'near' else ''}{n:,.4g}" if n < 1000 else f"{n:,.0f}"
        ending, within = "" if n == 1 else "s", f"class {shown(self.label, 30)}"
        if self.behind == "class":
            return f"{count} row{ending} of {within}"
        of = shown(self.attribute, 30)
        if self.behind != "level":
            near = " near this one" if self.behind == "near" else ""
            return f"{count} value{ending} of {of}{near} in {within}"
        cases = f"{count} case{ending}" if n else "no case"
        what = of if self.value is None else f"{of} is {shown(self.value, 30)}"
        return f"{cases} like this ({what} in {within})"


@dataclass(frozen=True, repr=False)
class Sureness(Presented):
    """The probability of each class for each row, with an interval, (rows, classes). NaN where a row cannot be judged.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> found = likely.sureness(model, {"sky": "sun"})
    >>> low, high = found.interval("y")
    >>> bool(0.3 < low < 0.844 < high < 1)
    True
    """

    classes: tuple[str, ...]
    matrix: Matrix
    """P(class | row), as the model gives it."""
    low: Matrix
    high: Matrix
    level: float
    """How probable it is that the interval holds the probability: by counts, if all that the model takes for granted
    is so."""
    draws: int
    """0: by held-out rows."""
    seed: int
    one: bool
    """Whether a single row was asked about."""
    attribute: NDArray[np.intp]
    """For each row, which of `names` leaves most room; -1: the frequency of a class."""
    label: NDArray[np.intp]
    """For each row, the class within which that was counted."""
    cases: NDArray[np.float64]
    """For each row, the cases behind it."""
    names: tuple[str, ...]
    behind: tuple[Behind, ...]
    value: str | None = None
    """The level of the one row's `attribute`."""
    sets: Bools | None = None
    """By held-out rows: which classes cannot be ruled out, (rows, classes); None by counts."""

    def __len__(self) -> int:
        return len(self.matrix)

    def interval(self, name: object) -> tuple[Any, Any]:
        """The ends of the interval of a class: two numbers for one row, two arrays for a table."""
        k = self._place(name)
        return (float(self.low[0, k]), float(self.high[0, k])) if self.one else (self.low[:, k], self.high[:, k])

    def _place(self, name: object) -> int:
        wanted = label(name)
        if wanted not in self.classes:
            raise ColumnError(f"There is no class {shown(name)}. {nearest(str(wanted), self.classes)}")
        return self.classes.index(wanted)

    def thinnest(self, row: int = 0) -> Thinnest | None:
        """What leaves most room in a row; None where nothing is in doubt."""
        place = int(self.attribute[row])
        if not np.isfinite(self.cases[row]):
            return None
        name, behind = (None, "class") if place < 0 else (self.names[place], self.behind[place])
        return Thinnest(name, self.value, self.classes[self.label[row]], float(self.cases[row]), behind)  # type: ignore[arg-type]

    def words(self, name: object = None, row: int = 0) -> str:
        """'63 %, between 41 and 80: only 7 cases like this (…)', of a class or of the most probable one."""
        if np.isnan(self.low[row]).any():
            if self.sets is not None and self.matrix[row].any():
                return "So much of the row is unknown that held-out rows say nothing of it"
            return "every class is impossible, so there is no probability"
        k = int(self.matrix[row].argmax()) if name is None else self._place(name)
        number, low, high = percents(self.matrix[row, k], self.low[row, k], self.high[row, k])
        if self.sets is not None:
            wanted, out = self.classes[k], self.sets[row]
            some = [
                shown(c, 30) if ", " in c else clean(c, 30)
                for c, inside in zip(self.classes, out, strict=True)
                if inside
            ]
            others = [f"{len(some) - MOST_NAMED} more"] if len(some) > MOST_NAMED else []
            return (
                f"Of held-out rows answered like this, {low} to {high} % are {clean(wanted, 30)}. "
                f"In the {100 * self.level:g} % set: {', '.join(some[:MOST_NAMED] + others)}"
            )
        if low == high or self.low[row, k] > 0.9999 or self.high[row, k] < 0.0001:
            return f"{number} %, with an interval too narrow to show"
        thinnest = self.thinnest(row)
        between = f"{number} %, between {low} and {high}"
        return between if thinnest is None else f"{between}: {thinnest}"

    def to_dict(self) -> dict[str, object]:
        """What is known of the one row, as plain values."""
        thin = self.thinnest()
        told = {
            c: None if np.isnan(low) else {"probability": float(p), "low": float(low), "high": float(high)}
            for c, p, low, high in zip(self.classes, self.matrix[0], self.low[0], self.high[0], strict=True)
        }
        behind = None
        if thin is not None:
            behind = {"attribute": thin.attribute, "value": thin.value, "class": thin.label, "cases": thin.cases}
        if self.sets is not None:
            inside = [c for c, one in zip(self.classes, self.sets[0], strict=True) if one]
            return {"level": self.level, "by": "held-out rows", "classes": told, "set": inside}
        return {"level": self.level, "draws": self.draws, "seed": self.seed, "classes": told, "thinnest": behind}

    def __repr__(self) -> str:
        if self.one:
            return f"<Sureness: {self.words()}>"
        return f"<Sureness: {len(self)} rows, classes {', '.join(shown(c, 20) for c in self.classes[:6])}>"


def percents(*shares: float) -> list[str]:
    """Shares as percentages, with as many digits as tell them from 0, from 100 and from each other; at most two.

    >>> percents(0.63, 0.41, 0.8), percents(0.996, 0.97, 0.9999999), percents(1.0, 0.99999, 0.0)
    (['63', '41', '80'], ['99.6', '97', 'over 99.99'], ['100', 'over 99.99', '0'])
    """
    apart = len({*shares})
    least = next((d for d in range(3) if len({round(100 * s, d) for s in shares}) == apart), 2)
    if max(shares) - min(shares) > 0.02:
        least = 0
    out = []
    for share in shares:
        digits = next((d for d in range(3) if 0 < round(100 * share, d) < 100), None)
        if digits is None:
            out.append("0" if share == 0 else "100" if share == 1 else "under 0.01" if share < 0.5 else "over 99.99")
        else:
            out.append(f"{100 * share:.{max(digits, least)}f}")
    return out


def sureness(model: Model, data: object, *, level: float = 0.9, draws: int = 2000, seed: int = 0) -> Sureness:
    """An interval for the probability of each class, for one row (a dict of values) or every row of a table.

    Of a model that does not keep counts (the default, say), the interval is that of what became of held-out rows that
    were answered so, and `sets` has the classes that cannot be ruled out, as `posterior(…).intervals` and `.sets`.

    Of naive Bayes: what was counted is uncertain where rows are few. Shares of levels and of classes have Dirichlet
    posteriors, means and deviations normal-inverse-gamma ones. Parameters are drawn from them `draws` times, each time
    the posterior of the classes is worked out, and the interval holds the middle `level` of them. The draws of a row
    depend on the seed alone, not on the rows beside it.

    >>> import likely
    >>> data = {"sky": ["sun", "rain"] * 40, "play": ["y", "y", "n", "y"] * 20}
    >>> model = likely.fit(data, "play", likely.NaiveBayes())
    >>> likely.sureness(model, {"sky": "rain"}).words()
    "98 %, between 93 and 99.9: no case like this ('sky' is 'rain' in class 'n')"
    """
    level, draws, seed = _checked(level, draws, seed)
    rows, one = model.as_table(data)
    if unsure(model) and not untried(model):
        return sure_by_rows(
            join_posteriors(model.classes, [p for _, p in model.posteriors(open_source(rows))], one), level
        )
    _check_doubtful(model)
    return _Draws(model, draws, seed).sureness(model.batches(rows), level, one)


def sure_of(model: Model, batch: Batch, *, level: float = 0.9, draws: int = 2000, seed: int = 0) -> Sureness:
    """The same for a batch of one row that was read already."""
    _check_doubtful(model)
    level, draws, seed = _checked(level, draws, seed)
    return _Draws(model, draws, seed).sureness([batch], level, batch.rows == 1)


def sure_by_rows(found: Posterior, level: float) -> Sureness:
    """What held-out rows say of answers."""
    low, high = found.intervals(level)
    rows, none = len(found), np.full(len(found), -1)
    return Sureness(
        classes=found.classes,
        matrix=found.matrix,
        low=low,
        high=high,
        level=level,
        draws=0,
        seed=0,
        one=found.one,
        attribute=none,
        label=np.zeros(rows, np.intp),
        cases=np.full(rows, np.inf),
        names=(),
        behind=(),
        sets=found.sets(level),
    )


def all_sureness(model: Model, batch: Batch, level: float) -> tuple[list[Sureness], str]:
    """All that can be said of the one row of a batch, by counts and by held-out rows; if nothing, why."""
    out, why = [], unsure(model)
    if not why:
        out.append(sure_of(model, batch, level=level))
    if not untried(model):
        found = Posterior.of(model.classes, model.log_joint(batch), one=True, proper=model.proper)
        out.append(sure_by_rows(replace(found, gaps=model.gaps(batch), answered_by=model), level))
    return out, "" if out else why


def untried(model: Model) -> str:
    """Why held-out rows say nothing of this model's answers, as a sentence; empty where they do."""
    judgement = model.judgement
    return "" if judgement is not None and judgement.guarantees else UNTRIED


def unsure(model: Model) -> str:
    """Why counts give no interval for this model's probabilities, as a sentence; empty where they do."""
    if model.schema.target is None:
        return "This model is a density, so it has no class probabilities."
    if not model.factored and model.learned.factored:
        return "There is no interval where an answer is averaged over what missing cells may hold."
    if not model.factored:
        return f"{type(model.learner).__name__} does not keep what an interval needs; likely fit --judge finds it."
    strange = [f.name for f in model.factors if doubt_of(f, model.summary, 1, (0,)) is None]
    return f"The uncertainty of {shown(strange[0])} cannot be computed, so there is no interval." if strange else ""


def _check_doubtful(model: Model) -> None:
    if why := unsure(model):
        raise SettingError(why)


def _checked(level: Any, draws: Any, seed: Any) -> tuple[float, int, int]:
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < float(level) < 1:
        raise SettingError(f"level is {shown(level)}. It must be a number between 0 and 1, such as 0.9.")
    if not isinstance(draws, Integral) or isinstance(draws, bool) or not 100 <= int(draws) <= 1_000_000:
        raise SettingError(f"draws is {shown(draws)}. It must be a whole number from 100 to 1000000.")
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) < 0:
        raise SettingError(f"seed is {shown(seed)}. It must be a whole number, zero or more.")
    return float(level), int(draws), int(seed)


class _Draws:
    """The draws of one model's parameters, and what they come to for rows."""

    def __init__(self, model: Model, draws: int, seed: int) -> None:
        self.model, self.draws, self.seed = model, draws, seed
        self.prior, self.cases = self._prior()
        each = (doubt_of(f, model.summary, draws, (seed, k)) for k, f in enumerate(model.factors, 1))
        self.doubts = [doubt for doubt in each if doubt is not None]  # of every factor: `unsure` says where not

    def _prior(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draws of log P(class), up to a constant, (classes, draws), and the rows behind each; as given, if given."""
        model = self.model
        power, counted = model.powers[0], model.prior_rows
        if counted is None:
            assert model.log_prior is not None
            return np.repeat(power * model.log_prior[:, None], self.draws, axis=1), np.full(len(model.classes), np.inf)
        top, cases = counted
        shape = top + np.where(top == model.summary.total.floats(), HALF, 0.0)
        return power * log_gamma(shape, self.draws, np.random.default_rng([self.seed, 0])), cases

    def sureness(self, batches: Iterable[Batch], level: float, one: bool) -> Sureness:
        """The intervals of all rows of these batches."""
        classes, value = len(self.model.classes), None
        step = max(1, ROOM // (classes * self.draws))
        none = (*[np.empty((0, classes))] * 3, np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
        parts: list[tuple[Any, ...]] = [none]
        for batch in batches:
            parts += [
                self._part(batch.sliced(slice(start, start + step)), level) for start in range(0, batch.rows, step)
            ]
            if one and parts[-1][3][0] >= 0:
                value = _level(batch, self.doubts[parts[-1][3][0]].name)
        matrix, low, high, attribute, group, cases = (np.concatenate(c) for c in zip(*parts, strict=True))
        return Sureness(
            classes=self.model.classes,
            matrix=matrix,
            low=low,
            high=high,
            level=level,
            draws=self.draws,
            seed=self.seed,
            one=one,
            attribute=attribute,
            label=group,
            cases=cases,
            names=tuple(d.name for d in self.doubts),
            behind=tuple(d.behind for d in self.doubts),
            value=value,
        )

    def _part(self, batch: Batch, level: float) -> tuple[Any, ...]:
        found = Posterior.of(self.model.classes, self.model.log_joint(batch), one=False).matrix
        joint = np.repeat(self.prior[None], batch.rows, axis=0)
        room = [np.broadcast_to(variance(self.prior), found.shape)]
        cases = [np.broadcast_to(self.cases, found.shape)]
        for doubt, power in zip(self.doubts, self.model.powers[1:], strict=True):
            drawn = doubt.draw(batch)
            if power:
                joint += drawn.terms if power == 1.0 else power * drawn.terms
            room.append(power**2 * drawn.room)
            cases.append(drawn.cases)
        with np.errstate(invalid="ignore"):
            joint -= joint.max(axis=1, keepdims=True)
            np.exp(joint, out=joint)
            joint /= joint.sum(axis=1, keepdims=True)
        low, high = np.quantile(joint, [(1 - level) / 2, (1 + level) / 2], axis=2)
        # The number itself always lies within: a share of zero, unsmoothed, is below all that is drawn for it.
        low, high = np.minimum(low, found), np.maximum(high, found)
        undefined = found.sum(axis=1) == 0
        low[undefined] = high[undefined] = np.nan
        return found, low, high, *_thinnest(found, joint.mean(axis=2), np.stack(room), np.stack(cases))


def _thinnest(
    matrix: Matrix, mean: Matrix, room: NDArray[np.float64], cases: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """For each row the term, (factor, class), whose variance has the largest share in that of the log-odds of the most
    probable class: a term of that class counts in full, one of another by its share among the others (in the mean of
    the draws, where no class is impossible for want of a row), squared.
    """
    rows, classes = matrix.shape
    best = matrix.argmax(axis=1)
    mine = np.arange(classes) == best[:, None]
    rest = np.where(mine, 0.0, np.nan_to_num(mean))
    total = rest.sum(axis=1, keepdims=True)
    share = np.where(mine, 1.0, np.divide(rest, total, out=np.zeros_like(rest), where=total > 0))
    weighed = np.where(np.isfinite(cases), room, 0.0) * share**2
    flat = weighed.transpose(1, 0, 2).reshape(rows, -1)
    place = flat.argmax(axis=1) if flat.shape[1] else np.zeros(rows, np.intp)
    factor, group = place // classes, place % classes
    behind = cases[factor, np.arange(rows), group]
    behind = np.where(np.take_along_axis(flat, place[:, None], axis=1)[:, 0] > 0, behind, np.inf)
    return factor - 1, group, behind


def _level(batch: Batch, name: str) -> str | None:
    """The level of the first row; none where it is a number, or not a single column, or missing."""
    cells = batch.cells.get(name)
    if not isinstance(cells, Codes) or cells.codes[0] < 0:
        return None
    return str(cells.labels.names[cells.codes[0]])
