"""The ledger of one answer: prior odds times the likelihood ratio of each value is the posterior odds.

Everything in it is `Model.terms`, taken apart by class; it computes no score of its own. Words are in words.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.apply.explain import words
from likely.apply.explain.asked import Asked, State, asked
from likely.apply.explain.marking import Span
from likely.apply.explain.odds import UNITS, Unit, in_unit, log_odds_of, steps_between, steps_of_rest
from likely.apply.explain.pieces import Kind, Piece, pieces_of
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery import html as showing
from likely.models.linear.log_odds import LogOdds
from likely.models.model import Model
from likely.models.naive.product import Product
from likely.models.naive.working import Working, working
from likely.models.pool.chosen import Chosen
from likely.models.posterior import Posterior
from likely.models.settings import check_choice
from likely.table.labels import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

Order = Literal["size", "schema"]
REST = "rest"
"""Against all other classes together."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: what one value says of the class against the other."""

    name: str
    """The attribute, or a block of them; of a part, what it is called. Empty for the prior and for all together."""
    kind: Kind
    cell: str | None
    """The cell as the row has it."""
    state: State
    log_values: Mapping[str, float]
    """The term of each class: log P(value | class), in nats; -inf where the value is impossible there."""
    log_ratio: float | None
    """What it adds to the log odds, in nats; None where both sides are impossible, so that there is no ratio."""
    note: str = ""
    """What is special, as the rest of a sentence about the attribute."""
    parts: tuple[Entry, ...] = ()
    """Pieces of the value, such as words of a text, where a factor can tell them apart; they add up to the entry."""
    spans: tuple[Span, ...] = ()
    """Of a word: where it stands in the text, from and to, in characters; once for each time that the text has it."""
    unknown: int | None = None
    """Of a text: how many of its words are not known to the model, and so passed over."""

    @property
    def impossible(self) -> tuple[str, ...]:
        """The classes that this value rules out."""
        return tuple(name for name, value in self.log_values.items() if value == -math.inf)

    @property
    def silent(self) -> bool:
        """Whether it says nothing of any class."""
        return self.kind in ("value", "block") and not any(self.log_values.values())


@dataclass(frozen=True)
class Ledger:
    """The evidence of one answer, by which the odds of one class against another (or the rest) come about.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> print(likely.explain(model, {"sky": "sun"}))
    play is y, with 84.4 %; n has 15.6 %.
      evidence           bits  n  y
      before any value  +1.58     ▇▇▇▇▇▇▇▇▇▇▇▇  y is three times as likely
      sky=sun           +0.85     ▇▇▇▇▇▇        speaks for y: 1.8 times as likely
      together          +2.43                   y is 5.4 times as likely
    """

    target: str
    of: str
    """The class whose odds these are."""
    against: str | None
    """The class that it is weighed against; None: all others together."""
    entries: tuple[Entry, ...]
    """The prior, then the attributes in the order of the schema."""
    log_joint: Mapping[str, float]
    """The score of each class, in nats, as the model gives it."""
    log_odds: float | None
    """log of P(of) / P(against), in nats; None where both are impossible."""
    posterior: Mapping[str, float]
    """P(class | row), or scores where `proper` is False; all 0 where every class is impossible."""
    best: str | None
    """The most probable class, the first of equals; None where every class is impossible."""
    proper: bool
    additive: bool
    """Whether there is an entry for each attribute; False: one for all of them together."""
    unit: Unit = "bits"
    order: Order = "size"
    remarks: tuple[str, ...] = ()
    working: Working | None = field(default=None, repr=False)
    """The arithmetic as on a board, where the model is a product."""

    @property
    def ordered(self) -> tuple[Entry, ...]:
        """The entries as they are shown: what comes before any value first, then those that weigh most."""
        if self.order == "schema":
            return self.entries
        first = [e for e in self.entries if e.kind in ("prior", "constant")]
        rest = [e for e in self.entries if e.kind not in ("prior", "constant")]
        return (*first, *sorted(rest, key=lambda e: -math.inf if e.log_ratio is None else -abs(e.log_ratio)))

    def evidence(self, entry: Entry) -> float | None:
        """What an entry adds, in the unit of the ledger; a factor of the odds where that is 'odds'."""
        return None if entry.log_ratio is None else in_unit(entry.log_ratio, self.unit)

    def __str__(self) -> str:
        return words.written(self)

    def _repr_html_(self) -> str:
        """The ledger, for a notebook."""
        first, *_ = str(self).splitlines() or [""]
        lines = []
        for e in self.ordered:
            found = self.evidence(e)
            name = "before any value" if e.kind == "prior" else f"{e.name} = {e.cell}" if e.cell else e.name
            lines.append((name, "–" if found is None else f"{found:+.3g}", words.sentence(self, e)))
        against = "the rest" if self.against is None else self.against
        header = (f"evidence for {self.of} against {against}", self.unit, "")
        return showing.table(first, header, lines, right=(1,), remarks=self.remarks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; what is infinite or has no value is None."""

        def plain(value: float | None) -> float | None:
            return value if value is not None and math.isfinite(value) else None

        def entry(e: Entry) -> dict[str, Any]:
            found: dict[str, Any] = {
                "kind": e.kind,
                "name": e.name,
                "value": e.cell,
                "state": e.state,
                "evidence": plain(self.evidence(e)),
                "log_ratio": plain(e.log_ratio),
                "log_values": {name: plain(value) for name, value in e.log_values.items()},
                "impossible": list(e.impossible),
                "words": words.sentence(self, e),
            }
            if e.spans:
                found |= {"times": len(e.spans), "offsets": [list(span) for span in e.spans]}
            if e.unknown is not None:
                found["unknown_words"] = e.unknown
            return {**found, "parts": [entry(p) for p in e.parts]} if e.parts else found

        return {
            "target": self.target,
            "prediction": self.best,
            "proper": self.proper,
            "posterior": dict(self.posterior),
            "class": self.of,
            "against": REST if self.against is None else self.against,
            "additive": self.additive,
            "unit": self.unit,
            "evidence": None if self.log_odds is None else plain(in_unit(self.log_odds, self.unit)),
            "log_odds": plain(self.log_odds),
            "log_joint": {name: plain(value) for name, value in self.log_joint.items()},
            "entries": [entry(e) for e in self.ordered],
            "remarks": list(self.remarks),
        }


def explain(
    model: Model,
    row: object,
    *,
    number: int | None = None,
    of: object = None,
    against: object = None,
    unit: Unit = "bits",
    order: Order = "size",
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Ledger:
    """The ledger of one answer: a row as a dict of values, or row `number` of a table (the first is 1).

    It weighs the class `of` (the most probable one, if none is named) `against` another (the most probable other
    one), or against "rest". Against one class the evidence of each value is log P(value | of) - log P(value | against).
    Against the rest of three or more it is what the value adds when it comes after those before it in the schema.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> [(e.name, round(math.exp(e.log_ratio), 3)) for e in explain(model, {"sky": "sun"}).entries]
    [('', 3.0), ('sky', 1.8)]
    """
    return explained(model, asked(model, row, number, encoding=encoding, delimiter=delimiter), of, against, unit, order)


def explained(
    model: Model, row: Asked, of: object = None, against: object = None, unit: Unit = "bits", order: Order = "size"
) -> Ledger:
    """The ledger of a row that was read already."""
    check_choice("unit", unit, UNITS)
    check_choice("order", order, ("size", "schema"))
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to explain. See `likely score`.")
    if len(model.classes) < 2:
        only = shown(model.classes[0])
        raise SettingError(
            f"Training had the class {only} alone, so there is nothing that it could be weighed against."
        )
    joint = model.log_joint(row.batch)
    posterior = Posterior.of(model.classes, joint, one=True, proper=model.proper)
    a, b = _sides(model.classes, posterior, of, against)
    pieces, told = pieces_of(model, row, joint[0])
    entries = _entries(pieces, model.classes, a, b)
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
        additive=told is None,
        unit=unit,
        order=order,
        remarks=tuple(_remarks(model, row, bool(posterior.undefined[0]), entries, told)),
        working=_working(model, row, posterior),
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
        raise SettingError(f"The class {shown(classes[a])} cannot be weighed against itself. Name another, or rest.")
    return a, b


def code_of(name: object, classes: Sequence[str]) -> int:
    """The place of a class, however its name was given."""
    wanted = str(label(name))
    if wanted not in classes:
        raise ColumnError(f"There is no class {shown(name)}. {nearest(wanted, classes)}")
    return classes.index(wanted)


def _entries(pieces: Sequence[Piece], classes: tuple[str, ...], a: int, b: int | None) -> tuple[Entry, ...]:
    """Each piece with what it adds to the log odds; parts begin where the pieces before them have led."""

    def made(some: Sequence[Piece], before: NDArray[np.float64] | None) -> tuple[Entry, ...]:
        logs = [p.logs for p in some]
        ratios = steps_of_rest(logs, a, before) if b is None else steps_between(logs, a, b)
        out, so_far = [], before
        for piece, ratio in zip(some, ratios, strict=True):
            values = dict(zip(classes, piece.logs.tolist(), strict=True))
            parts = made(piece.parts, so_far) if piece.parts else ()
            made_of = piece.name, piece.kind, piece.cell, piece.state, values, ratio, piece.note
            out.append(Entry(*made_of, parts, piece.spans, piece.unknown))
            so_far = piece.logs if so_far is None else so_far + piece.logs
        return tuple(out)

    return made(pieces, None)


def _remarks(model: Model, row: Asked, undefined: bool, entries: Sequence[Entry], told: str | None) -> list[str]:
    out = [] if told is None else [told]
    learner = type(model.learner).__name__
    if not model.proper:
        out.append(f"{learner} gives scores, which are no probabilities: the odds compare scores.")
    if isinstance(model, LogOdds):
        out.append(
            "Logistic measures numbers from their mean and levels from the most frequent one: the constant is the odds "
            "of a row of these, and no prior."
        )
    if told is None and isinstance(model, Chosen):
        out.append(model.ledger_of)
    if undefined:
        out.append(words.ruled_out(model.classes, entries))
    for entry in entries:
        if entry.state == "unseen":
            levels = row.batch.cells[entry.name].labels.names
            out.append(
                f"Training did not have {shown(entry.name)} {shown(entry.cell)}. {nearest(entry.cell or '', levels)}"
            )
    unused = [n for n in row.cells if n in model.schema.names and model.schema[n].role == "left out" and row.cells[n]]
    if unused and row.number is None:
        out.append(f"The model does not look at {', '.join(shown(n, 30) for n in unused)}.")
    return out


def _working(model: Model, row: Asked, posterior: Posterior) -> Working | None:
    if not isinstance(model, Product):
        return None
    terms = model.terms(row.batch).array[0]
    return working(model.classes, model.prior, model.factors, terms, row.batch, row.cells, posterior)
