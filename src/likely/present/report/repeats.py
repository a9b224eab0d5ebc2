"""What `likely repeats` says, as small tables. Knows the record, no rows."""

from __future__ import annotations

from likely.evaluate.attributes.redundancy import CHANCE, FAR, Pair, chance
from likely.evaluate.repeats import Change, Counted, Repeats
from likely.present.sections import Report, Table
from likely.present.words import clean, number, percent, plural
from likely.table.infer import type_option


def present_repeats(record: Repeats, everything: bool = False) -> Report:
    """A verdict, the pairs, and for each of the worst what would change."""
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    matter = [p for p in record.pairs if p.matters]
    looked = plural(len(record.pairs), "pair")
    if not record.pairs:
        return Report(f"{where}.\nThere are no two attributes to compare.")
    headline = f"{where}, {looked} of attributes checked.\n" + (
        f"{plural(len(matter), 'pair')} {'is' if len(matter) == 1 else 'are'} "
        + (
            "redundant given the class, so naive Bayes counts the evidence twice."
            if all(p.same for p in matter)
            else "not independent given the class, as naive Bayes takes them to be: its odds are off."
        )
        if matter
        else "No pair is so redundant that counting both would distort the odds much."
    )
    same = [p for p in record.pairs if p.same and not p.matters]
    usual = matter[:10] + same[:5] or [p for p in record.pairs if p.p_of_all < CHANCE][:5]
    shown_pairs = record.pairs if everything else usual
    rows = tuple(
        (
            clean(p.one, 30),
            clean(p.other, 30),
            f"{p.bits:.3f}",
            percent(p.share),
            "the same" if p.same else chance(p.p_of_all),
            "–" if p.push is None else f"{p.push:+z.2f}",
        )
        for p in shown_pairs
    )
    header = ("one", "other", "bits shared", "share", "p", "odds off by, bits")
    title = "Pairs: what one reveals about the other within a class"
    pairs = Table(title, header, rows, frozenset({2, 3, 5}))
    tables = ((pairs,) if rows else ()) + tuple(
        table for one in record.counted for table in (*_odds(one), _what_if(record, one))
    )
    remarks = [_same(p) for p in shown_pairs if p.same]
    remarks += [_advice(record, one) for one in record.counted]
    for one in record.counted:
        remarks += [
            f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)} cannot be joined: {c.refused}"
            for c in one.changes
            if c.joined and c.scores is None
        ]
    if len(matter) > len(shown_pairs):
        remarks.append(f"Not shown: {plural(len(matter) - len(shown_pairs), 'pair')}; --all shows them.")
    if matter:
        remarks.append(
            "A pair is listed if both have the same value in every row and that matters, or if p is below "
            f"{CHANCE:g} (Holm, over all pairs) and the odds are off by {FAR:g} bits or more (1 bit is a factor "
            "of 2)."
        )
    return Report(headline, tables, tuple(remarks))


def _same(pair: Pair) -> str:
    names = f"{clean(pair.other, 30)} is {clean(pair.one, 30)} entered twice"
    return (
        f"{names}: the same value in all {plural(pair.rows, 'row')} checked. Counting both overstates the "
        f"odds by {pair.push or 0.0:.2f} bits on average. Keep one: {type_option(pair.other, 'ignore')}"
    )


def _odds(one: Counted) -> tuple[Table, ...]:
    """What an attribute entered twice does to the odds, level by level."""
    if not one.odds:
        return ()

    def written(odds: float | None) -> str:
        return "infinite" if odds is None else number(odds)

    rows = tuple(
        (clean(o.level, 30), clean(o.name, 30), written(o.before), written(o.once), written(o.twice)) for o in one.odds
    )
    names = f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}"
    title = f"{names} are the same: odds of a class from this attribute alone"
    return (Table(title, ("level", "class", "before", "counted once", "twice"), rows, frozenset({2, 3, 4})),)


def _loss(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.4f}"


def _what_if(record: Repeats, one: Counted) -> Table:
    now = record.scores
    rows = [("unchanged", percent(now.accuracy), _loss(now.log_loss), "")]
    for change in one.changes:
        if change.scores is None:
            rows.append((_name(change), "–", "–", ""))
            continue
        loss, before = change.scores.log_loss, now.log_loss
        less = "" if loss is None or before is None else f"{loss - before:+z.4f}"
        rows.append((_name(change), percent(change.scores.accuracy), _loss(loss), less))
    title = (
        f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}: what would change ({number(record.folds)} folds)"
    )
    return Table(title, ("", "accuracy", "log loss, bits per row", "change"), tuple(rows), frozenset({1, 2, 3}))


def _name(change: Change) -> str:
    return "joined" if change.without is None else f"without {clean(change.without, 30)}"


def _advice(record: Repeats, one: Counted) -> str:
    """The best way, if any is better than to leave things as they are."""
    pair = f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}"
    best, before = one.changes[0], record.scores.log_loss
    loss = None if best.scores is None else best.scores.log_loss
    if best.scores is None or loss is None or (before is not None and loss >= before):
        if one.pair.same:  # the same column twice is one piece of evidence, whatever a few rows say
            return f"{pair}: on held-out rows of this table none of the changes tried improves log loss."
        return f"{pair}: none of the changes tried improves log loss; leave them as they are."
    told = f"from {_loss(before)} to {_loss(loss)} bits per row"
    if best.without is None:
        joined = ",".join(_csv(n) for n in (one.pair.one, one.pair.other))
        how = "joining them"
        option = f"--block {_quoted(joined)}"
    else:
        how, option = f"leaving {clean(best.without, 30)} out", type_option(best.without, "ignore")
    return f"{pair}: {how} improves log loss {told}. Try {option}."


def _csv(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if doubled != name or "," in name or name != name.strip() else name


def _quoted(text: str) -> str:
    from shlex import quote

    return clean(quote(text), 200)
