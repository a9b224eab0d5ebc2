"""The sentences that only the page has: the answer first, what its probabilities are worth, how to make it again."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from likely.errors import shown
from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.look import Look
from likely.evaluate.scores.ranking import Ranking, Reliability
from likely.machinery.text_files import toml_value
from likely.machinery.words import clean, interval, number, percent, plural, tie
from likely.models.default import is_unasked
from likely.models.registry import spoken_name
from likely.models.settings import changed_settings
from likely.present.charts.bars import rung
from likely.present.document import Styled, Table
from likely.present.report import look
from likely.present.report import look as look_tables

if TYPE_CHECKING:
    from likely.models.contracts import Model


def claim(lead: str, target: str = "", verb: str = "", figure: str = "", tail: str = "", bounds: str = "") -> Styled:
    """The first thing that the page says; with one large figure, where there is one, within the sentence."""
    if not figure:
        return Styled(lead, markup=f'<span class="claim">{escape(lead)}</span>')
    large = escape(figure.removesuffix(" %")) + ("<small> %</small>" if figure.endswith(" %") else "")
    wide = f' <span class="interval">({tie(bounds)})</span>' if bounds else ""
    words = f"{lead} {target} {verb} {figure} {tail}" + (f" ({bounds})" if bounds else "")
    return Styled(
        words,
        markup=f'<span class="claim">{escape(lead)} <strong>{escape(target)}</strong> {verb}</span> '
        f'<span class="figure">{large}</span> <span class="claim">{tail}{wide}</span>',
    )


def headline(record: Look) -> Styled:
    """The answer: who predicts what, how often that is right on unseen rows, and how sure that is."""
    target, learner = clean(record.target, 60), look_tables.learner_name(record)
    if not record.attributes:
        return claim(f"Only the class frequencies of {target} are known: no other column can be used.")
    if record.decisions is not None:
        return claim(f"{learner} decides on", target, "at a cost of", number(record.decisions.mean), "per unseen row")
    right, bounds = percent(record.scores.accuracy), record.intervals.accuracy
    wide = interval(bounds.low, bounds.high)
    return claim(f"{learner} predicts", target, "correctly for", right, "of unseen rows", wide)


def lead_sentences(record: Look) -> tuple[str, ...]:
    """What must be known with the answer: what guessing gets, whether one column does as well, what else to believe."""
    if not record.attributes:
        return ()
    if record.decisions is not None:
        return tuple(look.cost_sentence(record.decisions, look_tables.learner_name(record)).split("\n"))
    first = " ".join(words for words in (look.guess_sentence(record), look.one_attribute_sentence(record)) if words)
    after = (probability_sentence(record), infinity_sentence(record))
    return tuple(words for words in (*look.leak_sentences(record), first, *after) if words)


def ladder(record: Look) -> tuple[Table, ...]:
    """Accuracy of guessing, of the best single column, and of the learner; nothing where there is none."""
    if not record.attributes or record.decisions is not None:
        return ()
    base, alone, own = record.baseline.accuracy, record.baselines.one_rule, record.scores.accuracy
    guess = Styled(f"always {clean(record.baselines.guess, 40)}", "base")
    rows: list[tuple[str, ...]] = [(guess, rung(base, None, None, "quiet"), percent(base))]
    if alone is not None and record.baselines.one_attribute is not None and not look.is_one_rule(record):
        name = Styled(f"{clean(record.baselines.one_attribute, 40)} alone", "one")
        rows.append((name, rung(alone.accuracy, None, None, "quiet"), percent(alone.accuracy)))
    bounds = record.intervals.accuracy
    drawn = rung(own, bounds.low, bounds.high, "accent")
    rows.append((Styled(look_tables.learner_name(record), "own"), drawn, percent(own)))
    note = "Accuracy on rows the model had not seen; the thin line is the 95 % interval."
    return (Table(f"{note} {_learner_words(record)}", ("", "", "accuracy"), tuple(rows), style="ladder"),)


def _learner_words(record: Look) -> str:
    """Of which members a pool is made."""
    model = record.model
    if model is None or not model.members or not record.learner.startswith("Auto("):
        return ""
    names = list(dict.fromkeys(spoken_name(type(member.learner).__name__) for member in model.members))
    return f"Auto chose {' and '.join(names) if len(names) < 3 else ', '.join(names)} by held-out rows."


def probability_sentence(record: Look) -> str:
    """What the probabilities are worth."""
    one, two = record.scores.log_loss, record.baseline.log_loss
    out = look.qualification(record)
    if not out and one is not None and two is not None:
        out = f"Its probabilities beat the class frequencies too: log loss {one:.4f} against {two:.4f} bits per row."
    return out


def infinity_sentence(record: Look) -> str:
    """Why a log loss is infinite, where one is."""
    beside = {"the frequencies": record.baseline, "one attribute": record.baselines.one_rule}
    beside |= {"naive Bayes": record.baselines.naive_bayes}
    names = [name for name, scores in beside.items() if scores is not None and scores.log_loss is None]
    if record.scores.log_loss is None:
        names.insert(0, look_tables.learner_name(record))
    if not names:
        return ""
    return (
        f"The log loss of {' and '.join(names)} is infinite: at least one row belongs to a class that was given "
        "probability 0, for the most part because no row of that class was left to learn from."
    )


def rank_sentence(found: Ranking) -> str:
    """How well rows of the class looked for rank above the others."""
    area = found.roc.auc
    wide = "" if area.low is None else f" (95 % interval: {look_tables.number_bounds(area, 3)})"
    return (
        f"A row of {clean(found.roc.of, 40)} ranks above a row of another class with probability "
        f"{area.value:.3f}{wide}: the area under the ROC curve. By chance it would be 0.5."
    )


def reliability_sentence(found: Reliability) -> str:
    """What the reliability curve comes to, and how it is drawn."""
    return (
        f"{look.calibration_sentence(found)} On the dashed line, what was said is what happened; larger dots stand for "
        "more rows, thin lines are 95 % intervals."
    )


def plane_sentence(record: Look) -> str:
    """How the picture of two numbers was made."""
    found = record.plane
    if found is None:
        return ""
    of = "all" if found.every else f"{plural(found.rows, 'row')} out of"
    total = f"{number(found.rows)} rows that have both" if found.every else f"{number(record.rows)}"
    return (
        f"{clean(found.x, 40)} and {clean(found.y, 40)}, the two most telling numbers. Ellipses mark one and two "
        f"standard deviations of a class; thin lines are contours of the density of all rows. Drawn from {of} {total}."
    )


def facts(record: Look, version: str) -> tuple[tuple[str, str], ...]:
    """What must be known to make the page again."""
    left = f" ({plural(record.left_out, 'row')} left out)" if record.left_out else ""
    return (
        ("data", f"{clean(record.source, 120)}: {plural(record.rows, 'row')}{left}"),
        ("learner", clean(settings(record.model.learner) if record.model is not None else record.learner, 300)),
        ("cross-validation", dealing_words(record.dealing)),
        ("likely", version or "not told"),
    )


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
        ("rows", number(model.summary.rows)),
        ("learner", settings(model.learner)),
        ("likely", version or "not told"),
    )


def settings(learner: object) -> str:
    """A learner's name, with the settings that are not the usual ones."""
    said = ", ".join(f"{k}={clean(repr(v), 80)}" for k, v in changed_settings(learner).items())
    return f"{type(learner).__name__}({said})" if said else f"{type(learner).__name__} with the usual settings"


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
