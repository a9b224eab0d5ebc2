"""The page as one file: the template set, style and scripts put in, a policy that lets nothing else in, and what the
what-if needs of a model.

The only room that knows jinja2; it is imported when a page is written, not before.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import LikelyError, SettingError
from likely.evaluate.attributes.information import attributes
from likely.evaluate.judging import installed_version
from likely.evaluate.look import Look
from likely.machinery.arrays import Floats
from likely.machinery.native.caching import read_cached, write_cached
from likely.machinery.text_files import without_folder
from likely.machinery.words import Figure, tie
from likely.models.contracts import Model, has_trait, setting_of
from likely.models.factors.bins import value_ranges
from likely.models.learning import learn_without_rows
from likely.models.loss import Loss
from likely.models.naive.naive import NaiveBayes
from likely.portable.describe import Attribute, is_portable, portable
from likely.portable.languages.javascript import join_scripts, read_scripts, scoring_scripts
from likely.portable.writing import form_of, plain
from likely.present.charts.drawing import STYLE, class_colours, frequent_first
from likely.present.document import Document, to_markdown
from likely.present.page.contents import claim, fit_options, look_contents, model_contents
from likely.present.page.packing import packed, shorten_model
from likely.present.page.trusting import list_of, ranking_figures, subgroup_figures
from likely.present.report.card import present_card
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.labels import date_label, number_label

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

HERE = Path(__file__).parent / "templates"
STYLES = (STYLE, HERE / "style.css")


def page(
    record: Look,
    *,
    curve: Curve | None = None,
    comparison: Comparison | None = None,
    command: str = "",
    version: str = "",
    data: str = "",
    connect: str = "'none'",
) -> str:
    """A first look as HTML. `command` is how it was asked for, `data` the table as it was named there.

    `connect` is what the policy lets the scripts talk to: nothing, unless a server gives the page.
    """
    scored, refused = _score_in_page(record.model)
    contents = look_contents(record, curve, comparison, command, version, refused)
    more = {"rankings": ranking_figures(record), "groups": subgroup_figures(record)}
    return _render(contents, record.model, scored, command, data or record.source, connect, more)


def page_of_model(
    model: Model, *, command: str = "", version: str = "", data: str = "", connect: str = "'none'"
) -> str:
    """A model as HTML, with the scores that its file keeps."""
    scored, refused = _score_in_page(model)
    return _render(model_contents(model, command, version, refused), model, scored, command, data, connect)


def with_api(page: str) -> str:
    """The page of a server, with the way to what programs can ask."""
    link = '<p class="note">For programs: <a href="/docs">what to ask this server</a>, '
    return page.replace("</main>", f'{link}<a href="/openapi.json">openapi.json</a>.</p>\n</main>', 1)


def card(model: Model, path: str | os.PathLike[str] | None = None) -> str:
    """The card of a model: what it predicts and from what, how good it is and for whom, what drives it, and its limits.

    What only people know, such as what it is for, is left to be filled in. The text is Markdown, or HTML where `path`
    ends in .html; it is also written to `path`, where one is given.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play")
    >>> print(card(model).splitlines()[0])
    # Model card: play
    """
    found = present_card(model)
    html = path is not None and os.fspath(path).lower().endswith((".html", ".htm"))
    text = page_of_document(found, installed_version()) if html else to_markdown(found)
    if path is not None:
        state.write(path, text.encode("utf-8", "replace"))
    return text


def page_of_document(document: Document, version: str = "") -> str:
    """Tables and sentences as HTML: a section for each, nothing to play with."""
    title, _, lead = document.headline.partition("\n")
    parts = [Document(t.title, (replace(t, title="", label=t.title),)) for t in document.tables]
    sections = (
        replace(own, key=f"part{k}", name=own.headline.partition(":")[0].partition(" on ")[0])
        for k, own in enumerate([*parts, Document("Notes", list_of(document.remarks))])
    )
    return _render(Document(title, (f"likely {version}", claim(lead), *sections)), None, "", "", "", "'none'")


def _score_in_page(model: Model | None) -> tuple[str, str]:
    """What the scripts of a page score rows by, or why there is none."""
    if model is None or model.schema.target is None or len(model.classes) < 2:
        return "", ""
    try:
        return whatif(model), ""
    except LikelyError as error:
        return "", str(error)


def _render(
    contents: Document,
    model: Model | None,
    scored: str,
    command: str,
    data: str,
    connect: str,
    more: Mapping[str, object] | None = None,
) -> str:
    """The template, filled; `more` is what the scripts of other sections than the what-if need."""
    target = model.schema.target if model is not None else None
    about = {
        "target": "" if target is None else target.name,
        "classes": [] if model is None else list(model.classes),
        "data": without_folder(data),
        "learner": [] if model is None else fit_options(model),
    }
    style, script, loader = _style(), bundle(), read_loader()
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(loader)}' '{digest(script)}'; "
        f"connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    size, claim, *sections = contents.parts
    return template(HERE / "page.html").render(  # type: ignore[no-any-return]
        title=contents.headline,
        size=size,
        claim=claim,
        sections=sections,
        policy=policy,
        style=style,
        script=packed(script),
        loader=loader,
        model=packed(shorten_model(scored)) if scored else "",
        about=embedded(json.dumps(about, ensure_ascii=False)),
        figures=packed(json.dumps(more, ensure_ascii=False, separators=(",", ":"))) if more else "",
    )


def embedded(text: str) -> str:
    """JSON that cannot close the tag around it, nor begin a comment: what means something to HTML is written by number.

    >>> embedded('{"a": "</script>"}')
    '{"a": "\\\\u003c/script\\\\u003e"}'
    """
    for c in "<>&\u2028\u2029":
        text = text.replace(c, f"\\u{ord(c):04x}")
    return text


def digest(text: str) -> str:
    """How a policy names a style or a script: by what it holds."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _style() -> str:
    """All styles that a page has without scripts."""
    return "".join(map(_read_style, STYLES))


def _read_style(path: Path) -> str:
    """A style sheet without remarks and blanks around braces, semicolons and commas."""
    bare = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    return re.sub(r"(?<=[:,]) ", "", re.sub(r"\s*([{};])\s*", r"\1", bare))


@cache
def bundle() -> str:
    """All scripts as the text of one module, without an import or export, and the style of what they make. Pages hold
    it packed."""
    scripts = join_scripts({**scoring_scripts(), **read_scripts(HERE.parent / "script")})
    return f"const WHATIF_STYLE = {json.dumps(_read_style(HERE / 'whatif.css'))};\n{scripts}"


@cache
def read_loader() -> str:
    """The small script that unpacks the other one."""
    return join_scripts(read_scripts(HERE.parent / "loader"))


def _tied(value: Any) -> Any:
    """What is put into a template; words that came as text do not break between a number and its per cent."""
    return tie(value) if type(value) in (str, Figure) else value


SETTINGS: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "finalize": _tied}


@cache
def template(path: Path) -> Any:
    """A template, which escapes everything that is put in. Compiled once, and kept as kernels are."""
    import jinja2

    class Kept(jinja2.BytecodeCache):
        """Compiled templates among the code that is kept on disk, by what they were made of and what compiled them."""

        def load_bytecode(self, bucket: Any) -> None:
            code = read_cached(_kept_name(bucket))
            if code is not None:
                bucket.bytecode_from_string(code)

        def dump_bytecode(self, bucket: Any) -> None:
            write_cached(_kept_name(bucket), bucket.bytecode_to_string())

    loader, made_of = jinja2.FileSystemLoader(path.parent), {"undefined": jinja2.StrictUndefined, **SETTINGS}
    return jinja2.Environment(loader=loader, bytecode_cache=Kept(), **made_of).get_template(path.name)


def _kept_name(bucket: Any) -> str:
    """A name that changes with a template (`checksum`), the settings, the compiler and the Python that it is for."""
    import jinja2.compiler

    sources = (Path(file).read_bytes() for file in (__file__, jinja2.compiler.__file__))
    about = b"".join([*sources, repr((bucket.key, bucket.checksum, sys.implementation.cache_tag)).encode()])
    return f"page-{hashlib.sha256(about).hexdigest()[:20]}.template"


# What the what-if needs of a model: its portable form, and for each attribute a range and typical values. Aggregates
# only: least, greatest, medians, most frequent levels and telling words. Knows no HTML.

LARGEST = 1_200_000
"""Characters that the what-if may take in a page, which people mail."""
MOST_WEIGHTS = 60_000
"""Of words, one for each class: of larger vocabularies a page holds the strongest words."""
MOST_CLASSES = 200
"""With more classes neither bars nor costs can be seen through."""
MOST_WORDS = 6
"""Words of a typical text."""


def whatif(model: Model) -> str:
    """Everything that the what-if of a page works with, as JSON.

    Where the model cannot be taken along, or is too large, naive Bayes learned from the same sums stands in, and the
    page says so; where that is too large as well, there is none.
    """
    if len(model.classes) > MOST_CLASSES:
        raise SettingError(f"There are {len(model.classes):,} classes, too many to play with (at most {MOST_CLASSES}).")
    name, text = type(model.learner).__name__, ""
    name, it = ("The model", "the model") if name == "Auto" else (name, name)
    if is_portable(model):
        words = sum(f.scores.weights.size for c in model.schema.attributes for f, _ in model.word_speakers(c.name))
        if words > MOST_WEIGHTS:
            return _whatif_json(model, "", shortened=True)
        text = _whatif_json(model, "")
        if len(text) <= LARGEST:
            return text
    why = f"takes {len(text) / 1e6:.1f} MB" if text else "asks more than a page can hold"
    other = None if has_trait(model.learner, "independent") else _naive_bayes(model)
    if other is not None:
        note = f"{name} {why}, so this is naive Bayes, learned from the same rows. Its answers are not those of {it}."
        held = _whatif_json(other, note, stands_in=True)
        if len(held) <= LARGEST:
            return held
    if not text:
        portable(model)  # says why not
    raise SettingError(
        f"The model {why}, too much for a page (at most {LARGEST / 1e6:g} MB). "
        "`likely serve` and `likely explain` take models of any size."
    )


def _naive_bayes(model: Model) -> Model | None:
    """Naive Bayes with its usual settings from the sums of another model; None where it would need the rows."""
    other = learn_without_rows(NaiveBayes(), model.summary.without(model.summary.more))
    return None if other is None else replace(other, loss=model.loss)


def _shorten_texts(model: Model, form: dict[str, Any]) -> str:
    """Leaves of each text the words that move answers most: by how far one parts the classes, times how many texts have
    it. Says so."""
    terms, before, left = [], 0, 0
    for term in form["score"].get("terms", ()):
        while term["form"] == "PowerTerm":
            term = term["inner"]
        terms += [term] if term["form"] == "TextTerm" else []
    for term in terms:
        spoken = (f for f, _ in model.word_speakers(term["name"]) if len(f.scores.vocabulary) == len(term["words"]))
        factor, most = next(spoken), MOST_WEIGHTS // (len(terms) * len(model.classes))
        strength = np.ptp(factor.scores.weights, axis=1) * factor.having.sum(axis=1)
        kept = np.sort(np.argsort(-strength, kind="stable")[:most])
        before, left = max(before, len(strength)), max(left, len(kept))
        term["words"] = [term["words"][k] for k in kept]
        term["weights"] = [[float(f"{w:.5g}") for w in term["weights"][k]] for k in kept]
    return (
        f"The model knows {before:,} words, too many for a page: here it goes by the {left:,} that move answers most, "
        "so its probabilities are rough. likely explain and likely serve go by all."
    )


def _whatif_json(model: Model, note: str, shortened: bool = False, stands_in: bool = False) -> str:
    form = portable(model)
    written = form_of(form)
    note = _shorten_texts(model, written) if shortened else note
    bits = {a.name: a.bits for a in attributes(model.summary)} if len(model.classes) > 1 else {}
    ranges = {name: {"ends": ends} for name, ends in value_ranges(model.summary).items()}
    own = [
        {"bits": round(bits.get(a.name, 0.0), 9), **_about(model, a), **_words(model, a), **ranges.get(a.name, {})}
        for a in form.attributes
    ]
    loss = model.loss or Loss.zero_one(model.classes)
    told = {
        "portable": written,
        "attributes": own,
        "actions": list(loss.actions[:-1] if loss.abstain is not None else loss.actions),
        "costs": [[float(c) for c in row] for row in loss.rows(model.classes)],
        "abstain": None if loss.abstain is None else float(loss.abstain),
        "note": note,
        "first": int(np.argmax(model.summary.total.floats())),
        "prior": _prior_before_powers(model),
        "colours": list(class_colours(model.summary.total.floats().tolist())),
        "order": frequent_first(model.summary.total.floats().tolist()),
        "reserve": setting_of(model.learner, "unseen") == "reserve",
        "sure": _sure(model),
        "stands_in": stands_in,
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


SURE, MOST_SURE = 0.9, 4
"""The level of the page's intervals and sets; classes up to which it has intervals, which take room."""


def _sure(model: Model) -> dict[str, Any] | None:
    """For rows with each gap, from which probability on a class is in the set, and the intervals as steps: so many
    ten thousandths after the step before, so many thousandths at least and at most. None where nothing was held
    out."""
    judgement = model.judgement
    if judgement is None or not judgement.guarantees:
        return None
    gaps, classes = [], len(model.classes)
    for held in judgement.guarantees:
        own: dict[str, Any] = {"limits": [math.floor(1e6 * limit) / 1e6 for limit in held.limits(SURE)]}
        if classes <= MOST_SURE:
            own["steps"] = [_mille(*held.steps_of(k, SURE)) for k in (range(classes) if classes > 2 else [1])]
        gaps.append(own)
    return {"level": round(100 * SURE), "gaps": gaps}


def _mille(starts: Floats, low: Floats, high: Floats) -> list[list[int]]:
    """Steps in which something changes, of as many digits as are printed (`percents`)."""
    rows = np.stack([low, high], axis=1)
    fine = np.clip(np.round(1000 * rows), rows > 0, 1000 - (rows < 1))
    whole = 10 * np.round(100 * rows)
    inner = (high - low > 0.02)[:, None] & (((whole > 0) & (whole < 1000)) | (rows <= 0) | (rows >= 1))
    rows = np.where(inner, whole, fine)
    changes = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
    at = np.diff(np.round(1e4 * starts[changes]), prepend=0.0)
    return [column.astype(int).tolist() for column in (at, *rows[changes].T)]


def _prior_before_powers(model: Model) -> list[float | str] | None:
    """Of a product that is raised to powers: log P(class) before that, with which its terms say how rows come about."""
    describer = model.describer
    if describer is model or not (model.factored and describer.generative) or describer.log_prior is None:
        return None
    if not all(model.powers):
        return None  # the form lacks what is left out
    return plain(describer.log_prior)  # type: ignore[no-any-return]


def _words(model: Model, attribute: Attribute) -> dict[str, Any]:
    """Of a part of a date: what people say before and after its value."""
    if attribute.part_of is None:
        return {}
    before, _, after = model.schema[attribute.name].words("\0", attribute.part_of).rpartition("\0")
    return {"words": [before, after]}


def _about(model: Model, attribute: Attribute) -> dict[str, Any]:
    statistic = model.summary.columns[attribute.name]
    if isinstance(statistic, Counts):
        return {"typical": _levels(statistic, attribute.levels)}
    if not isinstance(statistic, Numbers):
        return {"typical": [_message(model, attribute.name, k) for k in range(len(model.classes))]}
    values, table = statistic.tally()
    if not len(values):
        return {"typical": [None] * len(model.classes), "low": 0.0, "high": 0.0, "inner": [0.0, 0.0], "whole": False}
    low, high = float(values[0]), float(values[-1])
    whole = bool((np.floor(values) == values).all()) and abs(low) < 2**53 and abs(high) < 2**53
    middles = [_median(values, column) for column in table.floats().T]
    typical = [None if m is None else _spelled(m, attribute.kind == "date") for m in middles]
    inner = [float(values[k]) for k in _ends(table.floats().sum(axis=1))]
    return {"typical": typical, "low": low, "high": high, "inner": inner, "whole": whole}


def _levels(counts: Counts, levels: tuple[str, ...]) -> list[str | None]:
    """The most frequent level of each class, the first of equals; None where it has no row."""
    table = counts.table[: len(counts.labels)].floats()
    places = [counts.labels.index[level] for level in levels if level in counts.labels.index]
    if not places:
        return [None] * counts.groups
    named, some = [counts.labels.names[k] for k in places], table[places]
    return [named[int(column.argmax())] if column.max() > 0 else None for column in some.T]


def _ends(weight: Floats) -> list[int]:
    """The places of values between which all but the lowest and the highest hundredth of the rows are."""
    below = np.cumsum(weight)
    return [int(min(k, len(weight) - 1)) for k in np.searchsorted(below, below[-1] * np.array([0.01, 0.99]))]


def _median(values: Floats, weight: Floats) -> float | None:
    """The value with half of the rows below or at it: one that a row has."""
    below = np.cumsum(weight)
    return float(values[np.searchsorted(below, below[-1] / 2)]) if below[-1] > 0 else None


def _message(model: Model, name: str, group: int) -> str | None:
    """A text of a few words that speak most for a class."""
    for factor, power in model.word_speakers(name):
        words = [factor.scores.vocabulary[k] for k in factor.strongest(group, MOST_WORDS)] if power else []
        if words:
            return " ".join(words)
    return None


def _spelled(value: float, date: bool) -> str:
    """A number as a file would spell it, in no more digits than people type."""
    return date_label(value) if date else number_label(value if value.is_integer() else float(f"{value:.6g}"))
