"""A ledger in plain words: sentences, and lines with a small bar for each piece of evidence. Computes nothing itself.

Everything that came from data is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from likely.apply.explain.odds import in_unit, summed
from likely.errors import shown

if TYPE_CHECKING:
    from likely.apply.explain.ledger import Entry, Ledger

MOST = 20
"""So many pieces of evidence are written out, those that weigh most; the rest are added up."""
MOST_PARTS = 8
WIDEST = 12
"""Places of the longest bar."""
TRIFLE = 0.0035
"""A log ratio below this, a two-hundredth of a bit, is next to nothing."""
_SMALL = ("twice", *(f"{n} times" for n in ("three", "four", "five", "six", "seven", "eight", "nine", "ten")))


class Lines(NamedTuple):
    """A small table of words: `right` are the columns that are set to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int]


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
        return f"{_power(log)} times"
    ratio = math.exp(log)
    told = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.{2 if ratio >= 1.095 else 3}g}"
    return _SMALL[int(told) - 2] if told.isdigit() and 2 <= int(told) <= 10 else f"{told} times"


def _power(log: float) -> str:
    digits = log / math.log(10)
    return f"10^{digits:.1f}" if digits < 1e6 else f"10^{digits:.3g}"


def amount(ledger: Ledger, log: float | None) -> str:
    """What a log ratio comes to in the unit of the ledger, with its sign."""
    if log is None or math.isinf(log):
        return "impossible"
    if ledger.unit == "odds":
        factor = in_unit(abs(log), "odds")
        far = f"{factor:.3g}" if factor < 1e6 else _power(abs(log))
        return f"{'×' if log >= 0 else '÷'} {far}"
    value = in_unit(log, ledger.unit)
    return f"{value:+,.2f}" if abs(value) < 1e6 else f"{value:+.3g}"


def mark(ledger: Ledger, log: float) -> str:
    """What a word of a text says, short enough to stand beside it: '+1.2'."""
    if math.isinf(log):
        return "+∞" if log > 0 else "-∞"
    if ledger.unit == "odds":
        return amount(ledger, log).replace(" ", "")
    return f"{in_unit(log, ledger.unit):+.1f}"


def sides(ledger: Ledger) -> tuple[str, str]:
    """What the two sides are called."""
    return clean(ledger.of), "the rest" if ledger.against is None else clean(ledger.against)


def heading(entry: Entry) -> str:
    """What a line is about."""
    if entry.kind == "block":
        return clean(entry.name if entry.state == "missing" else entry.cell, 60)
    if entry.kind == "value":
        return clean(entry.name) if entry.state == "missing" else f"{clean(entry.name)}={clean(entry.cell)}"
    names = {"prior": "before any value", "constant": "constant", "all": "all values together", "rest": "the rest"}
    return names.get(entry.kind) or clean(entry.name)


_STATES = {
    "missing": "missing",
    "unseen": "not in training",
    "infinite": "infinite, so taken as missing",
    "stray": "no number, so taken as missing",
}


def saying(ledger: Ledger, entry: Entry) -> str:
    """What a line says, without its amount."""
    of, other = sides(ledger)
    log, state = entry.log_ratio, _STATES.get(entry.state, "")
    if entry.silent:
        # A note says why a value is silent; without one, only what is not known is left out.
        return entry.note or (f"{state}: left out" if state else "says nothing")
    if log is None:
        what = f"impossible for {of} and for {other}"
    elif math.isinf(log):
        what = f"impossible for {other if log > 0 else of}"
    elif abs(log) < TRIFLE:
        what = "says next to nothing" if entry.kind != "prior" else f"{of} and {other} are about as likely"
    else:
        side = of if log > 0 else other
        ratio = f"{times(abs(log))} as likely"
        what = f"{side} is {ratio}" if entry.kind in ("prior", "constant") else f"speaks for {side}: {ratio}"
    return ", ".join(part for part in (state, what, entry.note) if part)


def sentence(ledger: Ledger, entry: Entry) -> str:
    """A line as a sentence: 'outlook=sunny speaks for no: 1.43 bits, 2.7 times as likely'."""
    told, log = saying(ledger, entry), entry.log_ratio
    if log is not None and math.isfinite(log) and abs(log) >= TRIFLE and ledger.unit != "odds" and ": " in told:
        told = told.replace(": ", f": {abs(in_unit(log, ledger.unit)):,.2f} {ledger.unit}, ", 1)
    return f"{heading(entry)}{': ' if _STATES.get(entry.state) or entry.kind == 'prior' else ' '}{told}"


def ruled_out(classes: Sequence[str], entries: Iterable[Entry]) -> str:
    """Which values make each class impossible."""
    found = []
    for name in classes:
        why = [heading(e) if e.kind == "value" else "the prior" for e in entries if name in e.impossible]
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
        return f"{target} cannot be told: every class is impossible for this row."

    def chance(value: float) -> str:
        return percent(value) if ledger.proper else f"a score of {value:.3g}"

    own = ledger.posterior[ledger.of]
    against = 1 - own if ledger.against is None else ledger.posterior[ledger.against]
    if ledger.of == ledger.best:
        if len(ledger.posterior) == 2:
            return f"{target} is {of}, with {chance(own)}; {other} has {chance(against)}."
        return f"{target} is {of}, with {chance(own)}, weighed here against {other}, with {chance(against)}."
    best = f"{target} is {clean(ledger.best)}, with {chance(ledger.posterior[ledger.best])}."
    return f"{best} Weighed here: {of}, with {chance(own)}, against {other}, with {chance(against)}."


def lines(ledger: Ledger, everything: bool = False) -> Lines:
    """The ledger as a table, the evidence that weighs most first, with bars to either side."""
    shown_entries, hidden = _split(ledger, everything)
    sizes = [abs(e.log_ratio) for e in shown_entries if e.log_ratio is not None and math.isfinite(e.log_ratio)]
    unit = max(sizes, default=0.0) or 1.0
    of, other = sides(ledger)

    def line(entry: Entry, indent: str = "") -> list[tuple[str, ...]]:
        log = entry.log_ratio
        size = 0 if log is None else WIDEST if math.isinf(log) else round(WIDEST * min(abs(log) / unit, 1.0))
        bar = "▇" * max(size, 1 if log is not None and abs(log) >= TRIFLE else 0)
        left, right = ("", bar) if log is None or log >= 0 else (bar, "")
        told = "" if entry.silent else amount(ledger, log)
        out: list[tuple[str, ...]] = [(indent + heading(entry), told, left, right, saying(ledger, entry))]
        parts = sorted(entry.parts, key=lambda p: -math.inf if p.log_ratio is None else -abs(p.log_ratio))
        for part in parts if everything else parts[:MOST_PARTS]:
            out += line(part, indent + "  ")
        if not everything and len(parts) > MOST_PARTS:
            rest = summed([p.log_ratio for p in parts[MOST_PARTS:]])
            out.append((f"{indent}  … {len(parts) - MOST_PARTS} more", amount(ledger, rest), "", "", ""))
        return out

    rows = [row for entry in shown_entries for row in line(entry)]
    if hidden:
        rest = summed([e.log_ratio for e in hidden])
        rows.append((f"… {len(hidden)} more values", amount(ledger, rest), "", "", "smaller ones, added up"))
    log = ledger.log_odds
    if log is None:
        total = f"impossible for {of} and for {other}"
    elif math.isinf(log):
        total = f"impossible for {other if log > 0 else of}"
    elif abs(log) < TRIFLE:
        total = f"{of} and {other} are about as likely"
    else:
        total = f"{of if log > 0 else other} is {times(abs(log))} as likely"
    rows.append(("together", amount(ledger, log), "", "", total))
    return Lines(("evidence", ledger.unit, other, of, ""), tuple(rows), frozenset({1, 2}))


def _split(ledger: Ledger, everything: bool) -> tuple[list[Entry], list[Entry]]:
    """The entries that are written out, and those that are only added up."""
    if everything:
        return list(ledger.ordered), []
    told = [e for e in ledger.ordered if not _unknown(e)]
    if len(told) <= MOST + 2:  # not worth a line that says how many more there are
        return told, []
    kept = {id(e) for e in sorted(told, key=lambda e: -math.inf if e.log_ratio is None else -abs(e.log_ratio))[:MOST]}
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
        out.insert(0, f"Not known, so left out: {listed}{more}.")
    return tuple(out)


def written(ledger: Ledger) -> str:
    """The whole ledger as text."""
    found = lines(ledger)
    widths = [max(len(row[k]) for row in (found.header, *found.rows)) for k in range(len(found.header))]
    out = [headline(ledger)]
    for row in (found.header, *found.rows):
        cells = (
            c.rjust(w) if k in found.right else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        out.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join([*out, *remarks(ledger)])
