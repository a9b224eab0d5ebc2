"""The card of a model: what it is, how good and for whom, what drives it, and its limits; from what the model keeps."""

from __future__ import annotations

import math

from likely.evaluate.attributes.information import find_importances
from likely.machinery.words import Figure, clean, interval, percent, plural
from likely.models.contracts import Model
from likely.models.judgement import Judgement, Measure
from likely.models.settings import changed_settings
from likely.portable.origin import describe_origin, held_out_sentence, judgement_sentence
from likely.present.document import Document, Table, numbers_from
from likely.present.report.look import number_bounds, share_bounds, subgroup_table
from likely.present.report.model import learner_settings, made_of, rows_measured, tell_values
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers

MOST_CLASSES, MOST_ATTRIBUTES, MOST_LEVELS = 20, 20, 8
"""Of which a card has a line, or a name; it says how many more there are."""
TO_FILL_IN = (
    "What it is for, and who decides by it",
    "What it must not be used for",
    "Whom its answers concern, and how they can object",
    "Who answers for it, and when it is looked at again",
)


def present_card(model: Model) -> Document:
    """The card as tables and sentences.

    >>> import likely
    >>> card = present_card(likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play", "NaiveBayes"))
    >>> [table.title for table in card.tables]
    ['What it is', 'What drives it', 'What it knows of each attribute', 'To be filled in']
    """
    target = "whole rows" if model.schema.target is None else clean(model.schema.target.name, 80)
    drives, blanks = _drivers(model), Table("To be filled in", ("", ""), tuple((what, "") for what in TO_FILL_IN))
    tables = (_what_it_is(model, target), *judgement_tables(model), drives, _attributes(model), blanks)
    headline = f"Model card: {target}\n{judgement_sentence(model)}"
    return Document(headline, (*(table for table in tables if table.rows), *limits(model)))


def _what_it_is(model: Model, target: str) -> Table:
    weights = model.summary.total.floats()
    whole = float(weights.sum()) or 1.0
    each = [f"{clean(c, 30)} {percent(w / whole)}" for c, w in zip(model.classes, weights.tolist(), strict=True)]
    rows = [
        ("predicts", target),
        *([] if model.schema.target is None else [("classes, share of the rows", _listed(each, MOST_CLASSES))]),
        ("from", plural(len(model.schema.attributes), "attribute")),
        ("made of", made_of(model)),
        *([("learned by", learner_settings(model.learner))] if changed_settings(model.learner) else []),
        *(item for item in describe_origin(model).items() if item[0] != "score"),
    ]
    return Table("What it is", ("", ""), tuple(rows))


def _listed(words: list[str], most: int) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f", and {more} more" if more > 0 else "")


def judgement_tables(model: Model) -> tuple[Table, ...]:
    """How good the model was on rows that it had not seen, all in all and by subgroup; nothing where nobody knows."""
    return () if model.judgement is None else show_judgement(model.judgement).tables


def show_judgement(found: Judgement) -> Document:
    """The same as a document, which says how rows were held out."""
    of = clean(found.of, 20)

    def line(name: str, measure: Measure, share: bool = False) -> tuple[str, ...]:
        value, bounds = measure.value, share_bounds(measure) if share else number_bounds(measure)
        return name, "infinite" if value is None else percent(value) if share else Figure(f"{value:.4f}", value), bounds

    scores = [
        line("accuracy", found.accuracy, share=True),
        (f"always guessing {clean(found.guess, 20)}", percent(found.guessing), ""),
        line("log loss, bits a row", found.log_loss),
        line("Brier score, 0 to 2", found.brier),
        *(() if found.auc.value is None else (line(f"area under ROC, {of}", found.auc),)),
        *(() if found.calibration_error is None else (("calibration error", percent(found.calibration_error), ""),)),
    ]
    title = f"Scores on {plural(found.rows, 'held-out row')}"
    table = Table(title, ("score", "", "95 % interval"), tuple(scores), numbers_from(1, 3))
    tables = (table, subgroup_table(found.subgroups)) if found.subgroups else (table,)
    wide, share = interval(found.accuracy.low, found.accuracy.high), percent(found.accuracy.value or 0.0)
    headline = f"Accuracy {share}{f' ({wide})' if wide else ''} on {plural(found.rows, 'held-out row')}"
    return Document(headline, (*tables, held_out_sentence(found)))


def _drivers(model: Model) -> Table:
    ordered = sorted(find_importances(model).items(), key=lambda item: -item[1])
    rows = [(clean(name, 40), Figure(f"{v / math.log(2):.3f}", v / math.log(2))) for name, v in ordered]
    if (more := len(rows) - MOST_ATTRIBUTES) > 0:
        rows[MOST_ATTRIBUTES:] = [(f"{more} more", Figure("", math.nan))]
    return Table("What drives it", ("attribute", "mean evidence, bits"), tuple(rows), frozenset({1}))


def _attributes(model: Model) -> Table:
    rows, whole = [], float(model.summary.total.floats().sum()) or 1.0
    for column in model.schema.attributes:
        statistic, known, missing = model.summary.columns[column.name], tell_values(model, column), ""
        if isinstance(statistic, Counts):
            known = _listed([clean(level, 30) for level in model.levels(column.name)], MOST_LEVELS)
        if isinstance(statistic, (Counts, Numbers)):
            missing = percent(float(statistic.other[0].floats().sum()) / whole)
        rows.append((clean(column.name, 40), column.kind, known, missing))
    header = ("attribute", "kind", "known values", "missing")
    return Table("What it knows of each attribute", header, tuple(rows), frozenset({3}))


def limits(model: Model) -> tuple[str, ...]:
    """What must be known before the model is relied on."""
    found = model.judgement
    unseen = "is refused" if model.refuse_unseen else "is answered with a remark"
    unknown = "adds nothing, or is summed over" if model.references is None else "is averaged over, given the others"
    return (
        *(() if found is None else (held_out_sentence(found),)),
        "Scores are of rows like those that it learned from; of others they say nothing.",
        f"A level that training did not have {unseen}; of numbers beyond the range above it has seen none.",
        f"A cell that is not known {unknown}.",
        f"What drives it is what the model goes by, in the mean over {rows_measured(model)}, not what causes what.",
        *model.notes,
    )
