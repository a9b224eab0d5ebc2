"""Everything the page shows, in order, as one document: the answer, the sections, and how to make it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.evaluate.attributes.plane import places
from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.look import Look
from likely.evaluate.scores.intervals import wilson
from likely.machinery.text_files import toml_value, without_folders
from likely.machinery.words import clean, interval, number, percent, plural, tie, weighed_rows
from likely.models.contracts import Model
from likely.models.default import is_unasked
from likely.models.registry import spoken_titles, weighed_names
from likely.models.settings import changed_settings
from likely.portable.origin import describe_origin, held_out_sentence, judgement_sentence
from likely.present.charts.bars import heat_map, rung, scale
from likely.present.charts.drawing import class_colours, colour, frequent_first, ticks
from likely.present.charts.planes import MOST_NODES, draw_graph, graph, landscape, regions
from likely.present.document import Document, Part, Styled, Table, bar_cell
from likely.present.effects import find_effects, pair_grid
from likely.present.page.attributes import LEAST_BITS, OPEN_CARDS, Card, make_cards
from likely.present.page.trusting import (
    chart_parts,
    list_of,
    present_comparison_of,
    present_confusion,
    present_learning,
    present_ranks,
    present_reliability,
    present_subgroups,
)
from likely.present.report import look as tables
from likely.present.report.card import judgement_tables
from likely.present.report.look import size
from likely.present.report.model import BOTH, exhibit_table, graph_tables, grid_bits, learner_settings, term_tables

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

# The sentences that only the page has: the answer first, what its probabilities are worth, how to make it again.


def claim(lead: str, target: str = "", verb: str = "", figure: str = "", tail: str = "", style: str = "") -> Styled:
    """The first thing that the page says; with one large figure, where there is one, within the sentence. In the style
    `quiet` the figure is grey, in `ranks` what stands before it."""
    if not figure:
        return Styled(lead, style, f'<span class="claim">{escape(lead)}</span>')
    share = "<small>\N{NO-BREAK SPACE}%</small>" if figure.endswith(" %") else ""
    large, wide = escape(figure.removesuffix(" %")) + share, ""
    if tail.endswith(")"):
        tail, _, bounds = tail.rpartition(" (")
        wide = f' <span class="interval">({tie(bounds)}</span>'
    words = f"{lead} {target} {verb} {figure} {tail}" + (f" ({bounds}" if wide else "")
    return Styled(
        words,
        style,
        f'<span class="claim">{escape(tie(lead))} <strong>{escape(target)}</strong> {escape(tie(verb))}</span> '
        f'<span class="figure">{large}</span> <span class="claim">{escape(tie(tail))}{wide}</span>',
    )


def headline(record: Look) -> Styled:
    """The answer: who predicts what, how often that is right on unseen rows, and how sure that is. Where that is no
    more often than by guessing it says so first, and how well rows are ranked, if they are."""
    target, learner = clean(record.target, 60), tables.learner_name(record)
    if not record.attributes:
        return claim(f"Only the class frequencies of {target} are known: no other column can be used.")
    if record.decisions is not None:
        cost = number(record.decisions.mean)
        return claim(f"{learner} decides on", target, "by its costs, at", cost, "per unseen row, in the mean")
    right, bounds = percent(record.scores.accuracy), record.intervals.accuracy
    wide = interval(bounds.low, bounds.high)
    tail = "of unseen rows" + (f" ({wide})" if wide else "")
    if record.clearly_beats_guessing:
        return claim(f"{learner} predicts", target, "correctly for", right, tail)
    guess, ranking = clean(record.baselines.guess, 40), record.trust.rankings.get(record.trust.positive)
    top = None if ranking is None else next(row for row in ranking.lift.rows if row.share == TOP)
    if record.beats_guessing or ranking is None or top is None or (ranking.roc.auc.low or 0.0) <= 0.5:
        how = "Not clearly better" if record.beats_guessing else "No better"
        base = percent(record.baseline.accuracy)
        who = tables.learner_name(record, first=False)
        lead = f"{how} than always guessing {guess}, which gets {base}: {who} predicts"
        return claim(lead, target, "correctly for", right, tail, "quiet")
    of = f"\N{LEFT DOUBLE QUOTATION MARK}{clean(record.trust.positive, 40)}\N{RIGHT DOUBLE QUOTATION MARK}"
    lead = f"{learner} is right for {right} of unseen rows, no more than always guessing {guess}; but it ranks"
    verb = f"well: among the {TOP:.0%} of rows that it ranks highest, {of} is".replace("%", " %")
    tail = f"as frequent as among all rows; they hold {percent(top.found)} of it"
    wide = interval(*wilson(top.found, ranking.roc.positives))
    tail += f" ({wide})" if wide else ""
    return claim(lead, target, verb, f"{top.lift:.1f}\N{MULTIPLICATION SIGN}", tail, "ranks")


def lead_sentences(record: Look) -> tuple[str, ...]:
    """What must be known with the answer: what guessing gets, whether one column does as well, what else to believe."""
    if not record.attributes:
        return ()
    if record.decisions is not None:
        return tuple(tables.cost_sentence(record.decisions, tables.learner_name(record)).split("\n"))
    guess = tables.guess_sentence(record) if record.clearly_beats_guessing else ""  # else the headline says it
    first = " ".join(words for words in (guess, tables.one_attribute_sentence(record)) if words)
    after = (probability_sentence(record), infinity_sentence(record))
    return tuple(words for words in (*tables.leak_sentences(record), first, *after) if words)


def ladder(record: Look) -> tuple[Table, ...]:
    """Accuracy of guessing, of the best single column, and of the learner; nothing where there is none."""
    if not record.attributes or record.decisions is not None:
        return ()
    base, alone, own = record.baseline.accuracy, record.baselines.one_rule, record.scores.accuracy
    guess = Styled(f"always {clean(record.baselines.guess, 40)}", "base")
    rows: list[tuple[str, ...]] = [(guess, rung(base, None, None, "quiet"), percent(base))]
    if alone is not None and record.baselines.one_attribute is not None and not tables.is_one_rule(record):
        name = Styled(f"{clean(record.baselines.one_attribute, 40)} alone", "one")
        rows.append((name, rung(alone.accuracy, None, None, "quiet"), percent(alone.accuracy)))
    bounds = record.intervals.accuracy
    drawn = rung(own, bounds.low, bounds.high, "accent")
    rows.append((Styled(tables.learner_name(record), "own"), drawn, percent(own)))
    told, key = f"{design_sentence(record)} {_learner_words(record)}", "The thin line is the 95 % interval of accuracy."
    note = Styled(f"{told} {key}", markup=f'<span class="held-out">{escape(tie(told))}</span> {escape(tie(key))}')
    return (Table(note, ("", "", "accuracy"), tuple(rows), style="ladder"),)


def design_sentence(record: Look) -> str:
    """How rows were held out."""
    judged = None if record.model is None or record.dealing.dealt != "content" else record.model.judgement
    if judged is not None:
        return held_out_sentence(judged)
    return f"Judged on {plural(round(record.scores.rows), 'row')}: {dealing_words(record.dealing)}."


def _learner_words(record: Look) -> str:
    """Of which members a pool is made."""
    model = record.model
    if model is None or not model.members or not record.learner.startswith("Auto("):
        return ""
    names = spoken_titles([member.learner for member in model.members])
    return f"Chosen by held-out rows: {weighed_names(names, model.weights.tolist())}."


def probability_sentence(record: Look) -> str:
    """What the probabilities are worth."""
    one, two = record.scores.log_loss, record.baseline.log_loss
    out = tables.qualification(record)
    if not out and one is not None and two is not None:
        out = f"Its probabilities beat the class frequencies too: log loss {one:.4f} against {two:.4f} bits per row."
    return out


def infinity_sentence(record: Look) -> str:
    """Why a log loss is infinite, where one is."""
    beside = {"guessing": record.baseline, "one attribute": record.baselines.one_rule}
    beside |= {"naive Bayes": record.baselines.naive_bayes}
    names = [name for name, scores in beside.items() if scores is not None and scores.log_loss is None]
    if record.scores.log_loss is None:
        names.insert(0, tables.learner_name(record, first=False))
    if not names:
        return ""
    return (
        f"The log loss of {' and '.join(names)} is infinite: at least one row belongs to a class that was given "
        "probability 0, for the most part because no row of that class was left to learn from."
    )


def plane_sentence(record: Look) -> str:
    """How the picture of two numbers was made."""
    found = record.plane
    if found is None:
        return ""
    of = "all" if found.every else f"{plural(found.rows, 'row')} out of"
    total = f"{number(found.rows)} rows that have both" if found.every else f"{number(record.rows)}"
    return (
        f"{clean(found.x, 40)} and {clean(found.y, 40)}, the two numbers that reveal most by themselves"
        f"{_goes_by(record)}. Ellipses mark one and two standard deviations of a class, dashed ones those of naive "
        "Bayes, to which the two numbers are independent within a class; thin lines are contours of the density of all "
        f"rows. Drawn from {of} {total}."
    )


def _goes_by(record: Look) -> str:
    """Which two numbers the model goes by most, where that are others than those that are drawn."""
    plane, model = record.plane, record.model
    if plane is None or model is None or record.attributes[0]["importance"] is None:
        return ""
    numbers = [a["name"] for a in record.attributes if model.schema[a["name"]].kind == "number"][:2]
    named = " and ".join(clean(name, 40) for name in numbers)
    return "" if len(numbers) < 2 or {*numbers} == {plane.x, plane.y} else f"; the model goes most by {named}"


def facts(record: Look, version: str) -> tuple[tuple[str, str], ...]:
    """What must be known to make the page again."""
    left = f" ({plural(record.left_out, 'row')} left out)" if record.left_out else ""
    return (
        ("data", f"{clean(record.source, 120)}: {plural(record.rows, 'row')}{left}"),
        ("learner", clean(learner_settings(record.model.learner) if record.model is not None else record.learner, 300)),
        *(() if record.model is None else (("digest of the data", f"sha256 {record.model.digest}"),)),
        ("judged by", dealing_words(record.dealing)),
        ("likely", version or "not told"),
        ("page made", today()),
    )


def today() -> str:
    """The day, as a page says when it was made."""
    return date.today().isoformat()


def dealing_words(dealing: Dealing) -> str:
    """How rows were dealt to folds.

    >>> dealing_words(Dealing(10, 0)), dealing_words(Dealing(5, 1, 2, "group", "patient"))
    ('10 folds, stratified; seed 0', '5 folds, rows with the same patient in one, 2 times; seed 1')
    """
    by = clean(dealing.dealt_by, 40)
    if dealing.dealt == "leave-one-out":
        return "each row left out in turn"
    if dealing.dealt == "content":
        return "held-out rows, chosen by a hash of their content"
    if dealing.dealt == "time":
        return f"{dealing.folds} parts in the order of {by}, each predicted from the rows before it"
    how = "stratified" if dealing.dealt == "stratified" else f"rows with the same {by} in one"
    often = f", {dealing.repeats} times" if dealing.repeats > 1 else ""
    return f"{dealing.folds} folds, {how}{often}; seed {dealing.seed}"


def model_facts(model: Model, version: str) -> tuple[tuple[str, str], ...]:
    """What a model was made by."""
    return (
        *((name, words) for name, words in describe_origin(model).items() if name != "written by"),
        ("learner", learner_settings(model.learner)),
        ("likely", version or "not told"),
    )


def fit_options(model: Model) -> list[str]:
    """What `likely fit` must be told so that the same learner learns: nothing, where it is what learns unasked."""
    learner = model.learner
    if is_unasked(learner, model.summary):
        return []
    out = ["--learner", type(learner).__name__]
    for name, value in changed_settings(learner).items():
        out += ["--set", f"{name}={toml_value(value)}"]
    return out


def python(record: Look) -> str:
    """The same by Python."""
    learner, dealing, model = "", record.dealing, record.model
    name = "" if model is None else type(model.learner).__name__
    # Auto is named where folds were asked for: unasked it is judged by the rows that it holds out itself.
    as_asked = model is not None and name != "Auto" and repr(model.learner) == record.learner
    unasked = as_asked and model is not None and is_unasked(model.learner, model.summary)
    if model is not None and dealing.dealt != "content" and not unasked:
        said = changed_settings(model.learner)
        learner = f", likely.{name}({', '.join(f'{k}={v!r}' for k, v in said.items())})"
    learner = learner if len(learner) < 300 else ", learner"
    own = dealing.folds != 10 and dealing.dealt not in ("leave-one-out", "content")
    folds = f", folds={dealing.folds}" if own else ""
    folds += f", seed={dealing.seed}" if dealing.seed else ""
    folds += f", repeats={dealing.repeats}" if dealing.repeats > 1 else ""
    by = {"group": f", group={dealing.dealt_by!r}", "time": f", time={dealing.dealt_by!r}",
          "leave-one-out": ", leave_one_out=True"}.get(dealing.dealt, "")  # fmt: skip
    source, target = shown(record.source, 200), repr(record.target)
    return f"import likely\nfound = likely.look({source}, {target}{learner}{folds}{by})"


# The sections of the page below its first screen: each a question, with sentences, tables and charts. No rows.

MOST_COLUMNS, MOST_CLASSES, MOST_ATTRIBUTES, MOST_FOUND = 400, 60, 40, 5000
TOP = 0.05
"""The share of rows, ranked highest, of which the headline speaks where classes gain nothing."""
SHORT_WARNING = 240
"""Characters of a single warning that stands in place of a link to it."""
MOST_NOTES, MOST_EXHIBITS, MOST_LINES, MOST_NAMED = 40, 6, 30, 12
OPEN_COLUMNS = 20
"""Up to so many columns, the list of them is open."""
MAPS, MAP_STEPS = 3, 6
"""Pairs that are drawn, and in how many steps of each attribute."""
KEPT = (
    "This file holds counts and probabilities, and no row of the table. It does hold names and numbers from it: levels "
    "and words with how often they occur, and single numbers such as the least and the greatest. --least-count leaves "
    "out rare names. It makes no network requests."
)
LINKED = (
    "Attributes are independent given the class, except where linked. The thicker the line, the more the attribute "
    "reveals alone. Beside it stand P(level | class) or means and deviations; point at a number for its fraction. "
    "Choose a box to see its evidence."
)
ADDED = (
    "What attributes say is added up; where links are drawn, attributes also say something together: the most that any "
    "do. The thicker the line, the more the attribute reveals alone. Choose a box to see its evidence."
)


def notes_of(sentences: Iterable[str]) -> tuple[str, ...]:
    """Sentences in small print, each a paragraph."""
    return tuple(Styled(words, "note") for words in sentences)


def present_whatif(model: Model | None, refused: str = "") -> Document | None:
    """The controls, or why there are none; nothing where there is nothing to predict."""
    if model is None or model.schema.target is None or len(model.classes) < 2:
        return None
    return Document("What if", notes_of([refused]) if refused else (Document("", style="whatif"),), "whatif", "What if")


def present_bits(record: Look, keys: dict[str, str]) -> Document | None:
    """What each attribute reveals by itself; those that reveal nothing are only named."""
    if not record.attributes:
        return None
    telling = [a for a in record.attributes if tables.weight_of(a) >= LEAST_BITS]
    silent = [clean(a["name"], 40) for a in record.attributes if tables.weight_of(a) < LEAST_BITS]
    by_model = record.attributes[0]["importance"] is not None
    most = max((tables.weight_of(a) for a in telling), default=0.0)
    steps = ticks(0.0, most) if most > 0 else [0.0, 1.0]
    every = tables.attribute_table(record, keys, steps[-1])
    table = every.first(len(telling))
    marks = steps[:: max(1, (len(steps) - 1) // 2)]
    axis = scale([(s / steps[-1], f"{s:g}" + (" bits" if s == marks[-1] else "")) for s in marks])
    table = replace(table, title="Attributes", header=tuple(h or axis for h in table.header), style="bits")
    table = table.first(MOST_ATTRIBUTES)
    others = replace(every, rows=every.rows[len(table.rows) :][:MOST_FOUND], title="", key="find-rows")
    notes = []
    if len(telling) > MOST_ATTRIBUTES:
        notes.append(f"{len(telling) - MOST_ATTRIBUTES} more attributes say less.")
    if silent:
        named = ", ".join(silent[:MOST_NAMED]) + (f" and {len(silent) - MOST_NAMED} more" * (len(silent) > MOST_NAMED))
        how = "" if by_model else " alone"
        notes.append(f"{plural(len(silent), 'attribute')} say{'s' * (len(silent) == 1)} nothing{how}: {named}.")
    alone = (
        f"by itself, as a share of the uncertainty about the class of a row ({record.entropy:.3f} bits). Attributes "
        "can overlap, so these shares do not add up."
    )
    words = f"What each attribute reveals {alone}"
    if by_model:
        words = (
            "How far each attribute moves the answers: its evidence for a row, with its share of what several say "
            "together, in the mean over up to 2,000 rows of the table, in bits; one bit doubles the odds. Beside it, "
            f"what it reveals {alone}"
        )
    strongest = replace(tables.evidence_table(record), style="wide")
    find = Document(f"Find one of the other {plural(len(others.rows), 'attribute')} by name", (others,), "find")
    finds = (replace(find, style="fold"),) if len(every.rows) > MOST_ATTRIBUTES else ()
    first, *rest = [t for t in (*((table,) if telling else ()), strongest) if t.rows] or [None]
    parts = (words, *finds) if first is None else (words, first, *notes_of(notes), *finds, *rest)
    return Document(
        "Which attributes the answers go by" if by_model else "Which attributes reveal most",
        parts,
        "bits",
        "Most telling",
    )


def present_attributes(cards: tuple[Card, ...], classes: tuple[str, ...]) -> Document | None:
    """The cards, with what their bits mean; those that say nothing are only named."""
    if not cards:
        return None
    words = (
        "What the model makes of each value by itself. Evidence is in bits: one bit doubles the odds of the class it "
        "speaks for; bars of all cards have one scale."
    )
    if len(classes) == 2:
        one, other = clean(classes[0], 40), clean(classes[1], 40)
        words += f" Above zero it speaks for {other}, below for {one}."
    elif len(classes) > 2:
        words += " The class that a value says most about is named; it is weighed against all others together."
    clear = [card for card in cards if not card.quiet and not card.faint]
    shown = [
        replace(card.document, style="card open" if k < OPEN_CARDS and not card.silent else "card")
        for k, card in enumerate(clear)
    ]
    faint = tuple(replace(card.document, style="card") for card in cards if card.faint and not card.quiet)
    if faint:
        verbs = ("attribute reveals", "counts") if len(faint) == 1 else ("attributes reveal", "count")
        title = f"{len(faint)} {verbs[0]} nothing alone, and {verbs[1]} only beside the others"
        shown.append(Document(title, faint, style="fold"))
    quiet = [str(card.document.headline) for card in cards if card.quiet]
    notes = [f"{plural(len(quiet), 'attribute')} say{'s' * (len(quiet) == 1)} nothing: {', '.join(quiet)}."]
    parts: tuple[Part, ...] = (words, *shown, *(notes_of(notes) if quiet else ()))
    return Document("What each attribute says", parts, "attributes", "Attributes")


def present_pairs(model: Model) -> Document | None:
    """What several attributes say together: the strongest pairs as maps, and all by strength."""
    found = term_tables(model)[1:]
    if not found:
        return None
    tables_, charts = [t for t in found if t.title.startswith("What")], []
    assert model.importance is not None
    effects = find_effects(model)
    pairs = [pair for pair in model.importance.together if all(name in effects for name in pair)]
    for names in pairs[:MAPS]:
        grid = pair_grid(model, (effects[names[0]], effects[names[1]]), MAP_STEPS)
        bits, of = grid_bits(model, grid)
        hues = class_colours(model.summary.total.floats().tolist())
        sides = (hues[0], hues[1]) if len(model.classes) == 2 else ("other", hues[of])
        charts.append(heat_map((clean(names[0], 30), clean(names[1], 30)), grid.labels, bits, sides))
    words = "What attributes say together, in bits, beyond what each says by itself; the table gives means over rows."
    if charts and len(model.classes) == 2:
        words += f" In the maps, + speaks for {clean(model.classes[1], 30)} and − for {clean(model.classes[0], 30)}."
    elif charts:
        words += " A map shows the class its pair says most about."
    parts = (words, *chart_parts(charts), *tables_, *list_of((BOTH,)))
    return Document("What attributes say together", parts, "together", "Interactions")


def present_warnings(warnings: tuple[str, ...], notes: tuple[str, ...]) -> Document | None:
    """What to beware of."""
    if not warnings and not notes:
        return None
    parts = (*list_of(warnings, "warnings"), *list_of(notes[:MOST_NOTES]))
    return Document("Read before relying on this", parts, "warnings", "Warnings")


def present_columns(table: Table) -> Document | None:
    """How each column was read."""
    if not table.rows:
        return None
    rest, few = len(table.rows) - MOST_COLUMNS, table.first(MOST_COLUMNS)
    style = "fold open" if len(few.rows) <= OPEN_COLUMNS else "fold"
    fold = Document(f"{len(few.rows)} columns", (replace(few, style="wide"),), style=style)
    notes = notes_of([f"{rest} more columns are not listed."] if rest > 0 else [])
    return Document("How each column was read", (fold, *notes), "columns", "Columns")


def present_network(
    model: Model | None, target: str, classes: Table, keys: dict[str, str], bits: dict[str, float]
) -> Document | None:
    """The graph, where the model is one, and tables of what it believes as a whole. `keys` are those of the cards."""
    if model is None:
        return None
    found, drawn = graph(model), tuple[Part, ...]()
    if found is not None and keys:
        nodes = [(name, key, bits.get(name, 0.0)) for name, key in keys.items() if name in found.names][:MOST_NODES]
        tables = graph_tables(model, [name for name, _, _ in nodes])
        chart, more = draw_graph(clean(target, 60), nodes, found, tables), len(found.names) - len(nodes)
        box, beside = Document("", (chart,), style="graph-box"), Document("", (classes,), "target", style="template")
        drawn = (
            LINKED if model.generative else ADDED,
            box,
            beside,
            *notes_of([f"{more} more attributes are not drawn."] if more else []),
        )
    apart = {e.title for text in model.texts for e in text.exhibits(model.classes)}
    exhibits = [exhibit_table(e).first(MOST_LINES) for e in model.exhibits()[:MOST_EXHIBITS] if e.title not in apart]
    parts = (*drawn, *(replace(table, style="wide") for table in exhibits))
    return Document("The model", parts, "graph", "Model") if parts else None


def present_plane(record: Look) -> Document | None:
    """The picture of two numbers."""
    plane = record.plane
    if plane is None:
        return None
    names = [clean(c, 40) for c in plane.classes]
    dots = (
        f'<span class="keyed"><span class="dot {colour(k)}"></span>{escape(name)}</span>'
        for k, name in zip(plane.codes, names, strict=True)
    )
    key = Styled(", ".join(names), "key", "".join(dots))
    others = {name: codes for name, codes in plane.regions.items() if name != "1 nearest neighbour"}
    own = replace(plane, regions={**_own_regions(record), **others})
    drawn = tuple(Document(name, (chart,)) for name, chart in regions(own))
    by_learner = (Document("Which class each learner predicts where", drawn, style="regions"),) if drawn else ()
    parts: tuple[Part, ...] = (plane_sentence(record), key, landscape(plane), *by_learner)
    return Document("Two numbers", parts, "plane", "Two numbers")


def _own_regions(record: Look) -> dict[str, tuple[int, ...]]:
    """Where the page's own model predicts which class, of these two numbers alone: all else is unknown to it."""
    plane, model = record.plane, record.model
    if plane is None or model is None or not all(name in model.summary.columns for name in (plane.x, plane.y)):
        return {}
    across, up = np.meshgrid(places(plane.x_range, plane.columns), places(plane.y_range, plane.lines))
    table = {plane.x: across.ravel().tolist(), plane.y: up.ravel().tolist()}
    try:
        best = np.concatenate([model.log_joint(batch).argmax(axis=1) for batch in model.batches(table)])
    except SettingError:
        return {}
    code = [plane.codes[plane.classes.index(name)] if name in plane.classes else -1 for name in model.classes]
    return {f"{tables.learner_name(record)}, of these two alone": tuple(code[k] for k in best.tolist())}


def present_origin(programs: Sequence[str], facts: tuple[tuple[str, str], ...]) -> Document:
    """What makes the page again (a command, a program), and how it was made."""
    made = Table("", ("", ""), facts, style="facts")
    written = tuple(Styled(program, "code") for program in programs if program)
    return Document("Reproduce this page", (*written, made, Styled(KEPT, "note")), "reproduce", "Reproduce")


# The page as one document: its size, its claim, then the sections, of a first look or of a model. No rows.


def look_contents(
    record: Look,
    curve: Curve | None = None,
    comparison: Comparison | None = None,
    command: str = "",
    version: str = "",
    refused: str = "",
) -> Document:
    """The page of a first look; `refused` says why there is no what-if, where there is none."""
    model = record.model
    told = {a["name"]: a for a in record.attributes}
    cards = () if model is None else make_cards(model, list(told), told)
    keys = {name: c.document.key for name, c in zip(told, cards, strict=False) if not c.quiet}
    classes, bits = _classes(record.classes), {name: a["bits"] for name, a in told.items()}
    sections = [
        present_answer(record, classes),
        present_whatif(model, refused),
        present_bits(record, keys),
        present_attributes(cards, tuple(record.classes)),
        None if model is None else present_pairs(model),
        present_confusion(record),
        present_ranks(record),
        present_subgroups(record),
        present_reliability(record),
        None if curve is None else present_learning(curve, record.learner),
        None if comparison is None else present_comparison_of(comparison),
        present_warnings(record.warnings, record.notes),
        present_columns(tables.column_table(record.columns)),
        present_network(model, record.target, classes, keys, bits),
        present_plane(record),
        present_origin((without_folders(command), python(record)), facts(record, version)),
    ]
    title = f"{clean(record.target, 80)} in {clean(record.source, 80)}"
    return Document(title, (f"{size(record)} · {today()}", headline(record), *(s for s in sections if s is not None)))


def present_answer(record: Look, classes: Table) -> Document:
    """What guessing gets, the ladder from there to the learner, and the scores."""
    first, *after = lead_sentences(record) or ("",)
    lead = (Styled(first, "lead"), *(Styled(words, "after") for words in after)) if first else ()
    count, leaks = len(record.warnings), len(tables.leak_sentences(record))
    warned = f"{count} {'warning' if count == 1 else 'warnings'}"
    call = Styled(f"Read {warned} first.", "callout", f'Read <a href="#warnings">{warned}</a> first.')
    if count == 1 and len(record.warnings[0]) <= SHORT_WARNING:
        call = Styled(record.warnings[0], "callout")
    if leaks == count:  # they are the lead
        count = 0
    scores = Document("", (tables.score_table(record), classes), style="two")
    parts: tuple[Part, ...] = (*lead, *ladder(record), *((call,) if count else ()), scores)
    return Document("Result", parts, "answer", "Result", "quiet")


def model_contents(model: Model, command: str = "", version: str = "", refused: str = "") -> Document:
    """The page of a model alone: what it believes, without what only rows could tell."""
    target = "a density" if model.schema.target is None else model.schema.target.name
    order = [c.name for c in model.schema.attributes if c.name in model.summary.columns]
    cards = make_cards(model, order, {})
    weights = dict(zip(model.classes, model.summary.total.floats().tolist(), strict=True))
    classes = _classes(weights)
    keys = {n: c.document.key for n, c in zip(order, cards, strict=False) if not c.quiet}
    sections = [
        Document("How good it is", (judgement_sentence(model), *judgement_tables(model)), "judgement", "Result"),
        Document("Classes", (classes,), "classes", "Classes"),
        present_whatif(model, refused),
        present_attributes(cards, model.classes),
        present_pairs(model),
        present_warnings((), model.notes),
        present_columns(tables.column_table(model.schema.columns)),
        present_network(model, target, classes, keys, {}),
        present_origin((without_folders(command),), model_facts(model, version)),
    ]
    rows = weighed_rows(model.summary.rows, float(model.summary.total.floats().sum()))
    size = f"{rows}, {plural(len(model.classes), 'class')}, {plural(len(order), 'attribute')}"
    title = f"A model of {clean(target, 80)}"
    return Document(title, (size, claim(title), *(s for s in sections if s is not None)))


def _classes(weights: Mapping[str, float]) -> Table:
    """The shares of the classes, with bars in the colours of the classes; many are sorted, and cut."""
    most, each = max(weights.values(), default=0.0) or 1.0, list(weights.values())
    hues, order, names = class_colours(each), frequent_first(each), list(weights)
    bars = [bar_cell(each[k] / most, kind=hues[k]) for k in order]
    out, rest = (
        tables.share_table({names[k]: each[k] for k in order}).with_column("", bars),
        len(weights) - MOST_CLASSES,
    )
    return out if rest <= 0 else replace(out, rows=(*out.rows[:MOST_CLASSES], (f"{rest} more", "", "", "")))
