"""The decision: for each row the action of least expected loss. Knows probabilities and costs, no model, no table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.models.kernels import TIE
from likely.models.posterior import Matrix, Posterior, join_posteriors, why_undecided
from likely.probability.loss import Loss
from likely.table.formats.frames import to_frame
from likely.table.output.sink import decision_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

NONE_OF_THESE = "none of these"
"""What is said of a row that is unlike all that the model knows."""
UNDECIDED, STRANGE = -1, -2
"""The codes of rows without an action."""


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


@dataclass(frozen=True)
class Decision:
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
    """Index of the action; the first of equals; -1 where there is none, -2 for "none of these"."""
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
        names = [*self.actions, NONE_OF_THESE, None]  # codes -2 and -1 count from the end
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
        others, why = (None, NONE_OF_THESE), reasons(self.posterior.proper)
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


def reasons(proper: bool) -> tuple[str, str]:
    """Why rows have no action: codes -1 and -2."""
    return why_undecided(proper), "unlike the training rows"


def make_decision(
    posterior: Posterior, loss: Loss, strange: NDArray[np.bool_] | None = None, costs: Costs | None = None
) -> RowDecision | TableDecision:
    """Decide every row of a posterior; rows that are `strange` are none of the classes."""
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
    expected[undefined], margins[undefined], codes[undefined] = np.nan, np.nan, UNDECIDED
    if strange is not None:
        codes[strange] = STRANGE
    kind = RowDecision if posterior.one else TableDecision
    return kind(loss, posterior, expected, codes, margins)


def together(parts: Sequence[Decision], loss: Loss, classes: tuple[str, ...], one: bool) -> Decision:
    """Decisions about consecutive batches as one."""
    posterior = join_posteriors(classes, [p.posterior for p in parts], one)
    if not parts:
        return make_decision(posterior, loss)
    arrays = (np.concatenate([getattr(p, name) for p in parts]) for name in ("expected", "codes", "margins"))
    return (RowDecision if one else TableDecision)(loss, posterior, *arrays)
