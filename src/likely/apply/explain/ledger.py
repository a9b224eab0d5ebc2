"""The ledger of one answer: prior odds times the likelihood ratio of each value is the posterior odds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.apply.explain.pieces import AVERAGED, Kind, Span
from likely.apply.explain.row import State
from likely.errors import shown
from likely.machinery.presented import Presented
from likely.models.working.records import Working

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Odds of one class against another or against the rest, as sums of steps. Arrays of logs in, logs out; -inf is
# kept.

Unit = Literal["bits", "decibans", "nats", "odds"]
UNITS: tuple[Unit, ...] = ("bits", "decibans", "nats", "odds")
_NATS = {"bits": math.log(2), "decibans": math.log(10) / 10, "nats": 1.0}


def in_unit(log: float, unit: Unit) -> float:
    """A log in nats as people read it; a factor of the odds where the unit is 'odds'.

    >>> in_unit(math.log(8), "bits"), round(in_unit(math.log(100), "decibans"), 9), round(in_unit(math.log(3), "odds"))
    (3.0, 20.0, 3)
    """
    if unit != "odds":
        return log / _NATS[unit]
    return math.exp(log) if log < 709 else math.inf


def minus(top: float, bottom: float) -> float | None:
    """log of a ratio; None where both are impossible."""
    if top == -math.inf and bottom == -math.inf:
        return None
    return top - bottom


def log_total(logs: NDArray[np.float64]) -> float:
    """log of the sum of exp(logs); -inf where all of them are."""
    top = float(logs.max(initial=-math.inf))
    return top if top == -math.inf else top + math.log(float(np.exp(logs - top).sum()))


def log_odds_of(joint: NDArray[np.float64], a: int, b: int | None) -> float | None:
    """log of P(a) / P(b), or of P(a) / P(not a) where b is None."""
    return minus(float(joint[a]), log_total(np.delete(joint, a)) if b is None else float(joint[b]))


def steps_between(pieces: Sequence[NDArray[np.float64]], a: int, b: int) -> list[float | None]:
    """What each piece adds to log P(a) / P(b): they are independent of each other and of their order."""
    return [minus(float(logs[a]), float(logs[b])) for logs in pieces]


def steps_of_rest(
    pieces: Sequence[NDArray[np.float64]], a: int, before: NDArray[np.float64] | None = None
) -> list[float | None]:
    """What each piece adds to log P(a) / P(not a), one after the other in this order, `before` having come first.

    log P(piece | a) / P(piece | not a, pieces before): the rest weighs its classes by what has come before. The steps
    telescope, so that they add up to the log odds. Once the rest is impossible, nothing more can be said for a.
    """
    so_far = np.zeros(len(pieces[0])) if before is None else before
    # Before anything has come, P(a) / P(not a) is no odds yet: the first piece, the prior, sets it.
    rest = 0.0 if before is None else log_total(np.delete(so_far, a))
    out: list[float | None] = []
    for logs in pieces:
        so_far = so_far + logs
        now = log_total(np.delete(so_far, a))
        if rest == -math.inf:
            out.append(-math.inf if logs[a] == -math.inf else 0.0)
        else:
            out.append(minus(float(logs[a]), now - rest if now > -math.inf else now))
        rest = now
    return out


def sum_ratios(ratios: Sequence[float | None]) -> float | None:
    """Steps added up; None where one of them is, or where one side is impossible here and the other there."""
    if any(r is None for r in ratios) or {math.inf, -math.inf} <= set(ratios):
        return None
    return math.fsum(r for r in ratios if r is not None)


# Names, probabilities and ratios as people read them. Everything that came from data is escaped here.

_SMALL = ("twice", *(f"{n} times" for n in ("three", "four", "five", "six", "seven", "eight", "nine", "ten")))


def clean(text: str | None, limit: int = 30) -> str:
    """A name or a cell as it may stand in a line."""
    return shown("" if text is None else text, limit)[1:-1] or "''"


def percent(chance: float) -> str:
    """A probability in per cent: never 100 where it is less, never 0 where it is more.

    >>> percent(0.2054), percent(0.99999), percent(1.0), percent(1e-9)
    ('20.5 %', '99.999 %', '100 %', '1e-07 %')
    """
    value = 100 * chance
    if chance >= 1 or chance <= 0:
        return f"{value:.0f} %"
    if chance < 0.001:
        return f"{value:.2g} %"
    if chance > 0.999:
        digits = max(1, math.ceil(-math.log10(1 - chance)) - 2)
        return f"{value:.{min(digits + 1, 14)}f}".rstrip("0").rstrip(".") + " %"
    return f"{value:.1f} %"


def times(log: float) -> str:
    """How many times as likely, from the log of a ratio of one or more.

    >>> times(math.log(2)), times(math.log(1.8)), times(math.log(2500)), times(2000.0), times(1e200)
    ('twice', '1.8 times', '2,500 times', '10^868.6 times', '10^4.34e+199 times')
    """
    if log > math.log(1e6):
        return f"{power_of_ten(log)} times"
    ratio = math.exp(log)
    told = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.{2 if ratio >= 1.095 else 3}g}"
    return _SMALL[int(told) - 2] if told.isdigit() and 2 <= int(told) <= 10 else f"{told} times"


def power_of_ten(log: float) -> str:
    digits = log / math.log(10)
    return f"10^{digits:.1f}" if digits < 1e6 else f"10^{digits:.3g}"


# The ledger of one answer: prior odds times the likelihood ratio of each value is the posterior odds; and its
# words.

Order = Literal["size", "schema"]
REST = "rest"
"""Against all other classes together."""
MOST = 7
"""So many pieces of evidence are written out, those that weigh most; the rest are added up."""
MOST_PARTS = 8
WIDEST = 12
"""Places of the longest bar."""
RIGHT = frozenset({1, 2})
"""Columns of the table that are set to the right."""
TRIFLE = 0.0035
"""A log ratio below this, a two-hundredth of a bit, is next to nothing."""


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
    words: str = ""
    """Of a part of a date: what people say, "day on Fridays"."""

    @property
    def impossible(self) -> tuple[str, ...]:
        """The classes that this value rules out."""
        return tuple(name for name, value in self.log_values.items() if value == -math.inf)

    @property
    def silent(self) -> bool:
        """Whether it says nothing of any class."""
        return self.kind in ("value", "block") and not any(self.log_values.values())


def _nothing() -> None:
    """The working where there is none."""


@dataclass(frozen=True, repr=False)
class Ledger(Presented):
    """The evidence of one answer, by which the odds of one class against another (or the rest) come about.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> print(likely.explain(model, {"sky": "sun"}))
    play is y (84.4 %); n: 15.6 %.
    <BLANKLINE>
    Evidence for y (to the right) against n
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
    undecided: str = ""
    """Why there is no answer, where there is none."""
    work: Callable[[], Working | None] = field(default=_nothing, repr=False, compare=False)
    """Works the answer out, when it is asked for."""
    workless: str = field(default="", repr=False)
    """Why there is no working, where there is none."""

    @cached_property
    def working(self) -> Working | None:
        """The arithmetic as on a board; None where the model has none (`workless` says why)."""
        return self.work()

    @property
    def ordered(self) -> tuple[Entry, ...]:
        """The entries as they are shown: what comes before any value first, then those that weigh most."""
        if self.order == "schema":
            return self.entries
        first = [e for e in self.entries if e.kind == "prior"]
        rest = [e for e in self.entries if e.kind != "prior"]
        return (*first, *sorted(rest, key=lambda e: -math.inf if e.log_ratio is None else -abs(e.log_ratio)))

    def evidence(self, entry: Entry) -> float | None:
        """What an entry adds, in the unit of the ledger; a factor of the odds where that is 'odds'."""
        return None if entry.log_ratio is None else in_unit(entry.log_ratio, self.unit)

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, for JSON; what is infinite or has no value is None."""

        def plain(value: float | None) -> float | None:
            return value if value is not None and math.isfinite(value) else None

        def entry(e: Entry) -> dict[str, object]:
            found: dict[str, object] = {
                "kind": e.kind,
                "name": e.name,
                "value": e.cell,
                "state": e.state,
                "evidence": plain(self.evidence(e)),
                "log_ratio": plain(e.log_ratio),
                "log_values": {name: plain(value) for name, value in e.log_values.items()},
                "impossible": list(e.impossible),
                "words": sentence(self, e),
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


# -- in words ---------------------------------------------------------------------------------------------------------


def amount(ledger: Ledger, log: float | None) -> str:
    """What a log ratio comes to in the unit of the ledger, with its sign."""
    if log is None or math.isinf(log):
        return "impossible" if ledger.proper else "none"
    if ledger.unit == "odds":
        factor = in_unit(abs(log), "odds")
        far = f"{factor:.3g}" if factor < 1e6 else power_of_ten(abs(log))
        return f"{'×' if log >= 0 else '÷'} {far}"
    value = in_unit(log, ledger.unit)
    return f"{value:+z,.2f}" if abs(value) < 1e6 else f"{value:+.3g}"


def amounts(ledger: Ledger, logs: Sequence[float | None], total: float | None, printed: str) -> list[str]:
    """What lines come to, rounded so that they add up to their total as it is `printed`: of those cut most, as many as
    it takes are rounded the other way (largest remainders)."""
    told = [amount(ledger, log) for log in logs]
    known = [log for log in (*logs, total) if log is not None and math.isfinite(log)]
    if ledger.unit == "odds" or len(known) <= len(logs) or max(map(abs, known)) > 1e5:
        return told
    *values, whole = (100 * in_unit(log, ledger.unit) for log in known)
    if not math.isclose(math.fsum(values), whole, rel_tol=1e-9, abs_tol=1e-3):
        return told  # some lines are not shown
    steps = [round(value) for value in values]
    missing = round(100 * float(printed.replace(",", ""))) - sum(steps)
    up = 1 if missing > 0 else -1
    for k in sorted(range(len(steps)), key=lambda k: up * (steps[k] - values[k]))[: abs(missing)]:
        steps[k] += up
    return [f"{step / 100:+z,.2f}" for step in steps]


def mark(ledger: Ledger, log: float) -> str:
    """What a word of a text says, short enough to stand beside it: '+1.2'."""
    if math.isinf(log):
        return "+∞" if log > 0 else "-∞"
    if ledger.unit == "odds":
        return amount(ledger, log).replace(" ", "")
    return f"{in_unit(log, ledger.unit):+z.1f}"


def sides(ledger: Ledger) -> tuple[str, str]:
    """What the two sides are called."""
    return clean(ledger.of), "the rest" if ledger.against is None else clean(ledger.against)


def heading(entry: Entry) -> str:
    """What a line is about."""
    if entry.kind == "block":
        return clean(entry.name if entry.state == "missing" or entry.cell is None else entry.cell, 60)
    if entry.kind == "value":
        if entry.words:
            return entry.words
        return clean(entry.name) if entry.state == "missing" else f"{clean(entry.name)}={clean(entry.cell)}"
    names = {"prior": "before any value", "all": "all values together", "rest": "the rest"}
    return names.get(entry.kind) or clean(entry.name)


_STATES = {
    "missing": "missing",
    "unseen": "not in training",
    "infinite": "infinite, so taken as missing",
    "stray": "not a number, so taken as missing",
}


def saying(ledger: Ledger, entry: Entry) -> str:
    """What a line says, without its amount."""
    of, other = sides(ledger)
    log, state = entry.log_ratio, _STATES.get(entry.state, "")
    if entry.silent:
        # A note says why a value is silent; without one, only what is not known is left out.
        if state and entry.note:
            return f"{state}: {entry.note}"
        return entry.note or (f"{state}: left out" if state else "says nothing")
    if log is None:
        what = f"impossible for {of} and for {other}" if ledger.proper else "no class wins"
    elif math.isinf(log):
        what = f"impossible for {other if log > 0 else of}"
    elif abs(log) < TRIFLE:
        what = "says next to nothing" if entry.kind != "prior" else f"{of} and {other} are about as likely"
    else:
        side = of if log > 0 else other
        ratio = f"{times(abs(log))} as likely"
        what = f"{side} is {ratio}" if entry.kind == "prior" else f"speaks for {side}: {ratio}"
    return ", ".join(part for part in (state, what, entry.note) if part)


def sentence(ledger: Ledger, entry: Entry) -> str:
    """A line as a sentence: 'outlook=sunny speaks for no: 1.43 bits, 2.7 times as likely'."""
    told, log = saying(ledger, entry), entry.log_ratio
    if log is not None and math.isfinite(log) and abs(log) >= TRIFLE and ledger.unit != "odds" and ": " in told:
        told = told.replace(": ", f": {abs(in_unit(log, ledger.unit)):,.2f} {ledger.unit}, ", 1)
    return f"{heading(entry)}{': ' if _STATES.get(entry.state) or entry.kind == 'prior' else ' '}{told}"


def ruled_out(classes: Sequence[str], entries: Iterable[Entry]) -> str:
    """Which values make each class impossible."""
    found, called = [], {"prior": "the prior", "all": "these values together"}
    for name in classes:
        why = [called.get(e.kind) or heading(e) for e in entries if name in e.impossible]
        if why:
            many = f" and {len(why) - 2} more" if len(why) > 2 else ""
            found.append(f"{clean(name)} by {', '.join(why[:2])}{many}")
    more = f"; and {len(found) - 6} more classes" if len(found) > 6 else ""
    listed = "; ".join(found[:6])
    return f"Every class is impossible, so there is no answer: {listed or 'no class scores above zero'}{more}."


def headline(ledger: Ledger) -> str:
    """The answer in one sentence."""
    target, (of, other) = clean(ledger.target), sides(ledger)
    if ledger.best is None:
        if not ledger.proper:
            return f"{target}: don't know, because {ledger.undecided}."
        return f"{target} cannot be predicted: {ledger.undecided or 'every class is impossible'} for this row."

    def chance(value: float) -> str:
        return percent(value) if ledger.proper else f"a score of {value:.3g}"

    own = ledger.posterior[ledger.of]
    against = 1 - own if ledger.against is None else ledger.posterior[ledger.against]
    if ledger.of == ledger.best:
        if len(ledger.posterior) == 2:
            return f"{target} is {of} ({chance(own)}); {other}: {chance(against)}."
        return f"{target} is {of} ({chance(own)}), compared here with {other} ({chance(against)})."
    best = f"{target} is {clean(ledger.best)} ({chance(ledger.posterior[ledger.best])})."
    return f"{best} Compared here: {of} ({chance(own)}) with {other} ({chance(against)})."


def lines(ledger: Ledger, everything: bool = False) -> list[tuple[str, ...]]:
    """The ledger as a table, its header first, then the evidence that weighs most, with bars to either side."""
    shown_entries, hidden = _split(ledger, everything)
    sizes = [abs(e.log_ratio) for e in shown_entries if e.log_ratio is not None and math.isfinite(e.log_ratio)]
    unit = max(sizes, default=0.0) or 1.0
    of, other = sides(ledger)

    def line(entry: Entry, told: str, indent: str = "") -> list[tuple[str, ...]]:
        log = entry.log_ratio
        size = 0 if log is None else WIDEST if math.isinf(log) else round(WIDEST * min(abs(log) / unit, 1.0))
        bar = "▇" * max(size, 1 if log is not None and abs(log) >= TRIFLE else 0)
        left, right = ("", bar) if log is None or log >= 0 else (bar, "")
        shown = "" if entry.silent else told
        out: list[tuple[str, ...]] = [(indent + heading(entry), shown, left, right, saying(ledger, entry))]
        told_parts = [p for p in entry.parts if everything or p.kind != "share"]
        parts = sorted(told_parts, key=lambda p: -math.inf if p.log_ratio is None else -abs(p.log_ratio))
        rest = [] if everything else parts[MOST_PARTS:]
        more = (indent + f"  … {len(rest)} more", "")
        return out + add_up((parts[: len(parts) - len(rest)], rest), log, told, indent + "  ", more)

    def add_up(
        parts: tuple[Sequence[Entry], Sequence[Entry]], total: float | None, printed: str, indent: str,
        more: tuple[str, str],
    ) -> list[tuple[str, ...]]:  # fmt: skip
        """Lines for the first entries, and one for the others together."""
        entries, others = parts
        logs = [e.log_ratio for e in entries] + ([sum_ratios([e.log_ratio for e in others])] if others else [])
        told = amounts(ledger, logs, total, printed)
        rows = [row for entry, each in zip(entries, told, strict=False) for row in line(entry, each, indent)]
        return [*rows, (more[0], told[-1], "", "", more[1])] if others else rows

    log = ledger.log_odds
    more = (f"{len(hidden)} others together", "each says less")
    rows = add_up((shown_entries, hidden), log, amount(ledger, log), "", more)
    if log is None:
        total = f"impossible for {of} and for {other}" if ledger.proper else "no class wins"
    elif math.isinf(log):
        total = f"impossible for {other if log > 0 else of}"
    elif abs(log) < TRIFLE:
        total = f"{of} and {other} are about as likely"
    else:
        total = f"{of if log > 0 else other} is {times(abs(log))} as likely"
    rows.append(("together", amount(ledger, log), "", "", total))
    return [("evidence", ledger.unit, other, of, ""), *rows]


def _split(ledger: Ledger, everything: bool) -> tuple[list[Entry], list[Entry]]:
    """The entries that are written out, and those that are only added up."""
    if everything:
        return list(ledger.ordered), []
    told = [e for e in ledger.ordered if not _unknown(e)]
    values = [e for e in told if e.kind != "prior"]
    if len(values) <= MOST + 1:  # not worth a line that says how many more there are
        return told, []
    order = sorted(values, key=lambda e: -math.inf if e.log_ratio is None else -abs(e.log_ratio))
    kept = {id(e) for e in [*order[:MOST], *(e for e in told if e.kind == "prior")]}
    return [e for e in told if id(e) in kept], [e for e in told if id(e) not in kept]


def _unknown(entry: Entry) -> bool:
    return entry.silent and entry.state == "missing"


def remarks(ledger: Ledger, everything: bool = False) -> tuple[str, ...]:
    """What goes with the lines: what was not known, and what is special."""
    unknown = [e.name for e in ledger.entries if _unknown(e)]
    out = list(ledger.remarks)
    if unknown and not everything:
        listed = ", ".join(clean(n) for n in unknown[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        averaged = any(e.note == AVERAGED for e in ledger.entries)
        how = "averaged over what they may be, given the known" if averaged else "left out"
        out.insert(0, f"Unknown, so {how}: {listed}{more}.")
    return tuple(out)
