"""Tables of words: what `look` and `show` say, ready to be printed in any way. Knows records and models, no rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.evaluate.compare import Comparison
from likely.evaluate.look import Look
from likely.models.binned import Binned
from likely.models.bins import names_of
from likely.models.categorical import Categorical, LevelSettings, categorical
from likely.models.gaussian import Gaussian, root_of
from likely.models.hypotheses import Hypotheses
from likely.models.kernel import KernelDensity
from likely.models.learners import changed_settings
from likely.models.model import Exhibit, Model
from likely.models.product import Product
from likely.models.quotient import Quotient
from likely.report.words import clean, duration, moment, number, percent, plural
from likely.sums import state
from likely.sums.counts import Counts
from likely.sums.numbers import Numbers
from likely.table.batch import MISSING_CODE, UNSEEN_CODE

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Table:
    """A small table of words; `right` names the columns of numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Page:
    """What one command says: a headline, tables, then remarks."""

    headline: str
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()


def _numbers_from(start: int, width: int) -> frozenset[int]:
    return frozenset(range(start, width))


# -- look ---------------------------------------------------------------------------------------------------


def of_look(record: Look, everything: bool = False) -> Page:
    """What `likely look` says."""
    total, shown_classes = sum(record.classes.values()), list(record.classes.items())
    weighed = "weight" if any(c.role == "weight" for c in record.columns) else "rows"
    classes = Table(
        "Classes",
        ("class", weighed, "share"),
        tuple((clean(c), number(n), percent(n / total)) for c, n in shown_classes[: None if everything else 20]),
        _numbers_from(1, 3),
    )
    size = f"{plural(record.rows, 'row')}, {plural(len(record.classes), 'class')}"
    headline = (
        f"{clean(record.target)} in {clean(record.source)}: {size}, {plural(len(record.attributes), 'attribute')}.\n"
        f"{_verdict(record)}"
    )
    tables = [_score_table(record), classes, _attribute_table(record, everything), _evidence_table(record)]
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
    remarks = [*(f"Beware: {w}" for w in record.warnings), *record.notes, *hidden]
    return Page(headline, tuple(t for t in tables if t.rows), tuple(remarks))


_CALLED = {
    "NaiveBayes": "Naive Bayes",
    "FullBayes": "Full Bayes",
    "Tree": "Tree-augmented Bayes",
    "OneDependence": "One-dependence Bayes",
    "Linear": "Least squares",
    "Logistic": "Logistic regression",
    "Neighbors": "Neighbour voting",
}


def _called(record: Look) -> str:
    """What people call the learner."""
    name = record.learner.partition("(")[0]
    return _CALLED.get(name, name)


def _verdict(record: Look) -> str:
    """How well the target is predicted, in a sentence or two that claim no more than the scores do."""
    scores, baseline = record.scores, record.baseline
    if not record.attributes:
        return "No other column can be used, so nothing but the frequency of the classes is known."
    found = (
        f"{_called(record)} names the right class of {percent(scores.accuracy)} of rows it has not learned from;\n"
        f"always naming the most frequent class is right for {percent(baseline.accuracy)}."
    )
    named = scores.accuracy > baseline.accuracy
    sharper = scores.log_loss is not None and (baseline.log_loss is None or scores.log_loss < baseline.log_loss)
    if named and not sharper:
        found += "\nBut it is too sure of itself (see log loss): trust its classes, not its percentages."
    elif sharper and not named:
        found += "\nStill, its probabilities tell more than the frequencies alone do (see log loss)."
    elif not named:
        found += "\nNothing is gained: neither its classes nor its log loss are better."
    return found


def _score_table(record: Look) -> Table:
    def bits(value: float | None) -> str:
        return "infinite" if value is None else f"{value:.4f}"

    one, two = record.scores, record.baseline
    rows: tuple[tuple[str, ...], ...] = (
        ("accuracy", percent(one.accuracy), percent(two.accuracy), "higher is better"),
        ("log loss, bits a row", bits(one.log_loss), bits(two.log_loss), "lower is better"),
        ("Brier score", f"{one.brier:.4f}", f"{two.brier:.4f}", "lower is better; 0 to 2"),
    )
    if one.unclassified:
        rows += (("cannot be classified", number(one.unclassified), number(two.unclassified), "counted as wrong"),)
    others = "the other one" if record.folds == 2 else f"the other {record.folds - 1}"
    title = f"Cross-validated: each of {record.folds} folds is predicted by what {others} taught"
    return Table(title, ("score", _called(record), "frequencies only", ""), rows, frozenset({1, 2}))


def _attribute_table(record: Look, everything: bool) -> Table:
    rows = record.attributes if everything else record.attributes[:20]
    most = max([a["bits"] for a in rows], default=0.0) or 1.0
    return Table(
        f"What each attribute alone tells about {clean(record.target, 20)}, of {record.entropy:.3f} bits to be known",
        ("attribute", "bits", "share", "missing", ""),
        tuple(
            (
                clean(a["name"], 40),
                f"{a['bits']:.4f}",
                percent(a["share"]),
                percent(a["missing"]) if a["missing"] else "",
                "▇" * round(20 * a["bits"] / most),
            )
            for a in rows
        ),
        frozenset({1, 2, 3}),
    )


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
    header = ("true class", *(f"→ {n}" for n in names))
    rows = tuple((name, *(number(v) for v in row)) for name, row in zip(names, record.confusion, strict=True))
    return Table("True class (rows) against the class named (columns)", header, rows, _numbers_from(1, len(header)))


def of_comparison(record: Comparison) -> Page:
    """What `likely compare` says."""
    rows, refused = [], []
    for one in record.learners:
        if one.scores is None:
            refused.append(f"{clean(one.name)} is not in the table: {one.refused}")
            continue
        loss = "infinite" if one.scores.log_loss is None else f"{one.scores.log_loss:.4f}"
        unclassified = number(one.scores.unclassified) if one.scores.unclassified else ""
        rows.append((clean(one.name), percent(one.scores.accuracy), loss, f"{one.scores.brier:.4f}", unclassified))
    where, over = f"{clean(record.target)} in {clean(record.source)}", f"{plural(record.rows, 'row')}"
    headline = f"{where}: {_winner(record)}, over {over} in {record.folds} folds."
    header = ("learner", "accuracy", "log loss, bits a row", "Brier score", "no answer")
    tables = (Table("Learners", header, tuple(rows), _numbers_from(1, 5)),) if rows else ()
    odd = [clean(one.name) for one in record.learners if not one.proper]
    told = [f"{name} gives scores, not probabilities; its log loss is theirs." for name in odd]
    return Page(headline, tables, (*told, *refused))


def _winner(record: Comparison) -> str:
    """Who gives the best probabilities; nobody, where the frequencies of the classes do as well."""
    scored = [one for one in record.learners if one.scores is not None]
    if not scored:
        return "no learner could learn"
    best = scored[0].scores
    if any(one.learner == "Prior" and one.scores == best for one in scored):
        return "nothing gives better probabilities than the frequencies of the classes"
    if best is not None and best.log_loss is None:
        return f"{clean(scored[0].name)} names the right class most often (every log loss is infinite)"
    return f"{clean(scored[0].name)} gives the best probabilities"


# -- show ---------------------------------------------------------------------------------------------------


def of_model(model: Model, fractions: bool = False) -> Page:
    """What `likely show` says of a whole model."""
    summary, target = model.summary, model.schema.target
    weights = summary.total.floats()
    shares = [Quotient(w, sum(summary.total.fractions(), Fraction(0))) for w in summary.total.fractions()]
    priors = getattr(model, "prior", shares)
    classes = Table(
        "Classes",
        ("class", "weight", "P(class)"),
        tuple(
            (clean(c), number(w), str(p) if fractions else number(float(p)))
            for c, w, p in zip(model.classes, weights, priors, strict=True)
        ),
        _numbers_from(1, 3),
    )
    rows: list[tuple[str, ...]] = []
    for column in model.schema.columns:
        if column.role != "attribute":
            rows.append((clean(column.name, 40), column.kind, column.role, clean(column.why, 70)))
            continue
        statistic = summary.columns[column.name]
        if isinstance(statistic, Counts):
            about = plural(len(statistic.labels), "level")
        else:
            values, _ = statistic.tally()
            tell = moment if column.kind == "date" else number
            about = f"{tell(values[0])} to {tell(values[-1])}" if len(values) else "no values"
        rows.append((clean(column.name, 40), column.kind, "attribute", about))
    columns = Table("Columns", ("column", "kind", "role", "about"), tuple(rows))
    name = clean(target.name) if target else "a density"
    return Page(
        f"{name} by {_settings(model.learner)}, from {plural(summary.rows, 'row')}"
        + (f" ({plural(summary.left_out, 'row')} left out)" if summary.left_out else ""),
        (*((classes,) if target else ()), columns, *(_table(e) for e in model.exhibits())),
        model.notes,
    )


def _table(exhibit: Exhibit) -> Table:
    rows = tuple(tuple(clean(c) if isinstance(c, str) else number(c) for c in row) for row in exhibit.rows)
    right = frozenset(k for row in exhibit.rows for k, c in enumerate(row) if not isinstance(c, str))
    return Table(exhibit.title, tuple(clean(h, 40) for h in exhibit.header), rows, right)


def _settings(learner: Any) -> str:
    """A learner's name, with the settings that are not the usual ones."""
    name, said = type(learner).__name__, changed_settings(learner)
    if isinstance(learner, Hypotheses):
        said["members"] = learner.titles
    listed = ", ".join(f"{k}={clean(repr(v), 80)}" for k, v in said.items())
    return f"{name}({listed})" if said else f"{name} with the usual settings"


def of_attribute(model: Model, name: str, fractions: bool = False) -> Page:
    """What `likely show` says of one attribute: counts and probabilities, or the densities."""
    column = model.schema[name]
    if column.role == "target":
        return Page(f"{clean(name)} is the target.", of_model(model, fractions).tables[:1])
    if column.role != "attribute":
        known = [c.name for c in model.schema.attributes]
        role = "the weight" if column.role == "weight" else column.role
        raise ColumnError(f"{shown(name)} is {role}, so the model says nothing of it. {nearest(name, known)}")
    statistic = model.summary.columns[name]
    factor = next((f for f in model.factors if f.name == name), None) if isinstance(model, Product) else None
    if isinstance(statistic, Counts):
        if not isinstance(factor, Categorical):
            factor = categorical(column, statistic, LevelSettings(0.0, None, None, False, False))
        return _levels(model, factor, fractions)
    if isinstance(factor, Binned):
        names = names_of(factor.edges, factor.closed, moment) if column.kind == "date" else None
        return _levels(model, factor.levels, fractions, "bin", names)
    if fractions:
        raise SettingError(f"{shown(name)} is a number: it has a density, which is no fraction. Leave --fractions out.")
    return _densities(model, column.kind == "date", factor, statistic, name)


def _levels(
    model: Model, factor: Categorical, fractions: bool, word: str = "level", told: list[str] | None = None
) -> Page:
    """Levels, or bins as levels; `told` says how they are called where that is not by their names."""
    names, counts = factor.labels.names, factor.counts
    seen_of, none = factor.seen(), np.zeros(len(model.classes))
    rows = []
    for code, level in [*enumerate(told or names), (UNSEEN_CODE, "(any other)"), (MISSING_CODE, "(missing)")]:
        quotients = factor.quotients(code)
        if quotients is None:
            continue
        seen = seen_of[code] if code >= 0 else (counts.other[0].floats() if code == MISSING_CODE else none)
        chances = [str(q) if fractions else number(float(q)) for q in quotients]
        rows.append((clean(level, 40), *(number(n) for n in seen), *chances))
    classes = [clean(c, 20) for c in model.classes]
    header: tuple[str, ...] = (word, *(f"n({c})" for c in classes), *(f"P({word}|{c})" for c in classes))
    if model.schema.target is None:
        header = (word, "n", f"P({word})")
    missing = counts.other.floats()[0]
    remarks = []
    if missing.any() and factor.quotients(MISSING_CODE) is None:
        each = ", ".join(f"{c} {number(m)}" for c, m in zip(classes, missing, strict=True) if m)
        remarks.append(f"Missing, and left out: {each}.")
    own = isinstance(model, Product) and any(f.name == factor.name for f in model.factors)
    title = f"Counts, and the {'probability' if own else 'share in training'} of each {word}"
    title += " in each class" if model.schema.target is not None else ""
    table = Table(title, header, tuple(rows), _numbers_from(1, len(header)))
    return Page(f"{clean(factor.name)}: {plural(len(names), word)}", (table,), tuple(remarks))


def _densities(model: Model, dates: bool, factor: Any, numbers: Numbers, name: str) -> Page:
    at, length = (moment, duration) if dates else (number, number)
    values, table = numbers.tally()
    per_class, moments = table.floats(), numbers.moments()
    rows = []
    for k, label in enumerate(model.classes):
        below = np.cumsum(per_class[:, k])
        spread = ["–"] * len(QUANTILES)
        if len(below) and below[-1] > 0:
            found = np.searchsorted(below, np.maximum(np.array(QUANTILES) * below[-1], np.nextafter(0, 1)))
            spread = [at(float(values[min(i, len(values) - 1)])) for i in found]
        mean, sd, width = "–", "–", []
        normal = factor.normal if isinstance(factor, KernelDensity) else factor
        if isinstance(normal, Gaussian):
            mean, sd = at(float(normal.mean[k])), length(float(normal.deviation[k]))
        elif factor is None and moments[k][0] > 1:
            weight, first, second = moments[k]
            mean, sd = at(float(first / weight)), length(root_of((second - first * first / weight) / (weight - 1)))
        if isinstance(factor, KernelDensity):
            width = [length(float(factor.bandwidth[k]))]
        gone = numbers.other[:, k].sum(0).floats()
        rows.append(
            (
                clean(label, 20),
                number(float(below[-1]) if len(below) else 0.0),
                number(float(gone)),
                mean,
                sd,
                *width,
                *spread,
            )
        )
    kernels = ["bandwidth"] if isinstance(factor, KernelDensity) else []
    header = ("class", "weight", "missing", "mean", "sd", *kernels, "least", "25 %", "median", "75 %", "greatest")
    left_out = factor is None and isinstance(model, Product) and model.generative
    remarks = ["The values have no spread, so the model leaves this attribute out."] if left_out else []
    if numbers.level:
        remarks.append("The quantiles are read off a tally of rounded values; mean and sd are exact.")
    kind = "kernel" if isinstance(factor, KernelDensity) else "normal"
    title = f"A {kind} density for each class" if factor is not None else "Values"
    return Page(
        f"{clean(name)}: numbers", (Table(title, header, tuple(rows), _numbers_from(1, len(header))),), tuple(remarks)
    )


def page_json(page: Page) -> bytes:
    """A page as JSON: its tables as lists of records."""
    tables = [{"title": t.title, "rows": [dict(zip(t.header, r, strict=True)) for r in t.rows]} for t in page.tables]
    return state.as_json({"headline": page.headline, "tables": tables, "remarks": list(page.remarks)})
