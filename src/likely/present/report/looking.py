"""Tables of words for `likely look`: how well a target is predicted, or what deciding costs. Knows no rows."""

from __future__ import annotations

from likely.evaluate.attributes.word_information import WordStatistics
from likely.evaluate.look import Look
from likely.present.report import costs, trust
from likely.present.report.tables import Page, Table, numbers_from
from likely.present.report.words import clean, number, percent, plural

MOST_NOTES = 4


def of_look(record: Look, everything: bool = False) -> Page:
    """What `likely look` says."""
    size = f"{plural(record.rows, 'row')}, {plural(len(record.classes), 'class')}"
    headline = (
        f"{clean(record.target)} in {clean(record.source)}: {size}, {plural(len(record.attributes), 'attribute')}.\n"
        f"{_verdict(record)}"
    )
    decided = None if record.decisions is None else costs.score_rows(record.decisions)
    tables = [trust.score_table(record, called(record), decided), trust.class_table(record, everything)]
    tables += trust.full_tables(record) if everything else []
    tables.append(_attribute_table(record, everything))
    tables += [_word_table(text.words, everything) for text in record.texts]
    tables.append(_evidence_table(record))
    if len(record.classes) <= 10:
        tables.append(_confusion(record))
    tables.append(
        Table(
            "How the columns were read",
            ("column", "kind", "role", "why"),
            tuple(
                (clean(c.name, 30), c.kind, c.role, clean(c.why, 70))
                for c in (record.columns if everything else record.columns[:40])
            ),
        )
    )
    counts = (
        (len(record.classes), 20, "class"),
        (len(record.attributes), 20, "attribute"),
        (len(record.columns), 40, "column"),
    )
    more = [plural(n - most, word) for n, most, word in counts if n > most and not everything]
    hidden = [f"Not shown: {', '.join(more)}; --all shows them."] if more else []
    if not everything:
        hidden.append("--all also shows calibration, lift and baselines; likely curve, what more rows buy.")
    notes = list(record.notes if everything else record.notes[:MOST_NOTES])
    if len(record.notes) > len(notes):
        notes.append(f"{len(record.notes) - len(notes)} more such notes; --all shows them.")
    remarks = [*trust.sentences(record), *(f"Beware: {w}" for w in record.warnings), *notes, *hidden]
    return Page(headline, tuple(t for t in tables if t.rows), tuple(remarks))


_CALLED = {
    "NaiveBayes": "Naive Bayes",
    "FullBayes": "Full Bayes",
    "TreeAugmented": "Tree-augmented Bayes",
    "OneDependence": "One-dependence Bayes",
    "LeastSquares": "Least squares",
    "Logistic": "Logistic regression",
    "Neighbors": "Neighbour voting",
}


def called(record: Look) -> str:
    """What people call the learner."""
    name = record.learner.partition("(")[0]
    return _CALLED.get(name, name)


def _verdict(record: Look) -> str:
    """How well the target is predicted, in a sentence or two that claim no more than the scores do."""
    scores, baseline = record.scores, record.baseline
    if not record.attributes:
        return "No other column can be used, so nothing but the frequency of the classes is known."
    if record.decisions is not None:
        return costs.verdict(record.decisions, called(record))
    found = (
        f"{called(record)} names the right class of {percent(scores.accuracy)} of rows it has not learned from;\n"
        f"always naming the most frequent class is right for {percent(baseline.accuracy)}."
    )
    named = scores.accuracy > baseline.accuracy
    sharper = scores.log_loss is not None and (baseline.log_loss is None or scores.log_loss < baseline.log_loss)
    if named and scores.log_loss is None and baseline.log_loss is None:
        return found  # a class that only held-out rows have is impossible to both
    if named and not sharper:
        found += "\nBut it is too sure of itself (see log loss): trust its classes, not its percentages."
    elif sharper and not named:
        found += "\nStill, its probabilities tell more than the frequencies alone do (see log loss)."
    elif not named:
        found += "\nNothing is gained: neither its classes nor its log loss are better."
    return found


def _attribute_table(record: Look, everything: bool) -> Table:
    rows = record.attributes if everything else record.attributes[:20]
    most = max([a["bits"] for a in rows], default=0.0) or 1.0
    texts = {text.words.name for text in record.texts}
    return Table(
        f"What each attribute alone tells about {clean(record.target, 20)}, of {record.entropy:.3f} bits to be known",
        ("attribute", "bits", "share", "missing", ""),
        tuple(
            (
                clean(a["name"], 40),
                f"{'≥ ' if a['name'] in texts else ''}{a['bits']:.4f}",
                percent(a["share"]),
                percent(a["missing"]) if a["missing"] else "",
                "▇" * round(20 * a["bits"] / most),
            )
            for a in rows
        ),
        frozenset({1, 2, 3}),
    )


def _word_table(told: WordStatistics, everything: bool) -> Table:
    """The words of a text column that tell most."""
    return Table(
        f"Words of {clean(told.name, 20)} that alone tell most; it has {number(told.vocabulary)} of them",
        ("word", "bits", "texts", "speaks for", "of whose texts", "of others"),
        tuple(
            (clean(w.word, 30), f"{w.bits:.4f}", number(w.documents), clean(w.label, 24), percent(w.share),
             percent(w.elsewhere))
            for w in (told.strongest if everything else told.strongest[:10])
        ),
        frozenset({1, 2, 4, 5}),
    )  # fmt: skip


def _evidence_table(record: Look) -> Table:
    return Table(
        "Strongest single pieces of evidence (first those least likely to be chance)",
        ("if", "is", "then the odds of", "go", "bits", "rows"),
        tuple(
            (
                clean(p.attribute, 20),
                clean(p.cell, 22),
                clean(p.label, 18),
                f"×{2**p.bits:.3g}",
                f"{p.bits:+.2f}",
                number(p.rows),
            )
            for p in record.evidence
        ),
        frozenset({3, 4, 5}),
    )


def _confusion(record: Look) -> Table:
    names = [clean(c, 20 if len(record.classes) < 4 else 10) for c in record.classes]
    if record.decisions is not None:
        header, rows = costs.action_rows(record.decisions, names)
        return Table("True class (rows) against the action (columns)", header, rows, numbers_from(1, len(header)))
    header = ("true class", *(f"→ {n}" for n in names))
    rows = tuple((name, *(number(v) for v in row)) for name, row in zip(names, record.confusion, strict=True))
    return Table("True class (rows) against the class named (columns)", header, rows, numbers_from(1, len(header)))
