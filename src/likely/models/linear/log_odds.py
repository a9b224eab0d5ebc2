"""What logistic regression ends in: P(class | row) by weights on the columns of a design, measured from the prior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Learner, Model, work_terms
from likely.models.factors.bins import read_tally
from likely.models.fractions import log_of
from likely.models.linear.design import Curves, Design, constant_notes, exhibit, hyperplane, plane_exhibit
from likely.models.linear.least_squares import output_steps
from likely.models.linear.squares import mix_outputs, plane_between
from likely.models.posterior import Posterior
from likely.models.prior import prior_quotients
from likely.models.shapes import BinTable, Curve, Exhibit, LevelTable, Normalised, Plane, Slope, Sum
from likely.models.working.records import Working, clean, signed
from likely.models.working.working import added
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import Labels

if TYPE_CHECKING:
    Part = TypeVar("Part", bound=Slope | Curve | BinTable | LevelTable)


# Terms of logistic regression measured from the prior: what a value says against not knowing it.


def measure_from_prior(
    parts: Sequence[Part], constant: Floats, log_prior: Floats, summary: Summary, missing_is_evidence: bool
) -> tuple[Part, ...]:
    """The terms, each less an offset, so that log prior + their sum is constant + the sum of those that were given.

    The offset of a term is its mean over the training rows, less its share of (constant + all means - log prior): the
    mean of log-odds is not the log-odds of the mean. Shares go by the variance of what a term says; they are equal
    where no term says different things of different rows. (Up to what is the same for all classes, and rounding.)
    """
    if not parts:
        return ()
    complete = [_with_all_levels(part, summary) for part in parts]
    told = [_training_values(part, summary, len(constant), missing_is_evidence) for part in complete]
    means = [(share[:, None] * said).sum(axis=0) for said, share in told]
    gap = constant + np.sum(means, axis=0) - log_prior
    gap = gap - gap.mean()
    apart = [said - mean for (said, _), mean in zip(told, means, strict=True)]
    largest = max((float(np.abs(off).max(initial=0.0)) for off in apart), default=0.0)
    unit = largest if largest > 0 else 1.0  # squares of it overflow where weights are huge, and vanish where tiny
    strength = [float((share[:, None] * (off / unit) ** 2).sum()) for off, (_, share) in zip(apart, told, strict=True)]
    whole = sum(strength)
    by = [own / whole if whole > 0 else 1 / len(parts) for own in strength]
    return tuple(
        _shifted(part, mean - each * gap, missing_is_evidence and _had_missing(part, summary))
        for part, mean, each in zip(complete, means, by, strict=True)
    )


def _with_all_levels(part: Part, summary: Summary) -> Part:
    """With a row for every level of training: the one that others are measured from has no weight, but is known."""
    if not isinstance(part, LevelTable):
        return part
    own = part.labels
    names = [*own.names, *sorted({*summary.column(part.name, Counts).labels.names} - own.index.keys())]
    table = np.zeros((len(names) + 2, part.log_table.shape[1]))
    table[: len(own)] = part.log_table[: len(own)]
    return replace(part, labels=Labels(names), log_table=table)


def _had_missing(part: Slope | Curve | BinTable | LevelTable, summary: Summary) -> bool:
    """Whether a missing cell has a weight of its own, since training had such cells. Levels never have one."""
    statistic = summary.columns[part.name]
    return isinstance(statistic, Numbers) and not statistic.other.is_zero().all()


def _training_values(
    part: Slope | Curve | BinTable | LevelTable, summary: Summary, classes: int, missing_is_evidence: bool
) -> tuple[Floats, Floats]:
    """What an attribute says of each value of training, (values, classes), and the share of rows that have it.

    A missing cell is one more value where it is evidence; else rows without a value have no share. Products of two
    numbers are left aside: how often values meet is not kept.
    """
    if isinstance(part, LevelTable):
        counts = summary.column(part.name, Counts)
        weight = counts.table[: len(counts.labels)].sum(1).floats()
        said = part.log_table[[part.labels.index[name] for name in counts.labels.names]]
    else:
        numbers = summary.column(part.name, Numbers)
        tally = read_tally(numbers)
        gone = numbers.other.sum(1).floats().sum() if missing_is_evidence else 0.0
        weight = np.append(tally.whole, gone)
        cells = np.append(tally.centres, np.nan)
        said = np.zeros((len(cells), classes))
        part.add_cells(cells, said)
    whole = weight.sum()
    return said, weight / whole if whole > 0 else weight


def _shifted(part: Part, offset: Floats, missing_is_evidence: bool) -> Part:
    """The term less an offset; exactly 0 where a cell is unknown."""
    nothing = np.zeros_like(offset)
    if isinstance(part, (LevelTable, BinTable)):
        table = part.log_table - offset
        table[-2 if isinstance(part, LevelTable) else -1 :] = nothing
        if missing_is_evidence:
            table[-1] = part.log_table[-1] - offset
        return replace(part, log_table=table)
    absent = part.absent - offset if missing_is_evidence else nothing
    return replace(part, known=part.known - offset, absent=absent)


# What logistic regression ends in: P(class | row) by weights on the columns of a design. Knows no search.

FACTS = ("sweeps", "log_likelihood", "gradient")
"""How a search ended."""
WEIGHT = 2.0**-28
"""Weights are multiples of this: sums of floats differ in their last bits where rows come in another order, or in other
pieces, and so would the weights. Of standard deviations, it is far less than any table tells."""
SEPARABLE = "The classes are perfectly separable: only the ridge penalty keeps the weights finite."


class LogisticSettings(Learner, Protocol):
    """What a search for the maximum of a penalised log-likelihood goes by."""

    @property
    def ridge(self) -> float: ...
    @property
    def max_sweeps(self) -> int: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def missing(self) -> str: ...


def log_odds_model(
    learner: LogisticSettings,
    design: Design | Curves,
    weights: Floats,
    facts: dict[str, float],
    remarks: tuple[str, ...],
) -> Model:
    """P(class | row) itself: the model says nothing of how rows come about, so `log_joint` is log P(class | row), and
    log_evidence is 0 (up to rounding) for every row.

    log P(class | row) = log P(class) + sum of what each value says against not knowing it, normalised. What is unknown
    adds 0: with nothing known the answer is the prior, the shares of the classes in training. `weights` (columns of the
    design, classes) are the regression as textbooks write it; the terms are the same, measured from the prior.
    """
    summary = design.summary
    prior = prior_quotients(summary, "observed", 0.0)
    log_prior = log_of(prior)
    parts: tuple[Any, ...] = design.parts(weights)
    measured = measure_from_prior(parts, weights[0], log_prior, summary, learner.missing == "level")
    return Model(
        learner=learner,
        summary=summary,
        score=Normalised(Sum(log_prior, measured)),
        prior=prior,
        log_prior=log_prior,
        notes=(*constant_notes(design.left_out), *remarks),
        weights=weights,
        facts=facts,
        details={"design": design, "parts": measured},
        state={"weights": weights, "facts": dict(facts), "remarks": list(remarks)} if facts else {},
        ledger_note="Logistic fits all weights together: each line is what a value adds to the others, compared with "
        "not knowing it. On its own it might say more or less.",
        show=_show_weights,
        work=_work_log_odds,
        divide=_divide_classes if isinstance(design, Design) else None,
    )


def searched_model(
    learner: LogisticSettings,
    design: Design | Curves,
    theta: Floats,
    sweeps: int,
    likelihood: float,
    gradient: Floats,
    *remarks: str,
) -> Model:
    """The model at the end of a search: weights (columns, classes), which are centred over the classes."""
    largest = float(np.abs(gradient).max(initial=0.0))
    # Both are sums over the rows, and off by so much of the larger one.
    unit = 2.0 ** (math.frexp(1 + abs(likelihood))[1] - 33) if math.isfinite(likelihood) else 0.0
    figures = (round_to(likelihood, unit), round_to(largest, unit))
    facts = dict(zip(FACTS, (float(sweeps), *figures), strict=True))
    centred = np.ascontiguousarray(round_to(theta - theta.mean(axis=1, keepdims=True), WEIGHT))
    return log_odds_model(learner, design, centred, facts, tuple(remark for remark in remarks if remark))


def _divide_classes(model: Model, first: str, second: str) -> Plane:
    """Where both classes are as probable, all cells being known."""
    parts: Any = model.details["design"].parts(model.weights)
    a, b = model.classes.index(first), model.classes.index(second)
    return plane_between(model.weights[0], parts, a, b, (first, second))


def _work_log_odds(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
    """Of two classes the log-odds as books write them, constant + weight × value; of more, such a sum for each class.

    Where cells are unknown the answer is an average over what they may hold, and curves are no lines: then the terms.
    """
    design, classes = model.details["design"], model.classes
    if not isinstance(design, Design) or len(classes) < 2:
        return work_terms(model, batch, row, posterior)
    parts: Any = design.parts(model.weights)
    constant, names = model.weights[0], classes
    if len(classes) == 2:
        turn = np.array([[-1.0], [1.0]])
        constant, parts = constant @ turn, tuple(mix_outputs(part, turn) for part in parts)
        names = (f"{classes[1]} / {classes[0]}",)
    steps = output_steps(names, constant, parts, batch, row)
    sums = np.array([sum(float(step.values[name]) for step in steps) for name in names], np.float64)
    sums = np.array([0.0, sums[0]]) if len(classes) == 2 else sums
    near = np.allclose(np.exp(sums - np.logaddexp.reduce(sums)), posterior.matrix[0], rtol=1e-9, atol=1e-12)
    if not near or any(step.cell is None for step in steps[1:]):
        return work_terms(model, batch, row, posterior)
    if len(classes) > 2:
        softmax = "P(class | x) = exp(g(class)) / the sum of exp(g) over the classes; logs are natural."
        return added(classes, steps, posterior, sign="g({})", remarks=[softmax])
    odds, label = signed(float(sums[1])), clean(classes[1])
    logistic = f"P({label} | x) = 1 / (1 + exp(−({odds}))) = {posterior.matrix[0, 1]:.4g}; logs are natural."
    return added(classes, steps, posterior, sign="log-odds({})", names=names, remarks=[logistic])


def _show_weights(model: Model) -> tuple[Exhibit, ...]:
    """The weights in the attributes' own units, for two classes the hyperplane, and how the search ended."""
    two, design = len(model.classes) == 2, model.details["design"]
    title = "Weights of each class (nats): log P(class | row) against its mean over the classes"
    weights, names = model.weights, model.classes
    if two:  # centred, the weights of each are half of the log-odds
        title = f"Weights of the log-odds of {shown(names[1], 30)[1:-1]} against {shown(names[0], 30)[1:-1]} (nats)"
        weights, names = weights[:, 1:] - weights[:, :1], ("weight",)
    if isinstance(design, Curves):
        tables = [design.exhibit(title, names, weights)]
    else:
        turn = np.array([[-1.0], [1.0]])
        parts: Any = design.parts(model.weights)
        mixed: Any = tuple(mix_outputs(part, turn) for part in parts) if two else parts
        tables = [exhibit(title, names, weights[0], mixed)]
        if two:
            tables.append(plane_exhibit(hyperplane(float(weights[0, 0]), mixed, 0), model.classes[1]))
    units = {"log_likelihood": ", nats"}
    rows = tuple((name.replace("_", "-") + units.get(name, ""), value) for name, value in model.facts.items())
    if rows:
        tables.append(Exhibit("How the search stopped", ("what", "value"), rows))
    return tuple(tables)


def round_to(values: Any, unit: float) -> Any:
    """Multiples of a unit, where a double has digits below it; no minus zero."""
    if not unit:
        return values
    coarse = np.where(np.abs(values) < unit * 2.0**52, np.rint(np.divide(values, unit)) * unit, values) + 0.0
    return coarse if np.ndim(values) else float(coarse)
