"""What exports, cards and servers say of where a model is from and how good it was: sentences and facts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.evaluate.judging import installed_version
from likely.machinery.words import clean, interval, number, percent, plural
from likely.models.contracts import Model
from likely.models.judgement import Judgement

if TYPE_CHECKING:  # who shows or explains a model takes it nowhere
    from likely.portable.describe import Portable


def judgement_sentence(model: Model) -> str:
    """How good the model was on rows that it had not seen, or why nobody knows.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play", "NaiveBayes")
    >>> judgement_sentence(model)
    'Not judged: NaiveBayes holds no rows out. To judge it: likely look DATA play --learner NaiveBayes'
    """
    found, target, name = model.judgement, model.schema.target, type(model.learner).__name__
    rows = model.held_out.rows if found is None and model.held_out is not None else found.rows if found else 0
    judged = "held-out rows" if model.schema.weight else plural(rows, "held-out row")  # weights are no number of rows
    if found is not None:
        wide, share = interval(found.accuracy.low, found.accuracy.high), percent(found.accuracy.value or 0.0)
        return (
            f"Accuracy {share}{f' ({wide})' if wide else ''} on {judged}; always guessing "
            f"{clean(found.guess, 40)} gets {percent(found.guessing)}."
        )
    if model.held_out is not None:
        return f"Accuracy {percent(model.held_out.hits)} on {judged}."
    if target is None:
        return "Not judged: a density names no classes."
    trial = model.details.get("trial")
    if trial is not None and trial.remark:
        return f"Not judged: {trial.remark[:1].lower()}{trial.remark[1:]}"
    return (
        f"Not judged: {name} holds no rows out. To judge it: likely look DATA {clean(target.name, 40)} --learner {name}"
    )


def held_out_sentence(found: Judgement) -> str:
    """How rows were held out."""
    if found.parts > 1:
        return (
            f"Rows were dealt to {found.parts} parts by a hash of their content, equal rows together; each part was "
            f"answered by models that had learned from the others, {plural(found.learned, 'row')} on average, joined "
            "by weights found without it."
        )
    return (
        f"{plural(found.rows, 'row')}, chosen by a hash of their content, equal rows together, were answered by models "
        f"that had learned from {number(found.learned)} others; their weights were found on other rows than they "
        "answered."
    )


def describe_origin(model: Model) -> dict[str, str]:
    """What the model is from, and how good it was: a line each."""
    found = model.judgement
    origin = None if found is None else found.origin
    facts = {
        "score": judgement_sentence(model),
        "table": clean(origin.table, 120) if origin and origin.table else "",
        "rows": f"{model.summary.rows:,}",
        "digest of the data": f"sha256 {model.digest}",
        "made on": "" if origin is None else origin.day,
        "made by": clean(origin.command, 400) if origin and origin.command else "",
        "version": "" if found is None else f"likely {clean(found.version, 40)}",
        "written by": f"likely {installed_version()}",
    }
    return {name: words for name, words in facts.items() if words}


def origin_lines(portable: Portable, mark: str) -> str:
    """The same as comments of a language, which begin with `mark`; the first says what the file is."""
    of = "" if portable.target is None else f" to predict {clean(portable.target, 80)}"
    lines = [f"A model that {portable.learner} learned{of}."] if mark == "--" else []
    lines += [f"{name}: {words}" for name, words in portable.origin.items()]
    return "".join(f"{mark} {line}\n" for line in lines)
