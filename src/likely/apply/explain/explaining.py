"""How an answer comes about: `explain`. All of it is `Model.terms`, taken apart by class; no score is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.decide.missing import by_missing
from likely.apply.explain.ledger import (
    REST,
    UNITS,
    Entry,
    Ledger,
    Order,
    Unit,
    clean,
    log_odds_of,
    ruled_out,
    steps_between,
    steps_of_rest,
)
from likely.apply.explain.pieces import EvidencePiece, pieces_of
from likely.apply.explain.row import QueryRow, read_row
from likely.apply.novelty import IMPROBABLE, NoveltyCheck
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.models.contracts import Model
from likely.models.fractions import tie_text
from likely.models.posterior import Posterior
from likely.models.settings import check_choice
from likely.table.labels import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

HARDLY = "These values hardly occurred together in training: take this answer with care."


def explain(
    model: Model,
    row: object,
    *,
    number: int | None = None,
    of: object = None,
    against: object = None,
    unit: Unit = "bits",
    order: Order = "size",
    missing_by: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Ledger:
    """The ledger of one answer: a row as a dict of values, or row `number` of a table (the first is 1).

    It weighs the class `of` (the most probable one, if none is named) `against` another (the most probable other
    one), or against "rest". Against one class the evidence of each value is log P(value | of) - log P(value | against).
    Against the rest of three or more it is what the value adds when it comes after those before it in the schema.
    `missing_by` takes missing cells as `decide` does: "left-out", "averaged" or "informative".

    >>> import math
    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> [(e.name, round(math.exp(e.log_ratio), 3)) for e in explain(model, {"sky": "sun"}).entries]
    [('', 3.0), ('sky', 1.8)]
    """
    model = by_missing(model, missing_by)
    return explained(
        model, read_row(model, row, number, encoding=encoding, delimiter=delimiter), of, against, unit, order
    )


def explained(
    model: Model, row: QueryRow, of: object = None, against: object = None, unit: Unit = "bits", order: Order = "size"
) -> Ledger:
    """The ledger of a row that was read already."""
    check_choice("unit", unit, UNITS)
    check_choice("order", order, ("size", "schema"))
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to explain. See `likely score`.")
    if len(model.classes) < 2:
        only = shown(model.classes[0])
        raise SettingError(f"Training had only the class {only}, so there is nothing to compare it with.")
    joint = model.log_joint(row.batch)
    posterior = Posterior.of(model.classes, joint, one=True, proper=model.proper)
    a, b = _sides(model.classes, posterior, of, against)
    pieces, told = pieces_of(model, row, joint[0])
    entries = _entries(pieces, row.words, model.classes, a, b)
    return Ledger(
        target=model.schema.target.name,
        of=model.classes[a],
        against=None if b is None else model.classes[b],
        entries=entries,
        log_joint=dict(zip(model.classes, joint[0].tolist(), strict=True)),
        log_odds=log_odds_of(joint[0], a, b),
        posterior=dict(zip(model.classes, posterior.matrix[0].tolist(), strict=True)),
        best=None if posterior.undefined[0] else model.classes[int(posterior.codes[0])],
        proper=model.proper,
        additive=not any(piece.kind == "all" for piece in pieces),
        unit=unit,
        order=order,
        remarks=tuple(_remarks(model, row, posterior, entries, told)),
        undecided=model.why_undecided(row.batch) if posterior.undefined[0] else "",
        work=partial(model.worked, row.batch, row.cells, posterior),
        workless=model.workless,
    )


def _sides(classes: tuple[str, ...], posterior: Posterior, of: object, against: object) -> tuple[int, int | None]:
    """The class that is weighed and the one it is weighed against; None: the rest (of two classes, the other)."""
    chances = posterior.matrix[0].copy()
    a = int(chances.argmax()) if of is None else code_of(of, classes)
    if against == REST and REST not in classes:
        return a, (1 - a if len(classes) == 2 else None)
    if against is None:
        chances[a] = -1.0
        return a, int(chances.argmax())
    b = code_of(against, classes)
    if b == a:
        raise SettingError(f"The class {shown(classes[a])} cannot be compared with itself. Name another, or rest.")
    return a, b


def code_of(name: object, classes: Sequence[str]) -> int:
    """The place of a class, however its name was given."""
    wanted = str(label(name))
    if wanted not in classes:
        raise ColumnError(f"There is no class {shown(name)}. {nearest(wanted, classes)}")
    return classes.index(wanted)


def _entries(
    pieces: Sequence[EvidencePiece], words: Mapping[str, str], classes: tuple[str, ...], a: int, b: int | None
) -> tuple[Entry, ...]:
    """Each piece with what it adds to the log odds; parts begin where the pieces before them have led."""

    def made(some: Sequence[EvidencePiece], before: NDArray[np.float64] | None) -> tuple[Entry, ...]:
        logs = [p.logs for p in some]
        ratios = steps_of_rest(logs, a, before) if b is None else steps_between(logs, a, b)
        out, so_far = [], before
        for piece, ratio in zip(some, ratios, strict=True):
            values = dict(zip(classes, piece.logs.tolist(), strict=True))
            parts = made(piece.parts, so_far) if piece.parts else ()
            made_of = piece.name, piece.kind, piece.cell, piece.state, values, ratio, piece.note
            told = words.get(piece.name, "") if piece.kind == "value" else ""
            out.append(Entry(*made_of, parts, piece.spans, piece.unknown, told))
            so_far = piece.logs if so_far is None else so_far + piece.logs
        return tuple(out)

    return made(pieces, None)


def _remarks(
    model: Model, row: QueryRow, posterior: Posterior, entries: Sequence[Entry], told: str | None
) -> list[str]:
    undefined = bool(posterior.undefined[0])
    chances = dict(zip(model.classes, posterior.matrix[0].tolist(), strict=True))
    tie = "" if undefined else tie_text(chances, "are equally probable" if model.proper else "have equal scores")
    out = [text for text in (tie, told) if text]
    learner = type(model.learner).__name__
    if not model.proper:
        out.append(f"{learner} outputs scores, not probabilities: the odds compare scores.")
    if told is None and model.ledger_note:
        out.append(model.ledger_note)
    if undefined and model.proper:
        out.append(ruled_out(model.classes, entries))
    for entry in entries:
        if entry.state == "unseen":
            levels = row.batch.cells[entry.name].labels.names
            out.append(
                f"Training did not have {shown(entry.name)} {shown(entry.cell)}. {nearest(entry.cell or '', levels)}"
            )
    check = NoveltyCheck(model)
    for name in check.beyond(row.batch):
        said = row.words.get(name) or f"{clean(name)}={clean(row.cells[name])}"
        out.append(f"{said} is beyond all values of training ({check.range_of(name)}).")
    if check.unlike(row.batch)[0]:
        out.append(HARDLY)
    elif check.improbable(row.batch)[0]:
        out.append(f"Unusual: {IMPROBABLE}.")
    unused = [n for n in row.cells if n in model.schema.names and model.schema[n].role == "left out" and row.cells[n]]
    if unused and row.number is None:
        out.append(f"The model does not use {', '.join(shown(n, 30) for n in unused)}.")
    return out
