"""Single charts as SVG, each with its own style: `likely.plot`. Draws what the page draws; knows no rows."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from likely.apply.explain.ledger import Ledger
from likely.classroom.drawings import SIZE, draw_straight_line, draw_two_numbers
from likely.classroom.pictures import StraightLine, TwoNumbers
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.evaluate.attributes.information import value_logs
from likely.evaluate.compare import Comparison
from likely.evaluate.curve import Curve
from likely.evaluate.look import Look
from likely.machinery.words import clean, number, percent, plural, signed
from likely.models.contracts import Model
from likely.models.posterior import Posterior
from likely.present.charts.bars import NamedBar, bar_chart, confusion_map
from likely.present.charts.drawing import COLOURS, Chart, standalone
from likely.present.charts.lines import gain, learning, reliability, roc
from likely.present.charts.planes import MOST_NODES, draw_graph, graph, landscape
from likely.present.document import Document
from likely.present.effects import evidence_bits, prior_of
from likely.present.page.attributes import MOST_WORDS, asked_values, draw_number, word_bits
from likely.present.report.model import graph_tables
from likely.present.showing import draw_comparison
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers

OF_LOOK = ("importance", "bits", "confusion", "calibration", "reliability", "roc", "gain", "plane", "graph")


def plot(
    thing: object,
    what: str | None = None,
    *,
    attribute: str | None = None,
    size: tuple[float, float] = SIZE,
    fractions: bool = False,
) -> Chart:
    """One chart, as SVG: a string that a notebook shows and that `save` writes to a file, as PNG if it is called so.

    Of a look: 'importance' (how far each attribute moves the answers), 'bits' (what each tells alone), 'confusion',
    'calibration', 'roc', 'gain', 'plane' (two numbers; of a look with `picture=True`), 'graph'. Of a model:
    'importance', 'graph' (P(level | class) beside each node, as `fractions` if asked), or with `attribute=` what its
    values say. Of a comparison, a curve, a posterior of one row, a ledger, two numbers (`likely.two_numbers`) or a line
    (`likely.straight_line`): the one chart there is, also by its name ('compare', 'curve', 'posterior', 'ledger').

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> plot(model, attribute="sky")[:44]
    '<svg xmlns="http://www.w3.org/2000/svg" clas'
    """
    if isinstance(thing, Look):
        if attribute is not None:
            return standalone(_attribute(_model(thing), attribute))
        known = any(a["importance"] is not None for a in thing.attributes)
        return standalone(_of_look(thing, what or ("importance" if known else "bits"), fractions))
    if isinstance(thing, Model):
        if attribute is not None:
            return standalone(_attribute(thing, attribute))
        if what == "importance" or (what is None and thing.importance is not None):
            return standalone(_importance(thing))
        if what in (None, "graph"):
            return standalone(_graph(thing, {}, fractions))
        raise SettingError(f"A model has no chart {shown(what)}. Say 'importance', 'graph', or attribute='NAME'.")
    names = (None, type(thing).__name__.lower(), *(("compare",) if isinstance(thing, Comparison) else ()))
    if what not in names or attribute is not None:
        raise SettingError(f"There is one chart of {_kind(thing)} only: leave {shown(what or attribute)} out.")
    if isinstance(thing, Comparison):
        return standalone(draw_comparison(thing))
    if isinstance(thing, Curve):
        drawn = learning(thing)
        if not drawn:
            raise SettingError("The curve has fewer than two sizes with a score, so there is nothing to draw.")
        return standalone(drawn[0])
    if isinstance(thing, Posterior):
        return standalone(_posterior(thing))
    if isinstance(thing, Ledger):
        return standalone(_ledger(thing))
    if isinstance(thing, TwoNumbers):
        return standalone(draw_two_numbers(thing, size))
    if isinstance(thing, StraightLine):
        return standalone(draw_straight_line(thing, size))
    raise SettingError(
        f"{shown(thing)} cannot be drawn. Give a look, a model, a comparison, a curve, a posterior, a ledger, "
        "two_numbers(…) or straight_line(…)."
    )


def _kind(thing: object) -> str:
    return f"a {type(thing).__name__.lower()}"


def _model(record: Look) -> Model:
    if record.model is None:
        raise SettingError("This look keeps no model. Look with picture=True, or fit a model and draw that.")
    return record.model


def _of_look(record: Look, what: str, fractions: bool) -> Chart:
    if what == "bits":
        told = sorted(record.attributes, key=lambda a: -a["bits"])
        found = [NamedBar(clean(a["name"], 40), a["bits"], f"{a['bits']:.3f}") for a in told]
        return bar_chart(f"What each attribute tells about {clean(record.target, 40)} alone", "bits", found)
    if what == "importance":
        return _bars_of_importance(record.target, {a["name"]: a["importance"] for a in record.attributes})
    if what == "confusion":
        return confusion_map([clean(c, 40) for c in record.classes], record.confusion)
    if what in ("roc", "gain"):
        ranking = record.trust.rankings.get(record.trust.positive)
        if ranking is None:
            raise SettingError("This look ranks no class: there are too many, or rows of one class only.")
        return roc(ranking) if what == "roc" else gain(ranking)
    if what in ("calibration", "reliability") and record.trust.calibration and record.trust.calibration[0].bins:
        return reliability(record.trust.calibration[0])
    if what == "plane":
        if record.plane is None:
            raise SettingError("There is no picture of two numbers. Look with picture=True at a table that has two.")
        return landscape(record.plane)
    if what == "graph":
        return _graph(_model(record), {a["name"]: a["bits"] for a in record.attributes}, fractions)
    raise SettingError(f"A look has no chart {shown(what)}. {nearest(what, OF_LOOK)}")


def _importance(model: Model) -> Chart:
    if model.importance is None or model.schema.target is None:
        name = type(model.learner).__name__
        raise SettingError(f"How far each attribute moves the answers was not measured for {name}.")
    bits = {name: value / math.log(2) for name, value in model.importance.each.items()}
    return _bars_of_importance(model.schema.target.name, bits)


def _bars_of_importance(target: str, bits: Mapping[str, float | None]) -> Chart:
    known = sorted(((name, value) for name, value in bits.items() if value is not None), key=lambda item: -item[1])
    if not known:
        raise SettingError("How far each attribute moves the answers was not measured. Say 'bits' for what each tells.")
    bars = [NamedBar(clean(name, 40), value, f"{value:.2f}") for name, value in known]
    return bar_chart(f"How far each attribute moves the answers: {clean(target, 40)}", "bits, mean over rows", bars)


def _graph(model: Model, bits: dict[str, float], fractions: bool) -> Chart:
    found = graph(model)
    if found is None:
        raise SettingError(f"{model.called()} is no graph of attributes, so there is none to draw.")
    known = [c.name for c in model.schema.attributes if c.name in found.names]
    names = sorted(known, key=lambda n: -bits.get(n, 0.0))[:MOST_NODES]
    target = "" if model.schema.target is None else model.schema.target.name
    tables = graph_tables(model, names, fractions)
    return draw_graph(clean(target, 40), [(n, "", bits.get(n, 0.0)) for n in names], found, tables)


def _attribute(model: Model, name: str) -> Chart:
    if name not in model.summary.columns:
        known = [c.name for c in model.schema.attributes]
        raise ColumnError(f"{shown(name)} is no attribute of the model. {nearest(name, known)}")
    statistic = model.summary.columns[name]
    if isinstance(statistic, Numbers):
        drawn = draw_number(model, name)
        if drawn is None:
            raise SettingError(f"{shown(name)} has no two values, so there is nothing to draw.")
        return drawn
    if isinstance(statistic, Counts):
        return _levels(model, name)
    words, bits = word_bits(model, name)
    if not words:
        raise SettingError(f"The model learns nothing from {shown(name)}, so there is nothing to draw.")
    place = {word: k for k, word in enumerate(words)}
    strong = []
    for group in range(min(len(model.classes), 6)):
        factor = model.word_speakers(name)[0][0]
        for word in (factor.scores.vocabulary[k] for k in factor.strongest(group, MOST_WORDS)):
            value = float(bits[place[word], group])
            strong.append(NamedBar(clean(word, 40), value, signed(value), group))
    return bar_chart(f"Strongest words of {clean(name, 40)}", "bits, as the only known word", strong)


def _levels(model: Model, name: str) -> Chart:
    """The evidence of each level, the most frequent first."""
    levels = asked_values(model, name)
    bits = evidence_bits(value_logs(model, {name: levels})[name], prior_of(model))
    found, two = [], len(model.classes) == 2
    for k, level in enumerate(levels):
        of = 1 if two else int(np.argmax(bits[k]))
        value = float(bits[k, of])
        towards: int | None = 0 if two and value < 0 else of
        towards = towards if len(model.classes) <= COLOURS else None
        words = signed(value) + ("" if two else f" {clean(model.classes[of], 20)}")
        found.append(NamedBar(clean(level, 40), value, words, towards))
    against = f"bits for {clean(model.classes[-1], 20)} (right) or {clean(model.classes[0], 20)} (left)"
    return bar_chart(clean(name, 60), against if two else "bits for the class named", found)


def _posterior(found: Posterior) -> Chart:
    if not found.one:
        raise SettingError("There is one posterior for each row. Draw that of one row: model.posterior({…}).")
    order = np.argsort(-found.matrix[0], kind="stable").tolist()
    bars = [
        NamedBar(
            clean(found.classes[k], 40),
            p := float(found.matrix[0, k]),
            percent(p),
            k if len(order) <= COLOURS else None,
        )
        for k in order
    ]
    return bar_chart("How probable each class is", "P(class | row)", bars, shares=True)


def _ledger(found: Ledger) -> Chart:
    names = {"prior": "before any value"}
    classes = list(found.posterior)
    bars = []
    for entry in found.ordered:
        value = found.evidence(entry)
        name = names.get(entry.kind) or (f"{entry.name} = {entry.cell}" if entry.cell else entry.name)
        if value is None or (entry.silent and entry.state == "missing"):
            continue
        of = found.of if value >= 0 or found.against is None else found.against
        bars.append(NamedBar(clean(name, 40), value, signed(value), classes.index(of)))
    against = "the rest" if found.against is None else clean(found.against, 20)
    return bar_chart(f"Evidence for {clean(found.of, 30)} against {against}", found.unit, bars)


# What pictures say of themselves, for notebooks and `print`: the drawing, and a sentence.


def show_two_numbers(found: TwoNumbers) -> Document:
    """The picture of two numbers."""
    told = f"{clean(found.target)} by {clean(found.x)} and {clean(found.y)}: {plural(found.rows, 'row')}."
    return Document(told, (draw_two_numbers(found), *found.notes))


def show_straight_line(found: StraightLine) -> Document:
    """The line with its noise."""
    words = f"{clean(found.y)} = {number(found.constant)} {found.slope:+.4g} · {clean(found.x)}"
    told = f"{words}, from {plural(found.rows, 'row')}; it explains {percent(found.r2)} of the variance."
    return Document(told, (draw_straight_line(found),))
