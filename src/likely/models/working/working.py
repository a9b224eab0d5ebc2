"""Workings of products and sums: the arithmetic of one answer, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models.fractions import Quotient, invert, readable
from likely.models.posterior import Posterior
from likely.models.shapes import (
    BinTable,
    Block,
    Density,
    Exhibit,
    JointTable,
    LevelTable,
    MultivariateNormal,
    Presence,
    WordWeights,
    bin_of,
)
from likely.models.working.records import MOST_STEPS, Quantity, Step, Value, Working, clean, exp, multiply, signed
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import label

if TYPE_CHECKING:
    Values = tuple[Quotient | float, ...] | None


# What goes into a normal density at one row: the point, means, spreads, the determinant and the distance.

WIDE = 6
"""More numbers than this and a covariance does not fit on a board."""


def normal_quantities(
    joint: MultivariateNormal, x: Floats, logs: Floats, classes: tuple[str, ...]
) -> tuple[Quantity, ...]:
    """How the density of several numbers comes about at the point `x`, of which some may not be known.

    f(x) = exp(−d²/2) / √((2π)^k |S|), d² = (x − m)ᵀ S⁻¹ (x − m), over the k numbers that are there. `logs` are the log
    densities that the model gives, so that d² is what it went by.
    """
    places = np.flatnonzero(np.isfinite(x))
    if not len(places):
        return ()
    size = len(places)
    point = ", ".join(clean(joint.names[k]) for k in places)
    correlation = joint.correlation[:, places[:, None], places[None, :]]
    with np.errstate(over="ignore"):  # infinite where a double does not reach
        units = joint.deviation[:, places, None] * joint.deviation[:, None, places]
        covariance = np.multiply(correlation, units, out=np.zeros_like(units), where=correlation != 0)
    volumes = [volume for _, volume in joint.whitened(places)]
    log_determinant = [2 * v - size * math.log(2 * math.pi) for v in volumes]
    distance = [-2 * (float(log) + v) for log, v in zip(logs, volumes, strict=True)]
    determinants: list[Value] = [_power(v) for v in log_determinant]
    distances: list[Value] = [*distance]

    def by_class(values: list[Value]) -> dict[str, Value]:
        return dict(zip(classes, values, strict=True))

    out = [Quantity(f"x = ({point})", {"": _vector(x[places].tolist())})]
    if size <= WIDE:
        same = bool((covariance == covariance[:1]).all()) and len(classes) > 1
        means, apart, matrices, inverses = (list[Value]() for _ in range(4))
        for k in range(len(classes)):
            mean, off, matrix, inverse, exact = _density_parts(joint, x[places].tolist(), places.tolist(), k)
            means.append(_vector(mean))
            apart.append(_vector(off))
            matrices.append(tuple(map(_vector, matrix)))
            inverses.append(tuple(map(_vector, inverse)))
            if exact is not None:
                determinants[k], distances[k] = exact
        out.append(Quantity("mean m", by_class(means)))
        out.append(Quantity("x − m", by_class(apart)))
        out.append(Quantity("covariance S", {"": matrices[0]} if same else by_class(matrices)))
        out.append(Quantity("inverse S⁻¹", {"": inverses[0]} if same else by_class(inverses)))
    out.append(Quantity("determinant |S|", by_class(determinants)))
    out.append(Quantity("d² = (x − m)ᵀ S⁻¹ (x − m)", by_class(distances)))
    density = [_power(float(log)) for log in logs]
    out.append(Quantity(f"f(x | class) = exp(−d²/2) / √((2π)^{size} |S|)", by_class(density)))
    return tuple(out)


def _density_parts(
    joint: MultivariateNormal, x: list[float], places: list[int], k: int
) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any], tuple[Fraction, Fraction] | None]:
    """Mean, x − m, S and S⁻¹ of one class over the numbers at `places`; with |S| and d² where all are fractions."""
    moments = joint.exact[k] if joint.exact else None
    if moments is None:
        at = np.ix_(places, places)
        with np.errstate(all="ignore"):  # infinite where a double does not reach
            unit = np.multiply.outer(joint.deviation[k, places], joint.deviation[k, places])
            inverse = np.linalg.inv(joint.correlation[k][at]) / unit
            off = np.array(x) - joint.mean[k, places]
        return joint.mean[k, places].tolist(), off.tolist(), joint.covariance[k][at].tolist(), inverse.tolist(), None
    mean, matrix = [moments[0][i] for i in places], [[moments[1][i][j] for j in places] for i in places]
    rows, determinant = invert(matrix)
    apart = [Fraction(v) - m for v, m in zip(x, mean, strict=True)]
    distance = sum((d * e * s for d, row in zip(apart, rows, strict=True) for e, s in zip(apart, row, strict=True)),
                   Fraction(0))  # fmt: skip
    return mean, apart, matrix, rows, (determinant, distance)


def number_quantities(factor: Density, classes: tuple[str, ...]) -> tuple[Quantity, ...]:
    """Mean and deviation of one number in each class, where its density is normal."""
    if factor.kernels is not None:
        width = dict(zip(classes, factor.kernels.bandwidth.tolist(), strict=True))
        return (Quantity(f"{clean(factor.name)}: bandwidth of its kernels", width),)
    both = [*zip(factor.normal.mean.tolist(), factor.normal.deviation.tolist(), strict=True)]
    pairs: dict[str, Value] = {name: pair for name, pair in zip(classes, both, strict=True)}
    return (Quantity(f"{clean(factor.name)}: mean and sd", pairs),)


def _vector(values: Sequence[Fraction | float]) -> tuple[Value, ...]:
    return tuple(map(readable, values))


def _power(log: float) -> Value:
    """e**log, or the power of ten in words where a double does not hold it."""
    return math.exp(log) if -700 < log < 700 else f"10^{log / math.log(10):.2f}" if math.isfinite(log) else 0.0


# What the words of a text come to: its count vector, θ of each word as it was counted, and the orders of its words.

EXACT = 60
"""A product of more words than this is a decimal: nobody reads such a fraction."""


class WordsOfText(NamedTuple):
    """P(words | class) without the orders of the words, exact where they are few; and what went into it."""

    values: tuple[Quotient, ...] | None
    quantities: tuple[Quantity, ...]


def text_quantities(factor: WordWeights, cells: Texts, classes: tuple[str, ...]) -> WordsOfText:
    """The count vector of a text, θ of its words, and what they come to; nothing where θ are no probabilities."""
    vocabulary, settings = factor.scores.vocabulary, factor.settings
    found = [(word, k, times) for word, k, times in factor.scores.words(cells.text(0)) if k >= 0]
    if not len(vocabulary) or factor.word_quotients(0) is None:
        return WordsOfText(None, ())
    bernoulli = settings.model == "bernoulli"
    name, there = clean(factor.name), {k for _, k, _ in found}
    few = (len(vocabulary) if bernoulli else len(found)) <= EXACT
    if bernoulli and few:  # what is not there counts as well
        found += [(vocabulary[k], k, 0) for k in range(len(vocabulary)) if k not in there]
    words = sorted(found, key=lambda word: word[1])
    counts: Value = tuple(f"{clean(word)} {min(t, 1) if bernoulli else t}" for word, _, t in words[:MOST_STEPS])
    more = f" and {len(words) - MOST_STEPS} more" if len(words) > MOST_STEPS else ""
    kind = "words there (1) or not (0)" if bernoulli else "count vector"
    out = [Quantity(f"{name}: {kind}{more}", {"": counts})]
    table = {k: factor.word_quotients(k) or () for _, k, _ in words}
    for word, k, _ in words[:MOST_STEPS]:
        out.append(Quantity(f"θ({clean(word)})", dict(zip(classes, table[k], strict=True))))
    if not few:
        return WordsOfText(None, tuple(out))
    if bernoulli:
        each = [[_there(table[k][c], times) for _, k, times in words] for c in range(len(classes))]
        values = tuple(_product(some) for some in each)
        formula = "product of θ of words there, 1 − θ of words not there"
        out.append(Quantity(f"P({name} | class) = {formula}", _values(classes, values)))
        return WordsOfText(values, tuple(out))
    each = [[table[k][c] for _, k, times in words for _ in range(times)] for c in range(len(classes))]
    values = tuple(_product(some) for some in each)
    times = [t for _, _, t in words]
    orders = factorial(sum(times)) // prod(factorial(t) for t in times)
    below = "·".join(f"{t}!" for t in times) or "1"
    told = "the same for all classes, so left out of L"
    out.append(Quantity(f"orders of the words ({told}): {sum(times)}!/({below})", {"": orders}))
    powers = " × ".join(f"θ({clean(w)})" + (f"^{t}" if t > 1 else "") for w, _, t in words[:MOST_STEPS]) or "1"
    whole = tuple(Quotient(orders * v.top, v.bottom) for v in values)
    out.append(Quantity(f"P({name} | class) = {orders} × {powers}", _values(classes, whole)))
    return WordsOfText(values, tuple(out))


def _there(theta: Quotient, times: int) -> Quotient:
    return theta if times else Quotient(theta.bottom - theta.top, theta.bottom)


def _product(some: Sequence[Quotient]) -> Quotient:
    """One quotient, reduced: of many words neither part can be read."""
    whole = prod((q.value for q in some), start=Fraction(1))
    return Quotient(Fraction(whole.numerator), Fraction(whole.denominator))


def _values(classes: tuple[str, ...], values: Sequence[Quotient]) -> dict[str, Value]:
    return dict(zip(classes, (v.value for v in values), strict=True))


# The factor of one attribute, or of several together, in the working of a product: its value, its cell, what goes
# in.


class FactorValue(NamedTuple):
    """P(cells | class) for each class (None: left out), what is special about the cells, and what goes into it."""

    values: Values
    note: str
    cell: str | None
    cells: tuple[tuple[str, str | None], ...] = ()
    quantities: tuple[Quantity, ...] = ()


def factor_value(
    factor: object, batch: Batch, logs: Floats, row: Mapping[str, object], classes: tuple[str, ...]
) -> FactorValue:
    """The factor at one row, `logs` being what it added to the score of each class."""
    if isinstance(factor, Block):
        return block_value(factor.joint, batch, logs, row, classes, factor.presence)
    if isinstance(factor, (JointTable, MultivariateNormal)):
        return block_value(factor, batch, logs, row, classes)
    name: str = factor.name  # type: ignore[attr-defined]
    cells = batch.cells[name]
    values, note, quantities = _cell_value(factor, cells, logs, classes)
    cell = label(row.get(name))
    note = note and f"{shown(name)} {note.format(shown(cell))}"
    return FactorValue(values, note, None if _is_missing(cells) else cell, (), quantities)


def _is_missing(cells: Codes | Texts | Floats) -> bool:
    if isinstance(cells, Texts):
        return bool(cells.starts[0] == cells.ends[0])
    return bool(cells.codes[0] == MISSING_CODE) if isinstance(cells, Codes) else bool(np.isnan(cells[0]))


def _densities(logs: Floats) -> tuple[float, ...] | None:
    """What logs are logs of; None where all of them are 0, which is how a factor is left out."""
    return tuple(map(exp, logs.tolist())) if logs.any() else None


def _cell_value(
    factor: object, cells: Any, logs: Floats, classes: tuple[str, ...]
) -> tuple[Values, str, tuple[Quantity, ...]]:
    """P(cell | class) for each class (None: left out), and what is special about the cell."""
    match factor:
        case LevelTable():
            return *_level_step(factor, cells, logs), ()
        case WordWeights():
            return _text_step(factor, cells, logs, classes)
        case BinTable():
            return *_bin_step(factor, cells, logs), ()
        case Density():
            values, note = _number_step(factor, cells, logs)
            return values, note, number_quantities(factor, classes) if np.isfinite(cells[0]) else ()
    return _densities(logs), "", ()


def _level_step(factor: LevelTable, cells: Codes, logs: Floats) -> tuple[Values, str]:
    code = int(factor.translated(cells)[0])
    values = factor.quotients(code) or _densities(logs)
    if code == MISSING_CODE:
        return values, "is missing: left out." if values is None else "is missing, which counts as a level."
    if code == UNSEEN_CODE:
        rest = "left out." if values is None else "it gets the share reserved for other levels."
        return values, "has the level {}, which training did not have: " + rest
    return values, ""


def _bin_step(factor: BinTable, cells: Floats, logs: Floats) -> tuple[Values, str]:
    code, levels = int(bin_of(factor.starts, cells)[0]), factor.levels
    values = (None if levels is None else levels.quotients(code)) or _densities(logs)
    if code >= 0:
        return values, "" if levels is None else f"falls into the bin {shown(levels.labels.names[code])}."
    why = "is missing" if np.isnan(cells[0]) else "is infinite"
    return values, f"{why}: left out." if values is None else f"{why}, which counts as a level."


def _text_step(
    factor: WordWeights, cells: Texts, logs: Floats, classes: tuple[str, ...]
) -> tuple[Values, str, tuple[Quantity, ...]]:
    """The product over the words of a text."""
    if _is_missing(cells):
        return None, "is missing: left out.", ()
    words = factor.scores.words(cells.text(0))
    known, every = (sum(times for _, k, times in words if k >= least) for least in (0, -math.inf))
    note = f"is scored by its words, of which {known:,} of {every:,} are known ({factor.settings.written()})."
    found = text_quantities(factor, cells, classes)
    return found.values or tuple(map(exp, logs.tolist())), note, found.quantities


def _number_step(factor: Density, cells: Floats, logs: Floats) -> tuple[Values, str]:
    known = factor.normal.known
    if np.isfinite(cells[0]):
        note = "" if known is None else "is known: its densities are multiplied by the chance that it is."
        return tuple(map(exp, logs.tolist())), note
    why = "is missing" if np.isnan(cells[0]) else "is infinite"
    if known is None:
        return None, f"{why}: left out."
    return tuple(gone for _, gone in known), f"{why}, which counts as a level."


def block_value(
    joint: JointTable | MultivariateNormal,
    batch: Batch,
    logs: Floats,
    row: Mapping[str, object],
    classes: tuple[str, ...],
    presence: tuple[Presence, ...] = (),
) -> FactorValue:
    """The factor of several cells together; those that are missing are summed over, or integrated out."""
    codes = {}
    for name in joint.names:
        cells = batch.cells[name]
        known = isinstance(cells, Codes) or np.isfinite(cells[0])
        codes[name] = int(cells.codes[0]) if isinstance(cells, Codes) else (0 if known else MISSING_CODE)
    gone, unseen = ([n for n, code in codes.items() if code == kind] for kind in (MISSING_CODE, UNSEEN_CODE))
    counted = isinstance(joint, JointTable)
    as_level = joint.missing_is_level if isinstance(joint, JointTable) else bool(presence)
    reserved = isinstance(joint, JointTable) and joint.reserve
    inside = {*codes} - {*([] if as_level else gone), *([] if reserved else unseen)}
    values: Values = None
    quantities: tuple[Quantity, ...] = ()
    bins: list[str] = []
    if isinstance(joint, JointTable):
        values = joint.quotients(batch)
        quantities = _table_quantities(joint) if values is not None else ()
        for k, code in enumerate(joint.translated(batch)[0].tolist()):
            if joint.starts_of(k) is not None and 0 <= code < len(joint.labels[k]):
                bins.append(f"{shown(joint.names[k])} falls into the bin {shown(joint.labels[k].names[code])}.")
    elif inside:
        values = tuple(map(exp, logs.tolist()))
        cells_of: list[Any] = [batch.cells[name] for name in joint.names]
        if not presence:  # with it the logs hold more than the density
            quantities = normal_quantities(joint, np.column_stack(cells_of)[0], logs, classes)
    left = "left out." if not inside else "summed over." if counted else "integrated out."
    notes = bins
    for names, taken, what in ((gone, as_level, "missing"), (unseen, reserved, "unseen in training")):
        if names:
            end = "which counts as a level." if taken else left
            notes.append(f"{', '.join(map(shown, names))}: {what}, {end}")
    there = tuple((n, None if n in gone else label(row.get(n))) for n in joint.names if n in inside)
    cell = " & ".join("missing" if n in gone else label(row.get(n)) or "" for n in joint.names) if inside else None
    return FactorValue(values, " ".join(notes), cell, there, quantities)


def _table_quantities(table: JointTable) -> tuple[Quantity, ...]:
    """What a cell of a joint table is divided by."""
    names = " × ".join(clean(name) for name in table.names)
    out = [Quantity(f"cells of {names}", {"": f"{' × '.join(map(str, table.sizes))} = {table.cells:,}"})]
    if table.extra:
        out.append(Quantity("pseudo-count of each cell", {"": table.extra}))
    return tuple(out)


# The working of a product: prior × factors, each perhaps raised to a power.


def product_working(
    classes: tuple[str, ...],
    prior: Sequence[Quotient],
    factors: Sequence[object],
    powers: Sequence[float],
    terms: Floats,
    batch: Batch,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """Write down the answer for a batch of one row; `terms` are its logs, (1 + factors, classes), and `powers` what the
    prior and each factor are raised to. A factor is a term of `shapes`: of one attribute, or of several."""
    steps = [Step("", None, dict(zip(classes, prior, strict=True)), by_class(classes, terms[0]), power=powers[0])]
    quantities: list[Quantity] = []
    for factor, logs, power in zip(factors, terms[1:], powers[1:], strict=True):
        found = factor_value(factor, batch, logs / power if power else logs, row, classes)
        name: str = getattr(factor, "name", "") or " & ".join(factor.names)  # type: ignore[attr-defined]
        values, note = found.values, found.note
        if not power:
            values, note = None, f"{shown(name)} has the weight 0: left out."
        named = {} if values is None else dict(zip(classes, values, strict=True))
        quantities += found.quantities if named else ()
        steps.append(Step(name, found.cell, named, by_class(classes, logs), note, found.cells, power or 1.0))
    return multiplied(classes, steps, quantities, posterior, all(power == 1.0 for power in powers))


def multiplied(
    classes: tuple[str, ...],
    steps: Sequence[Step],
    quantities: Sequence[Quantity],
    posterior: Posterior,
    exact: bool = True,
) -> Working:
    """The working of steps that are multiplied."""
    totals = {name: sum(step.log_values[name] for step in steps) for name in classes}
    return Working(
        classes,
        tuple(steps),
        {name: multiply([s.values[name] for s in steps if s.values], totals[name], exact) for name in classes},
        {name: total / math.log(10) for name, total in totals.items()},
        by_class(classes, posterior.matrix[0]),
        best_of(classes, posterior),
        quantities=tuple(quantities),
    )


def by_class(classes: tuple[str, ...], values: Floats) -> dict[str, float]:
    """Numbers by the names of their classes."""
    return dict(zip(classes, values.tolist(), strict=True))


def best_of(classes: tuple[str, ...], posterior: Posterior) -> str | None:
    """The answer, None where there is none."""
    return None if posterior.undefined[0] else classes[int(posterior.codes[0])]


# The working of a sum: evidence in nats that adds up to a score, or outputs of lines, or a mean over several
# answers.


def added(
    classes: tuple[str, ...],
    steps: Sequence[Step],
    posterior: Posterior,
    *,
    sign: str,
    names: tuple[str, ...] | None = None,
    quantities: Sequence[Quantity] = (),
    tables: Sequence[Exhibit] = (),
    remarks: Sequence[str] = (),
) -> Working:
    """The working of steps that are added; `names` are those of its lines where these are pairs of classes."""
    lines = classes if names is None else names
    return Working(
        lines,
        tuple(steps),
        {name: _total([s.values[name] for s in steps if s.values]) for name in lines},
        {name: math.nan for name in lines},
        by_class(classes, posterior.matrix[0]),
        best_of(classes, posterior),
        operator="+",
        sign=sign,
        each="class" if names is None else "pair",
        quantities=tuple(quantities),
        tables=tuple(tables),
        remarks=tuple(remarks),
        scores=not posterior.proper,
    )


def _total(values: Sequence[Quotient | float]) -> Fraction | float:
    counted = [v.value for v in values if isinstance(v, Quotient)]
    if values and len(counted) == len(values):
        return sum(counted, Fraction(0))
    return float(sum(float(v) for v in values))


def evidence_working(
    classes: tuple[str, ...],
    names: Sequence[str],
    terms: Floats,
    last: str,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """Any sum of evidence: log P(class), and what each value adds, in nats.

    What is the same for all classes is left out: P(class | x) = exp(g(class)) / Σ exp(g). `terms` are (terms, classes).
    """
    upto = len(names) - (last in ("same", "rounding"))
    steps = [_nats(Step("", None, {}, {}, title="log P(class)"), classes, terms[0])]
    silent = []
    for name, logs in zip(names[1:upto], terms[1:upto], strict=True):
        cell = label(row.get(name))
        told = f"{clean(name)}={clean(cell)}" if cell is not None else clean(name)
        step = _nats(Step(name, cell, {}, {}, title=f"g({told})"), classes, logs)
        if not logs.any():
            silent.append(told)
            step = replace(step, values={})
        steps.append(step)
    remarks = ["P(class | x) = exp(g(class)) / the sum of exp(g) over the classes; logs are natural."]
    if silent:
        listed = ", ".join(silent[:8]) + (f" and {len(silent) - 8} more" if len(silent) > 8 else "")
        remarks.insert(0, f"Adds nothing: {listed}.")
    return added(classes, steps, posterior, sign="g({})", remarks=remarks)


def _nats(step: Step, classes: tuple[str, ...], logs: Floats) -> Step:
    values = by_class(classes, logs)
    return replace(step, values=values, log_values=values, texts={name: signed(v) for name, v in values.items()})
