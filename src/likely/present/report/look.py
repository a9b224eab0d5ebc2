"""What `likely look` says: sentences and tables, each built once for the terminal, Markdown and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from likely.evaluate.attributes.information import WordStatistics
from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.doctor import Checkup
from likely.evaluate.look import AttributeBits, Look
from likely.evaluate.scores.intervals import Measure, Paired
from likely.evaluate.scores.ranking import LiftRow, Ranking, Reliability
from likely.evaluate.scores.scores import LossScores, Scores
from likely.machinery.words import chance, clean, interval, number, percent, plural, weighed_rows
from likely.models.judgement import Subgroups
from likely.models.naive.one_rule import BEST_ATTRIBUTE
from likely.models.registry import spoken_name
from likely.present.charts.bars import SHADES, row_shares
from likely.present.document import Document, Styled, Table, bar_cell, link_cell, numbers_from
from likely.table.schema import Column

if TYPE_CHECKING:
    from likely.evaluate.curve import Curve

# The tables of a first look, each built once for the terminal, Markdown and the page. Knows the record, no rows.

FEW_CLASSES = 10
"""With more there is no table of true classes against those named."""
COLUMNS = "How the columns were read"


def learner_name(record: Look | Curve | Checkup, first: bool = True) -> str:
    """What people call the learner, as a sentence begins with it, or within one."""
    spoken = spoken_name(record.learner.partition("(")[0])
    return spoken[:1].upper() + spoken[1:] if first else spoken


def folds_title(dealing: Dealing) -> str:
    """How rows were dealt, as a title."""
    folds, by = dealing.folds, clean(dealing.dealt_by, 30)
    if dealing.dealt == "leave-one-out":
        return "Leave-one-out: each row is predicted from all the others"
    if dealing.dealt == "content":
        return "Scores on held-out rows, which the model had not seen"
    if dealing.dealt == "time":
        return f"In the order of {by}: each of {folds} parts is predicted from the rows before it"
    others = "the other one" if folds == 2 else f"the other {folds - 1}"
    out = f"Cross-validated: each of {folds} folds is predicted from {others}"
    if dealing.dealt == "group":
        out += f"; rows with the same {by} are in one fold"
    return out if dealing.repeats == 1 else f"{out}; {dealing.repeats} times"


def class_of(curve: Reliability) -> str:
    return "the predicted class" if curve.of is None else clean(curve.of, 20)


def share_bounds(bounds: Measure) -> str:
    """Bounds of a share, in per cent."""
    if bounds.low is None or bounds.high is None:
        return ""
    return f"{100 * bounds.low:.1f} to {100 * bounds.high:.1f} %"


def number_bounds(bounds: Measure, digits: int = 4) -> str:
    """Bounds of a number."""
    if bounds.low is None or bounds.high is None:
        return ""
    return f"{bounds.low:.{digits}f} to {bounds.high:.{digits}f}"


def loss_bits(value: float | None) -> str:
    """A log loss."""
    return "infinite" if value is None else f"{value:.4f}"


def score_table(record: Look) -> Table:
    """The scores of the learner with their bounds, beside those of the baselines."""
    one, bounds, baselines = record.scores, record.intervals, record.baselines
    others = {"guessing": record.baseline}
    if baselines.one_rule is not None and baselines.one_attribute is not None:
        others[f"{clean(baselines.one_attribute, 20)} alone"] = baselines.one_rule
    if baselines.naive_bayes is not None:
        others["naive Bayes"] = baselines.naive_bayes
    blank = ("",) * len(others)
    rows: list[tuple[str, ...]] = []

    def line(name: str, bounded: str, show: Callable[[Scores], str]) -> None:
        rows.append((name, show(one), bounded, *map(show, others.values())))

    if record.decisions is None:
        line("accuracy", share_bounds(bounds.accuracy), lambda scores: percent(scores.accuracy))
    else:
        costs = record.decisions
        rows.append(("expected loss, a row", number(costs.mean), "", number(costs.baseline), *blank[1:]))
        rows.append((f"always {clean(costs.constant, 20)}", "", "", number(costs.constant_mean), *blank[1:]))
        if costs.undecided:
            rows.append(("without an action", number(costs.undecided), "", *blank))
    line("log loss, bits a row", number_bounds(bounds.log_loss), lambda scores: loss_bits(scores.log_loss))
    line("Brier score, 0 to 2", number_bounds(bounds.brier), lambda scores: f"{scores.brier:.4f}")
    if one.unclassified:
        line("cannot be classified", "", lambda scores: number(scores.unclassified))
    if record.trust.calibration and record.decisions is None:
        rows.append(("calibration error", percent(record.trust.calibration[0].error), "", *blank))
    ranking = record.trust.rankings.get(record.trust.positive)
    if ranking is not None and len(record.classes) == 2:
        area = ranking.roc.auc
        rows.append(("area under ROC", f"{area.value or 0.0:.4f}", number_bounds(area), "0.5000", *blank[1:]))
    header = ("score", learner_name(record, first=False), "95 % interval", *others)
    spare = (*reversed([name for name in others if name != "guessing"]), "95 % interval")
    return Table(folds_title(record.dealing), header, tuple(rows), numbers_from(1, len(header)), spare=spare)


def share_table(classes: Mapping[str, float], weighed: bool = False) -> Table:
    """Classes and how frequent each is."""
    total = sum(classes.values()) or 1.0
    rows = tuple((clean(label), number(n), percent(n / total)) for label, n in classes.items())
    return Table("Classes", ("class", "weight" if weighed else "rows", "share"), rows, numbers_from(1, 3))


def class_table(record: Look) -> Table:
    """The classes: how frequent each is, and how well it is named."""
    table = share_table(record.classes, any(c.role == "weight" for c in record.columns))
    if record.decisions is not None or len(record.per_class) != len(record.classes):
        return table
    by = {one.label: one for one in record.per_class}
    for name in ("precision", "recall", "f1"):
        values = (getattr(by[label], name) for label in record.classes)
        cells = [_share(v.value if isinstance(v, Measure) else v) for v in values]
        table = table.with_column("F1" if name == "f1" else name, cells, number=True)
    ranked = record.trust.rankings
    if not ranked or len(record.classes) <= 2:
        return table
    areas = [f"{ranked[c].roc.auc.value:.4f}" if c in ranked else "–" for c in record.classes]
    return table.with_column("area under ROC", areas, number=True)


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _bounded(measure: Measure) -> str:
    """A share with its bounds."""
    wide = "" if measure.low is None or measure.high is None else f" ({share_bounds(measure).removesuffix(' %')})"
    return _share(measure.value) + wide


def precision_table(record: Look) -> Table:
    """How well each class is named, with bounds."""
    rows = () if record.decisions is not None else record.per_class
    lines = tuple(
        (clean(c.label, 40), number(c.rows), _bounded(c.precision), _bounded(c.recall), _share(c.f1)) for c in rows
    )
    title = "Precision and recall of each class, with 95 % intervals"
    return Table(title, ("class", "rows", "precision", "recall", "F1"), lines, numbers_from(1, 5))


def subgroup_table(found: Sequence[Subgroups]) -> Table:
    """How well the rows of each level are answered."""
    rows = []
    for own in found:
        for k, group in enumerate(own.groups):
            wide = f"{share_bounds(group.accuracy)}{' (few rows)' if group.small else ''}"
            level = "(missing)" if group.level is None else clean(group.level, 24)
            shares = percent(group.predicted), percent(group.actual.value or 0.0)
            first = "" if k else clean(own.attribute, 20)
            rows.append((first, level, number(group.rows), _share(group.accuracy.value), wide, *shares))
    of = clean(found[0].of, 20) if found else ""
    head = ("attribute", "level", "rows", "accuracy", "95 % interval", f"mean P({of})", "share of rows")
    title = f"Scores by subgroup: accuracy, and how much of {of} is predicted and found"
    return Table(title, head, tuple(rows), numbers_from(2, 7))


def calibration_table(record: Look) -> Table:
    """The reliability curve that matters most."""
    curves = record.trust.calibration
    return bins_of(curves[0]) if curves else Table("", (), ())


def bins_of(curve: Reliability) -> Table:
    """How often rows of about the same probability turned out so."""
    header = ("predicted probability", "average", "observed", "95 % interval", "rows")
    rows = tuple(
        (
            f"{percent(b.low)} to {percent(b.high)}",
            percent(b.probability),
            percent(b.share.value or 0.0),
            share_bounds(b.share),
            number(b.weight),
        )
        for b in curve.bins
    )
    what = "predicted correctly" if curve.of is None else class_of(curve)
    title = f"Calibration: how often rows were {what}, by predicted probability"
    return Table(title, header, rows, numbers_from(0, 5))


def lift_table(record: Look) -> Table:
    """How much of the class looked for is among the rows that rank highest; of two classes."""
    ranking = record.trust.rankings.get(record.trust.positive)
    return Table("", (), ()) if ranking is None or len(record.classes) != 2 else lift_of(ranking)


def lift_of(ranking: Ranking) -> Table:
    """How much of a class is among the rows that rank highest."""
    name = clean(ranking.roc.of, 20)
    header = ("of all rows", f"of {name}", "are it", "lift")
    rows = tuple(
        (percent(r.share), percent(r.found), percent(r.precision), f"×{r.lift:.2f}") for r in ranking.lift.rows
    )
    average = ranking.precision_recall
    title = (
        f"Lift: how much of {name} is among the highest-ranked rows "
        f"(average precision {average.average_precision:.4f}, of {average.prevalence:.4f} by chance)"
    )
    return Table(title, header, rows, numbers_from(0, 4))


def baseline_table(record: Look) -> Table:
    """What is compared with the baselines."""
    return against_table(f"{learner_name(record)} less the baselines", record.baselines.against)


def against_table(title: str, pairs: Sequence[Paired]) -> Table:
    """Differences with their bounds, and how often chance would make as much."""
    called = {"log_loss": "log loss, bits a row", "accuracy": "accuracy", "brier": "Brier score"}
    rows = tuple(
        (clean(p.other, 30), called[p.score], f"{p.difference.value or 0.0:+.4f}", number_bounds(p.difference),
         chance(p.p))
        for p in pairs
    )  # fmt: skip
    head = ("against", "score", "difference", "95 % interval", "by chance alone")
    over = f": {pairs[0].test}, over {pairs[0].folds:,} {pairs[0].units}" if pairs else ""
    return Table(title + over, head, rows, numbers_from(2, 5))


def attribute_title(record: Look) -> str:
    """What the table of attributes shows."""
    alone = f"reveals about {clean(record.target, 20)} by itself"
    if _without_importances(record):
        return f"What each attribute {alone}"
    return f"How far each attribute moves the answers, and what it {alone}"


def _without_importances(record: Look) -> bool:
    return all(a["importance"] is None for a in record.attributes)


def attribute_table(record: Look, links: Mapping[str, str] | None = None, most: float | None = None) -> Table:
    """What moves the answers, and what each attribute alone tells; `links` are the places of a page that say more,
    `most` is the longest bar."""
    texts, places, alone = {text.words.name for text in record.texts}, links or {}, _without_importances(record)
    longest = most or max([weight_of(a) for a in record.attributes], default=0.0) or 1.0
    rows = tuple(
        (
            link_cell(clean(a["name"], 40), places.get(a["name"], "")),
            *(() if alone else (f"{a['importance'] or 0.0:.2f}",)),
            bar_cell(weight_of(a) / longest),
            f"{'≥ ' if a['name'] in texts else ''}{percent(a['share'])}",
            percent(a["missing"]) if a["missing"] else "",
        )
        for a in record.attributes
    )
    if alone:
        return Table(attribute_title(record), ("attribute", "", "by itself", "missing"), rows, frozenset({2, 3}))
    return Table(attribute_title(record), ("attribute", "bits", "", "by itself", "missing"), rows, frozenset({1, 3, 4}))


def weight_of(attribute: AttributeBits) -> float:
    """What attributes are ordered by: how far one moves the answers; where that is not known, what it tells alone."""
    return attribute["bits"] if attribute["importance"] is None else attribute["importance"]


def word_table(words: WordStatistics) -> Table:
    """The words of a text column that tell most."""
    rows = tuple(
        (clean(w.word, 30), f"{w.bits:.4f}", number(w.documents), clean(w.label, 24), percent(w.share),
         percent(w.elsewhere))
        for w in words.strongest
    )  # fmt: skip
    title = f"Words of {clean(words.name, 20)} that alone tell most; it has {number(words.vocabulary)} of them"
    header = ("word", "bits", "texts", "speaks for", "of whose texts", "of others")
    return Table(title, header, rows, frozenset({1, 2, 4, 5}))


def evidence_table(record: Look) -> Table:
    """The single values after which a class is most, or least, to be expected; counted in the data, not by a model."""
    total = sum(record.classes.values()) or 1.0
    rows = []
    for p in record.evidence:
        usual = record.classes.get(p.label, 0.0) / total
        rows.append((clean(p.attribute, 20), clean(p.cell, 24), number(p.rows), clean(p.label, 20),
                     percent(p.share), percent(usual)))  # fmt: skip
    title = "Strongest single values: how often the class follows (first those least likely to be chance)"
    return Table(title, ("if", "is", "rows", "then", "share", "of all rows"), tuple(rows), frozenset({2, 4, 5}))


def confusion_table(record: Look) -> Table:
    """True classes against those named, or against actions; of many classes no line."""
    names = [clean(c, 20 if len(record.classes) < 4 else 10) for c in record.classes]
    table, columns, what = record.confusion, names, "the class named"
    if record.decisions is not None:
        actions = record.decisions.actions
        table, what = record.decisions.table, "the action"
        columns = [clean(a, 20 if len(actions) < 4 else 10) for a in actions]
    shades = row_shares(table)
    rows = tuple(
        (
            name,
            *(
                Styled(number(v), f"num {'right' if i == j else 'wrong'} shade{round(SHADES * float(shades[i, j]))}")
                for j, v in enumerate(row)
            ),
        )
        for i, (name, row) in enumerate(zip(names, table, strict=True))
    )
    header = ("true class", *(f"→ {n}" for n in columns))
    title = f"True class (rows) against {what} (columns)"
    return Table(title, header, rows if len(names) <= FEW_CLASSES else (), numbers_from(1, len(header)))


def error_table(record: Look, most: int = 8) -> Table:
    """Which classes are most often taken for which others."""
    names, shares = [clean(c, 40) for c in record.classes], row_shares(record.confusion)
    wrong = [(v, i, j) for i, row in enumerate(record.confusion) for j, v in enumerate(row) if i != j and v > 0]
    rows = tuple(
        (names[i], names[j], number(v), percent(float(shares[i, j])))
        for v, i, j in sorted(wrong, key=lambda error: -error[0])[:most]
    )
    return Table(
        "Most frequent errors", ("true class", "taken for", "rows", "of the true class"), rows, frozenset({2, 3})
    )


def column_table(columns: Sequence[Column]) -> Table:
    """How each column was read."""
    rows = tuple((clean(c.name, 40), c.kind, c.role, clean(c.why, 120)) for c in columns)
    return Table(COLUMNS, ("column", "kind", "role", "why"), rows)


# What `likely look` says, and the sentences that the page shares with it. Knows the record, no rows.

MOST_ATTRIBUTES, MOST_WARNINGS, MOST_NOTES = 5, 2, 3
"""Lines of each in the short view, which fits a terminal of 24 lines."""
TOP = 0.05
"""The share of rows, ranked highest, of which the answer speaks where naming classes gains nothing."""
NEARLY, LEAST_GAIN, GAP = 0.02, 0.001, 0.05
"""A temperature so near to 1, so few bits a row gained by one, or a smaller gap of a bin, is not worth a word."""


def present_look(record: Look, everything: bool = False) -> Document:
    """What `likely look` says: the answer, scores, the strongest attributes and warnings; or everything there is."""
    said = [_verdict(record), *(f"Warning: {words}" for words in leak_sentences(record))]
    headline = "\n".join([f"{clean(record.target)} in {clean(record.source)}: {size(record)}.", *said])
    if everything:
        return Document(headline, (*(t for t in _all_tables(record) if t.rows), *_all_remarks(record)))
    tables = [score_table(record), attribute_table(record).first(MOST_ATTRIBUTES)]
    tables += [word_table(text.words).first(MOST_ATTRIBUTES) for text in record.texts[:1]]
    others = record.warnings[len(leak_sentences(record)) :]
    warnings, notes = others[:MOST_WARNINGS], [*record.notes, *trust_sentences(record)]
    left = len(others) - len(warnings) + max(0, len(notes) - MOST_NOTES)
    counts = ((len(record.attributes) - MOST_ATTRIBUTES, "more attribute"), (left, "more remark"))
    counted = [plural(count, word) for count, word in counts if count > 0]
    hint = f"--all shows {', '.join([*counted, 'classes, the strongest evidence, errors, columns'])}."
    remarks = [*(f"Warning: {w}" for w in warnings), *notes[:MOST_NOTES], hint]
    return Document(headline, (*(t for t in tables if t.rows), *remarks))


def _all_tables(record: Look) -> list[Table]:
    tables = [score_table(record), class_table(record), calibration_table(record), lift_table(record)]
    tables += [precision_table(record), *(() if record.decisions else (subgroup_table(record.subgroups),))]
    tables += [baseline_table(record), attribute_table(record)]
    tables += [word_table(text.words) for text in record.texts]
    return [*tables, evidence_table(record), confusion_table(record), column_table(record.columns)]


def _all_remarks(record: Look) -> list[str]:
    more = "likely curve shows what more rows would bring."
    warnings = (f"Warning: {w}" for w in record.warnings[len(leak_sentences(record)) :])
    return [*trust_sentences(record), *warnings, *record.notes, more]


def size(record: Look) -> str:
    """How much there is."""
    rows = weighed_rows(record.rows, sum(record.classes.values()))
    return f"{rows}, {plural(len(record.classes), 'class')}, {plural(len(record.attributes), 'attribute')}"


# -- sentences ----------------------------------------------------------------------------------------------


def _verdict(record: Look) -> str:
    """How well the target is predicted, in a few short sentences that claim no more than the scores do."""
    if not record.attributes:
        return "No other column can be used, so nothing but the frequency of the classes is known."
    if record.decisions is not None:
        first = [cost_sentence(record.decisions, learner_name(record))]
    else:
        first = [answer_sentence(record), guess_sentence(record)]
        if (top := top_ranked(record)) is not None:
            first = [ranking_sentence(record, top), *first]
        first += [one_attribute_sentence(record), qualification(record)]
    return "\n".join(words for words in (*first, training_sentence(record)) if words)


def top_ranked(record: Look) -> LiftRow | None:
    """The rows that rank highest, where naming classes gains nothing but these rows clearly have more of the class
    looked for than all."""
    ranking = record.trust.rankings.get(record.trust.positive)
    if ranking is None or record.beats_guessing or (ranking.roc.auc.low or 0.0) <= 0.5:
        return None
    top = next(row for row in ranking.lift.rows if row.share == TOP)
    return top if top.bounds[0] > top.share else None


def ranking_sentence(record: Look, top: LiftRow) -> str:
    """How much more frequent the class looked for is among the rows that rank highest, with bounds."""
    low, high = (bound / top.share for bound in top.bounds)
    return (
        f"{learner_name(record)} ranks rows better than chance: among the {percent(top.share)} that it ranks highest, "
        f"{clean(record.trust.positive, 40)} is {top.lift:.1f} times as frequent as among all ({low:.1f}–{high:.1f} "
        f"times); they hold {percent(top.found)} of it."
    )


def leak_sentences(record: Look) -> tuple[str, ...]:
    """What must be known before the answer is believed: columns that give the class away."""
    return record.warnings[: len(record.leaks)]


def answer_sentence(record: Look) -> str:
    """The answer, with its interval."""
    bounds = record.intervals.accuracy
    wide = interval(bounds.low, bounds.high)
    return (
        f"{learner_name(record)} predicts {clean(record.target)} correctly for {percent(record.scores.accuracy)} of "
        f"unseen rows{f' ({wide})' if wide else ''}."
    )


def training_sentence(record: Look) -> str:
    """How many of the rows that were learned from are answered wrongly; nothing where that was not asked for."""
    own = record.training
    if own is None:
        return ""
    wrong = number(own.rows * (1 - own.accuracy), 6)
    return (
        f"On the rows it learned from: {wrong} error{'s' * (wrong != '1')} in {number(own.rows, 6)} (accuracy "
        f"{percent(own.accuracy)}, log loss {loss_bits(own.log_loss)} bits), which flatters it, as it has seen them."
    )


def guess_sentence(record: Look) -> str:
    """What always naming the most frequent class comes to."""
    frequent, guessing = clean(record.baselines.guess, 40), percent(record.baseline.accuracy)
    if not record.beats_guessing:
        return f"That is no better than always guessing {frequent}, which gets {guessing}."
    if not record.clearly_beats_guessing:
        return f"That is not clearly better than always guessing {frequent}, which gets {guessing}."
    return f"Always guessing {frequent} gets {guessing}."


def one_attribute_sentence(record: Look) -> str:
    """That one column alone does as well, as far as these rows can tell; else nothing."""
    alone, name = record.baselines.one_rule, record.baselines.one_attribute
    pairs = [p for p in record.baselines.against if (p.other, p.score) == ("one attribute", "log_loss")]
    if alone is None or name is None or not pairs or len(record.attributes) < 2:
        return ""
    named = [p for p in record.baselines.against if (p.other, p.score) == ("one attribute", "accuracy")]
    if any(p.difference.low is not None and p.difference.low > 0 for p in named):
        return ""  # its probabilities may be worse; that is said of its percentages
    if record.baseline.log_loss is None or alone.log_loss is None or alone.log_loss >= record.baseline.log_loss:
        return ""  # the attribute tells nothing either, and the baseline says so already
    worse = pairs[0].difference.high is not None and pairs[0].difference.high < 0
    if worse or pairs[0].difference.value is None or is_one_rule(record):
        return ""
    if alone.accuracy >= record.scores.accuracy:
        return f"One column does as well: {clean(name, 30)} alone gets {percent(alone.accuracy)}."
    return f"Not clearly better than one column: {clean(name, 30)} alone gets {percent(alone.accuracy)}."


def is_one_rule(record: Look) -> bool:
    """Whether the learner itself goes by one attribute."""
    return record.learner.partition("(")[0] == type(BEST_ATTRIBUTE).__name__


def qualification(record: Look) -> str:
    """What must be added where classes and probabilities are not both better than those of the baseline."""
    scores, baseline = record.scores, record.baseline
    named = record.beats_guessing
    # As it is printed: of two equal figures none is better.
    sharper = scores.log_loss is not None and (
        baseline.log_loss is None or round(scores.log_loss, 4) < round(baseline.log_loss, 4)
    )
    if named and scores.log_loss is None and baseline.log_loss is None:
        return ""  # a class that only held-out rows have is impossible to both
    if named and not sharper:
        if not record.clearly_beats_guessing:
            return "Its probabilities are no better than the class frequencies (see log loss)."
        return "But it is overconfident (see log loss): trust its classes, not its probabilities."
    if sharper and not named:
        return "Still, its probabilities beat the class frequencies (see log loss)."
    if not named and top_ranked(record) is not None:
        return "But neither its classes nor its log loss are better than guessing: trust the order of its rows alone."
    return "" if named else "Nothing is gained: neither its classes nor its log loss are better."


def cost_sentence(scores: LossScores, called: str) -> str:
    """What deciding costs, beside knowing nothing."""
    out = (
        f"{called} decides at a cost of {number(scores.mean)} a row on rows it has not learned from;\n"
        f"always choosing {clean(scores.constant, 30)} would cost {number(scores.constant_mean)}, "
        f"deciding by the frequencies of the classes {number(scores.baseline)}."
    )
    if scores.mean >= min(scores.constant_mean, scores.baseline):
        out += "\nNothing is gained: knowing nothing of a row costs no more."
    return out


def trust_sentences(record: Look) -> list[str]:
    """What there is to say of calibration, in a sentence each."""
    out, trust = [], record.trust
    doubted = bool(trust.calibration) and trust.calibration[0].doubted
    if doubted and record.decisions is None:
        out.append(calibration_sentence(trust.calibration[0]))
    better, loss = trust.sharpened, record.scores.log_loss
    if better is not None and abs(better.temperature - 1) <= NEARLY:
        better = None
    # Better than 1 by more than noise: chance hardly explains the calibration error.
    if better is not None and doubted and (loss is None or better.log_loss < min(0.99 * loss, loss - LEAST_GAIN)):
        how = "sure of itself" if better.temperature < 1 else "timid"
        words = f"It is too {how}: all evidence times {better.temperature:.2g} gives {better.log_loss:.4f} bits a row."
        if record.learner.startswith("NaiveBayes("):
            words += " To learn so: --temperature auto; to have the best learner chosen: --learner Auto."
        out.append(words)
    return out


def calibration_sentence(found: Reliability) -> str:
    """What the reliability curve comes to: how far off it is, whether chance explains that, and where it is worst."""
    error = 100 * found.error
    worst = max(found.bins, key=lambda b: b.weight * abs(b.probability - (b.share.value or 0.0)))
    gap = abs(worst.probability - (worst.share.value or 0.0))
    where = (
        f"where it gives {class_of(found)} {percent(worst.probability)}, that is right for "
        f"{percent(worst.share.value or 0.0)} of {plural(worst.weight, 'row')}"
    )
    off = f"Its probabilities are off by {error:.1f} points on average"
    if found.doubted:
        return f"{off}, more than chance explains: {where}."
    if gap >= GAP:
        return f"{off}. So few rows could do that by chance; {where}."
    return f"{off}, no more than chance would make it."
