"""`decide`: rows in, actions of least expected loss out, for a batch, a table or a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np

from likely.apply.answers import AnswerStream, answer_table
from likely.apply.decide.familiar import Familiar, familiar
from likely.apply.decide.missing import HOW_AVERAGED, by_missing, unaveraged
from likely.apply.decide.priors import NewPrior, prior_of, with_prior
from likely.errors import SettingError, nearest, shown
from likely.intake.reading import Reading
from likely.machinery.arrays import Bools
from likely.machinery.presented import Presented
from likely.machinery.threads import in_order
from likely.models.contracts import Model
from likely.models.kernels import TIE
from likely.models.loss import Loss
from likely.models.model import numbered
from likely.models.posterior import UNTRIED, Matrix, Posterior, join_posteriors, why_undecided
from likely.table.formats.memory import FrameKind, to_frame
from likely.table.open import open_source
from likely.table.output.sink import decision_batch, decision_names
from likely.table.rows import Columns, MixedRow, Row
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch


# The decision: for each row the action of least expected loss. Knows probabilities and costs, no model, no table.

NONE_OF_THESE = "none of these"
"""What is said of a row that is unlike all that the model knows."""
UNDECIDED, STRANGE, UNSURE = -1, -2, -3
"""The codes of rows without an action."""


OTHER_PRIOR = (
    "Intervals and sets are those of answers under the prior of training, with missing cells taken as the model does. "
    "Leave --set and --interval out, or the prior (or --rule ml, --missing-by)."
)


class Costs:
    """The costs of a loss for some classes, as arrays (classes, actions)."""

    def __init__(self, loss: Loss, classes: Sequence[str]) -> None:
        self.loss = loss
        exact = [[Fraction(c) for c in row] for row in loss.rows(classes)]
        self.table: Matrix = np.array([[float(c) for c in row] for row in exact]).reshape(len(exact), -1)
        # What every action costs alike decides nothing. Without it (taken off exactly, so that the costliest action
        # of each class is at 0) zero-one loss compares -P(class), bit for bit what the most probable class compares.
        apart = [[float(c - most) for c in row] for row in exact for most in [max(row)]]
        self.apart: Matrix = np.array(apart).reshape(len(exact), -1)

    @property
    def span(self) -> float:
        """The most that one action may cost less than another."""
        return float(-self.apart.min()) if self.apart.size else 0.0

    def expected(self, chances: Matrix, apart: bool = False) -> Matrix:
        """Sum over classes of P(class) * cost, (rows, actions); class after class, so that no batch changes a bit."""
        costs = self.apart if apart else self.table
        out = np.zeros((len(chances), costs.shape[1]))
        for k, row in enumerate(costs):
            out += chances[:, k, None] * row
        return out


@dataclass(frozen=True, repr=False)
class Decision(Presented):
    """The action of least expected loss for each row, what each action is expected to cost, and by how much it wins.

    >>> p = Posterior.of(("cancer", "healthy"), np.log([[0.00784, 0.02976]]))
    >>> d = make_decision(p, Loss({"cancer": {"send home": 10}, "healthy": {"operate": 1}}))
    >>> d.action, round(d.expected_loss("send home"), 3), round(d.margin, 3)
    ('operate', 2.085, 1.294)
    """

    loss: Loss
    posterior: Posterior
    expected: Matrix
    """Expected loss, (rows, actions); NaN where a row has no probabilities."""
    codes: NDArray[np.intp]
    """Index of the action; the first of equals; -1 where there is none, -2 for "none of these", -3 where it is too
    unsure."""
    margins: NDArray[np.float64]
    """How much less the action costs than the second best, expected; NaN where a row has no probabilities."""

    @property
    def actions(self) -> tuple[str, ...]:
        return self.loss.actions

    @property
    def one(self) -> bool:
        return self.posterior.one

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def action(self) -> str | list[str | None] | None:
        """The action; None where a row allows none; "none of these" where it is unlike all that the model knows."""
        names = [*self.actions, None, NONE_OF_THESE, None]  # codes -3, -2 and -1 count from the end
        found = [names[c] for c in self.codes]
        return found[0] if self.one else found

    @property
    def margin(self) -> float | NDArray[np.float64]:
        return float(self.margins[0]) if self.one else self.margins

    def expected_loss(self, action: str | None = None) -> float | NDArray[np.float64]:
        """The expected loss of an action, or of the best one, for the one row or for every row."""
        if action is None:
            least = self.expected.min(axis=1) if self.expected.size else np.empty(0)
            return float(least[0]) if self.one else least
        if action not in self.actions:
            raise SettingError(f"The loss has no action {shown(action)}. {nearest(action, self.actions)}")
        column = self.expected[:, self.actions.index(action)]
        return float(column[0]) if self.one else column

    @property
    def reason(self) -> str | list[str | None] | None:
        """Why a row has no action; None where it has one."""
        names = [None, *reasons(self.posterior.proper)]
        found = [names[-min(c, 0)] for c in self.codes.tolist()]
        return found[0] if self.one else found

    def batch(self, kept: ArrowBatch | None = None) -> ArrowBatch:
        """Action, expected losses, margin and reason of every row as columns, after those of `kept`."""
        others, why = (None, NONE_OF_THESE, None), reasons(self.posterior.proper)
        return decision_batch(self.actions, others, why, self.codes, self.expected, self.margins, kept)

    def frame(self) -> Any:
        """Action, expected losses, margin and reason of every row, in the kind of frame that the rows came in, with its
        index; a pyarrow Table where they came in none (a file, a dict, a list), which has `to_pandas`.
        """
        return to_frame(self.batch(), self.posterior.frames)

    def __repr__(self) -> str:
        if not self.one:
            return f"<Decision: {len(self)} rows, actions {', '.join(shown(a, 20) for a in self.actions[:6])}>"
        if self.codes[0] < 0:
            return f"<Decision: {shown(self.action)}; {self.reason}>"
        costs = (f"{shown(a, 20)} {e:.4g}" for a, e in zip(self.actions, self.expected[0], strict=True))
        return f"<Decision: {shown(self.action, 20)}; expected loss: {', '.join(costs)}>"


class RowDecision(Decision):
    """The decision about one row: one action, one margin, one reason."""

    if TYPE_CHECKING:

        @property
        def action(self) -> str | None: ...
        @property
        def margin(self) -> float: ...
        @property
        def reason(self) -> str | None: ...
        def expected_loss(self, action: str | None = None) -> float: ...


class TableDecision(Decision):
    """The decisions about the rows of a table: actions and reasons are lists, margins and losses arrays."""

    if TYPE_CHECKING:

        @property
        def action(self) -> list[str | None]: ...
        @property
        def margin(self) -> NDArray[np.float64]: ...
        @property
        def reason(self) -> list[str | None]: ...
        def expected_loss(self, action: str | None = None) -> NDArray[np.float64]: ...


def reasons(proper: bool) -> tuple[str, str, str]:
    """Why rows have no action: codes -1, -2 and -3."""
    return (
        why_undecided(proper),
        "unlike the training rows",
        "too unsure: what is not ruled out calls for other actions",
    )


def make_decision(
    posterior: Posterior,
    loss: Loss,
    strange: NDArray[np.bool_] | None = None,
    costs: Costs | None = None,
    *,
    set_level: float | None = None,
    interval: float | None = None,
) -> RowDecision | TableDecision:
    """Decide every row of a posterior; rows that are `strange` are none of the classes. With `set_level` there is no
    action where two classes that are not ruled out call for different ones, with `interval` where the action is not the
    best one all over the intervals of the probabilities."""
    own = costs or Costs(loss, posterior.classes)
    expected, apart = own.expected(posterior.matrix), own.expected(posterior.matrix, apart=True)
    if apart.size:
        # Costs apart are all 0 or below, so their sums are off by a few units in the last place at most, and actions
        # that cost the same do so exactly.
        least = apart.min(axis=1, keepdims=True)
        apart = np.where(apart <= least * (1 - TIE), least, apart)
    codes = apart.argmin(axis=1)
    two = np.partition(apart, 1, axis=1)[:, :2] if len(apart) else np.empty((0, 2))
    margins = two[:, 1] - two[:, 0]
    undefined = posterior.undefined
    if set_level is not None:
        codes[~_agree(posterior.sets(set_level), own)] = UNSURE
    if interval is not None:
        codes[~_best_all_over(posterior.matrix, posterior.intervals(interval), own, codes)] = UNSURE
    expected[undefined], margins[undefined], codes[undefined] = np.nan, np.nan, UNDECIDED
    if strange is not None:
        codes[strange] = STRANGE
    kind = RowDecision if posterior.one else TableDecision
    return kind(loss, posterior, expected, codes, margins)


def _agree(sets: Bools, costs: Costs) -> Bools:
    """Whether all classes of each set call for the same action; not where nothing is known of a set."""
    calls = costs.apart.argmin(axis=1)
    first = np.where(sets, calls, len(calls) + len(costs.loss.actions)).min(axis=1)
    return np.asarray(sets.any(axis=1) & (np.where(sets, calls, -1).max(axis=1) == first))


def _best_all_over(chances: Matrix, bounds: tuple[Matrix, Matrix], costs: Costs, codes: NDArray[np.intp]) -> Bools:
    """Whether the action of each row costs no more than any other, whichever probabilities within the bounds are true:
    the worst case gives the classes that it costs most in as much as their bounds and the sum allow."""
    low, high = np.minimum(bounds[0], chances), np.maximum(bounds[1], chances)
    out: Bools = np.asarray(~np.isnan(bounds[0]).any(axis=1))
    for action in np.unique(codes[codes >= 0]).tolist():
        rows = np.flatnonzero((codes == action) & out)
        for other in range(costs.apart.shape[1]):
            more = costs.apart[:, action] - costs.apart[:, other]
            room, left = (high - low)[rows], 1 - low[rows].sum(axis=1)
            worst = low[rows] @ more
            for k in np.argsort(-more, kind="stable"):
                given = np.minimum(room[:, k], left)
                worst, left = worst + given * more[k], left - given
            out[rows[worst > TIE * costs.span]] = False
    return np.asarray(out)


def together(parts: Sequence[Decision], loss: Loss, classes: tuple[str, ...], one: bool) -> Decision:
    """Decisions about consecutive batches as one."""
    posterior = join_posteriors(classes, [p.posterior for p in parts], one)
    if not parts:
        return make_decision(posterior, loss)
    arrays = (np.concatenate([getattr(p, name) for p in parts]) for name in ("expected", "codes", "margins"))
    return (RowDecision if one else TableDecision)(loss, posterior, *arrays)


# `decide`: rows in, actions out. Puts together prior, missing cells, loss and rows like no other; scores batches.

Rule: TypeAlias = Literal["loss", "map", "ml"]
RULES = ("loss", "map", "ml")
GivenLoss: TypeAlias = Loss | Mapping[str, object] | None


@dataclass(frozen=True)
class Decider:
    """A model with all that makes decisions of its probabilities."""

    model: Model
    """As it decides: under the new prior, with missing cells taken as was said."""
    loss: Loss
    rule: str = "loss"
    old: tuple[Fraction, ...] = ()
    new: tuple[Fraction, ...] = ()
    """P(class) in the model, and as it is decided by."""
    familiar: Familiar | None = None
    notes: tuple[str, ...] = ()
    set_level: float | None = None
    interval: float | None = None

    def decisions(self, source: Source, columns: list[str] | None = None) -> Iterator[tuple[Any, Decision]]:
        """Each Arrow batch of a source with its decision, in order; several threads score."""
        model, costs = self.model, Costs(self.loss, self.model.classes)

        def scored(item: tuple[int, Any]) -> tuple[Any, Decision]:
            start, arrow = item
            batch, found = model.read(source.trim(arrow), start)
            strange = None
            if self.familiar is not None:
                same = self.familiar.model is model
                strange = self.familiar.strange(batch, found.log_evidence if same else None)
            how = {"set_level": self.set_level, "interval": self.interval}
            return arrow, make_decision(found, self.loss, strange, costs, **how)

        wanted = model.columns_in(source)
        yield from in_order(numbered(source.as_written().batches(wanted if columns is None else columns)), scored)

    def decide(self, data: object) -> Decision:
        """Decide one row (a dict of values) or every row of a table."""
        data, one = self.model.as_table(data)
        parts = [found for _, found in self.decisions(open_source(data))]
        found = together(parts, self.loss, self.model.classes, one)
        return replace(found, posterior=replace(found.posterior, frames=FrameKind.of(data)))


def decider(
    model: Model,
    loss: Loss | Mapping[str, object] | None = None,
    *,
    rule: Rule = "loss",
    prior: NewPrior | None = None,
    missing_by: str | None = None,
    unlike: float | None = None,
    training: object = None,
    seed: int = 0,
    set_level: float | None = None,
    interval: float | None = None,
) -> Decider:
    """Check everything and put it together; `decide` says what each part is."""
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to decide about. See `likely score`.")
    chosen = chosen_loss(model.classes, model.loss, loss, rule)
    if rule == "ml" and prior is not None:
        raise SettingError("Maximum likelihood treats all classes as equally probable, so it takes no prior.")
    if training is not None and unlike is None:
        raise SettingError("Training rows are only used to detect unlike rows. Give the share: unlike.")
    taken, old = by_missing(model, missing_by), prior_of(model)
    given: NewPrior | None = "uniform" if rule == "ml" else prior
    if given is not None:
        taken = with_prior(taken, given)
    known = None
    if unlike is not None:
        # The density of a row without its missing cells, also where the class is averaged over what they may hold.
        plain = taken if missing_by != "averaged" else with_prior(model, given) if given is not None else model
        known = familiar(plain, unlike, training, seed)
    if (set_level is not None or interval is not None) and taken.judgement is None:
        raise SettingError(UNTRIED if model.judgement is None else OTHER_PRIOR)
    own = missing_by == "averaged" and model.references is None
    notes = [HOW_AVERAGED, unaveraged(model)] if own else []
    notes = [note for note in [*notes, "" if known is None else known.told] if note]
    return Decider(
        taken,
        chosen,
        rule,
        old,
        prior_of(taken) if given is not None else old,
        known,
        tuple(notes),
        set_level,
        interval,
    )


def chosen_loss(
    classes: tuple[str, ...], own: Loss | None, given: Loss | Mapping[str, object] | None, rule: str = "loss"
) -> Loss:
    """The loss that was given, else the model's own, else zero-one; the most probable class has no other."""
    if rule not in RULES:
        raise SettingError(f"There is no rule {shown(rule)}. Choose one of {', '.join(RULES)}.")
    if rule != "loss":
        if given is not None:
            raise SettingError(f"The rule {rule} names the most probable class whatever it costs. Leave the loss out.")
        return Loss.zero_one(classes)
    found = own if given is None else Loss.of(given)
    if found is None:
        return Loss.zero_one(classes)
    found.check(classes)
    return found


class DecisionOptions(TypedDict, total=False):
    """How `decide` decides, besides the loss; its docstring says what each is."""

    rule: Rule
    prior: NewPrior | None
    missing_by: str | None
    unlike: float | None
    training: object
    seed: int
    set_level: float | None
    interval: float | None


# A str has a length as columns have, and any dict is an object: the first signature that fits is the one.
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: Row, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> RowDecision: ...
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: Columns, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> TableDecision: ...
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: MixedRow, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> RowDecision: ...
@overload
def decide(
    model: Posterior,
    data: None = None,
    loss: GivenLoss = None,
    *,
    rule: Rule = "loss",
    set_level: float | None = None,
    interval: float | None = None,
) -> Decision: ...
@overload
def decide(model: Model, data: object, loss: GivenLoss = None, **how: Unpack[DecisionOptions]) -> TableDecision: ...
def decide(
    model: Model | Posterior,
    data: object = None,
    loss: Loss | Mapping[str, object] | None = None,
    *,
    rule: Rule = "loss",
    prior: NewPrior | None = None,
    missing_by: str | None = None,
    unlike: float | None = None,
    training: object = None,
    seed: int = 0,
    set_level: float | None = None,
    interval: float | None = None,
) -> Decision:
    """The action of least expected loss for one row (a dict) or every row of a table, or for a posterior.

    - `loss`: what each action costs in each class; the model's own, or zero-one, where none is given.
    - `rule`: "loss"; "map" (the most probable class, which is zero-one loss); "ml" (maximum likelihood: the same with
      the prior divided out).
    - `prior`: class priors where they differ from training's; classes that are not named share the rest.
    - `missing_by`: "left-out", "averaged" or "informative"; None takes missing cells as the model does.
    - `unlike`: a share; rows less probable than all but this share of `training` (or of rows drawn from the model with
      `seed`) are "none of these".
    - `set_level`: no action where two classes that are not ruled out at this level call for different ones.
    - `interval`: no action where another would be better somewhere in the intervals of probabilities at this level.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> decide(model, {"sky": "sun"}, {"n": {"go": 9}, "y": {"stay": 1}}).action
    'stay'
    """
    if isinstance(model, Posterior):
        asked = {"data": data, "prior": prior, "missing_by": missing_by, "unlike": unlike, "training": training}
        for name, value in asked.items():
            if value is not None:
                raise SettingError(f"A posterior alone does not know its model, which {name} needs. Give the model.")
        if rule == "ml":
            raise SettingError("A posterior alone does not know its prior, so none can be divided out. Give the model.")
        own = chosen_loss(model.classes, None, loss, rule)
        return make_decision(model, own, set_level=set_level, interval=interval)
    rest: dict[str, Any] = {"missing_by": missing_by, "unlike": unlike, "training": training, "seed": seed}
    how = decider(model, loss, rule=rule, prior=prior, set_level=set_level, interval=interval, **rest)
    return how.decide(data)


# Decisions about a whole table, streamed from a source to a file, to standard output or to whoever asks.


@dataclass(frozen=True)
class DecidedRows:
    """What happened on the way: rows, how often each action was chosen, and remarks for people."""

    rows: int
    chosen: dict[str, int]
    undecided: int
    strange: int
    unsure: int
    remarks: tuple[str, ...]


class DecisionStream(AnswerStream[Decision]):
    """The action of each row, with what each action is expected to cost; `each` is handed those of every batch."""

    def __init__(self, how: Decider, each: Callable[[Decision], None] | None = None) -> None:
        super().__init__(how.model)
        self.how, self.names, self._each = how, decision_names(how.loss.actions), each
        self.times = np.zeros(len(how.loss.actions), np.int64)
        self.undecided = self.strange = self.unsure = 0

    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, Decision]]:
        return self.how.decisions(source, columns)

    def add(self, answer: Decision) -> None:
        if self._each is not None:
            self._each(answer)
        self.mismatches.add(answer.posterior)
        self.times += np.bincount(answer.codes[answer.codes >= 0], minlength=len(self.times))
        self.undecided += int((answer.codes == UNDECIDED).sum())
        self.strange += int((answer.codes == STRANGE).sum())
        self.unsure += int((answer.codes == UNSURE).sum())

    def empty(self) -> Decision:
        return make_decision(Posterior.of(self.model.classes, np.empty((0, len(self.model.classes)))), self.how.loss)

    def columns(self, answer: Decision, kept: ArrowBatch | None) -> ArrowBatch:
        return answer.batch(kept)

    def decided(self) -> DecidedRows:
        """What all rows come to."""
        proper = self.model.proper
        remarks = [*self.how.notes, *self.mismatches.remarks()]
        if not proper and self.rows:
            name = type(self.model.learner).__name__
            remarks.append(f"{name} outputs scores, not probabilities, so expected losses are rough.")
        for count, reason in zip((self.undecided, self.strange, self.unsure), reasons(proper), strict=True):
            if count:
                number = "1 row has" if count == 1 else f"{count:,} rows have"
                remarks.append(f"{number} no action of the loss: {reason}.")
        chosen = dict(zip(self.how.loss.actions, self.times.tolist(), strict=True))
        return DecidedRows(self.rows, chosen, self.undecided, self.strange, self.unsure, tuple(remarks))


def decide_table(
    how: Decider,
    data: object,
    path: str | None,
    reading: Reading | None = None,
    *,
    keep: bool = False,
    each: Callable[[Decision], None] | None = None,
    quote_formulas: bool = False,
) -> DecidedRows:
    """Write the action of every row of `data`, with what each action is expected to cost; without a path, to standard
    output. With `each` nothing is written: it is handed the decision of every batch. `quote_formulas` is as in
    `predict_table`.
    """
    written = None if each is not None else "-" if path is None else path
    done = answer_table(
        lambda: DecisionStream(how, each),
        data,
        written,
        reading or Reading(),
        keep=keep,
        once=each is not None,
        quote_formulas=quote_formulas,
    )
    return done.decided()
