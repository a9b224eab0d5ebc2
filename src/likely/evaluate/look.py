"""The first look at a table: how well the target can be predicted, by what, and what to beware of.

Two sweeps: one for the sums of ten folds, one to score each row by a model that has not seen its fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from likely import showing
from likely.drafting import Reading, draft, remarks, with_encoding
from likely.errors import InputError, SettingError, shown
from likely.evaluate.cautions import TextSeen, beware, notes
from likely.evaluate.information import Attribute, entropy, evidence
from likely.evaluate.losses import LossScores, loss_scores
from likely.evaluate.pieces import Piece
from likely.evaluate.plane import Plane
from likely.evaluate.redundancy import Pair, chance, outside
from likely.evaluate.reliability import Reliable
from likely.evaluate.scores import Scores
from likely.evaluate.validate import Validation, validate
from likely.evaluate.watching import LEARNER, Watch, alone, with_named
from likely.extending import searched
from likely.loss import Loss
from likely.models.baseline import Prior
from likely.models.model import Learner, Model
from likely.models.naive import NaiveBayes
from likely.models.product import Product
from likely.sums import state
from likely.sums.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.schema import Column
from likely.table.source import Source

LEAK = 0.95
"""An attribute that tells this share of the target alone may be an effect of it rather than a cause."""
MUCH_MISSING = 0.5
NEARLY_MISSING = 0.9
"""Too few cells to say that an attribute decides anything."""
FEW_ROWS = 100


@dataclass(frozen=True)
class Look:
    """Everything `likely look` shows, without any row of the data."""

    source: str
    target: str
    rows: int
    left_out: int
    classes: dict[str, float]
    entropy: float
    columns: tuple[Column, ...]
    learner: str
    folds: int
    seed: int
    scores: Scores
    baseline: Scores
    confusion: tuple[tuple[float, ...], ...]
    attributes: tuple[dict[str, Any], ...]
    evidence: tuple[Piece, ...]
    redundant: tuple[Pair, ...]
    """Every pair of attributes that was looked at, those that push the odds farthest first."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    decisions: LossScores | None = None
    """What deciding costs, where a loss was given."""
    texts: tuple[TextSeen, ...] = ()
    """The words of each text column that tell most, and copies of texts."""
    reliability: Reliable | None = None
    """Whether its probabilities keep their word, out of fold."""
    plane: Plane | None = None
    """The picture of the two numbers that tell most, where it was asked for."""
    model: Model | None = field(default=None, repr=False, compare=False)
    """What the learner believes after all rows; None where it would have to be searched for, and no page was wanted."""

    def _repr_html_(self) -> str:
        """How well the target is predicted and what tells most, for a notebook."""
        most = max((a["bits"] for a in self.attributes), default=0.0) or 1.0
        return showing.table(
            f"{self.target} in {self.source}: {100 * self.scores.accuracy:.1f} % right on rows not learned from, "
            f"against {100 * self.baseline.accuracy:.1f} % by the most frequent class",
            ("attribute", "", "bits", "missing"),
            [(a["name"], showing.share(a["bits"] / most), f"{a['bits']:.4f}", f"{100 * a['missing']:.1f} %")
             for a in self.attributes],
            right=(2, 3),
            bars=(1,),
            remarks=tuple(f"Beware: {w}" for w in self.warnings[:5]),
        )  # fmt: skip

    def json(self) -> bytes:
        """The whole record as JSON; the model has a file of its own, the picture is for the page."""
        tree = state.plain(replace(self, model=None, plane=None))
        return state.as_json({name: value for name, value in tree.items() if name not in ("model", "plane")})


def look(
    data: object,
    target: str,
    learner: Learner | None = None,
    *,
    loss: Loss | Mapping[str, Any] | None = None,
    folds: int = 10,
    seed: int = 0,
    picture: bool = False,
    **reading: Any,
) -> Look:
    """How well `target` can be predicted, cross-validated; `reading` takes what `summarize` takes.

    With a loss, also what deciding by it costs; with `picture`, also what the page draws of two numbers,
    and the model also where it must be searched for.

    >>> record = look({"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y", folds=5)
    >>> record.scores.accuracy, record.baseline.accuracy
    (1.0, 0.5)
    """
    chosen = learner or NaiveBayes()
    how = Reading(target, **reading)
    costs = Loss.of(loss)
    return with_encoding(data, how, lambda source: _look(source, how, chosen, folds, seed, costs, picture))  # type: ignore[no-any-return]


def _look(
    source: Source, reading: Reading, learner: Learner, folds: int, seed: int, loss: Loss | None, picture: bool
) -> Look:
    first = draft(source, reading)
    target = first.schema.target
    if target is None:
        raise InputError("The schema names no target, so there is nothing to predict. Give a target.")
    learners = {LEARNER: learner, "baseline": Prior()}
    watch = Watch(picture)
    found = validate(source, first, reading, learners, folds, seed, watch, loss, watch.of_texts)
    total = found.total
    if total.rows < 2 * folds and folds > 2:
        # Fewer than two rows a fold: fewer folds, so that each is scored on something.
        return _look(source, reading, learner, max(2, total.rows // 2), seed, loss, picture)
    if LEARNER in found.refused:
        raise SettingError(found.refused[LEARNER])
    scorer, baseline = found.scorers[LEARNER], found.scorers["baseline"]
    redundant = outside(watch.sample(found.extras).pairs(), getattr(learner, "blocks", ()))
    whole = learner.learn(total)
    if isinstance(whole, Product):  # a block takes its attributes together, so nothing is counted twice
        redundant = tuple(p for p in redundant if not whole.share_block(p.one, p.other))
    told = _by_themselves(watch, found)
    copies = watch.copies(found.extras)
    texts = tuple(TextSeen(a.words, copies[a.name]) for a in told if a.words is not None)
    said = whole.notes if isinstance(whole, Model) else found.notes.get(LEARNER, ())
    model = whole if isinstance(whole, Model) else searched(source, whole, total, reading) if picture else None
    record = Look(
        source.name,
        target.name,
        total.rows,
        total.left_out,
        # Those that only knowledge names come last and weigh nothing.
        {c: 0.0 for c in found.classes} | dict(zip(total.classes, total.total.floats().tolist(), strict=True)),
        entropy(total.total.floats()),
        total.schema.columns,
        repr(learner),
        folds,
        seed,
        scorer.read(),
        baseline.read(),
        tuple(tuple(row) for row in scorer.table()),
        tuple({"name": a.name, "bits": a.bits, "share": a.share, "missing": a.missing} for a in told),
        tuple(evidence(told, total.classes)),
        redundant,
        (),
        (*source.notes, *said, *(note for text in texts for note in notes(text))),
        None if scorer.chosen is None or baseline.chosen is None else loss_scores(scorer.chosen, baseline.chosen),
        texts,
        scorer.reliability.read(found.classes, total.rows),
        watch.plane(found.extras, total),
        model if model is None or loss is None else replace(model, loss=loss),
    )
    return replace(record, warnings=tuple(_warnings(record, total, whole, learner)))


def _by_themselves(watch: Watch, found: Validation) -> list[Attribute]:
    """The attributes, the most informative first; texts with what models of them alone name out of fold."""
    out = []
    for attribute in watch.attributes:
        scorer = found.scorers.get(LEARNER if attribute.name == watch.only else alone(attribute.name))
        if attribute.words is not None and scorer is not None:
            attribute = with_named(attribute, scorer.table(), found.total.rows)
        out.append(attribute)
    return sorted(out, key=lambda a: -a.bits)


def _warnings(record: Look, total: Summary, whole: object, learner: Learner) -> list[str]:
    out = []
    if record.left_out:
        rows = "1 row has" if record.left_out == 1 else f"{record.left_out:,} rows have"
        out.append(f"{rows} no class, or no weight, and cannot be used.")
    if record.rows < FEW_ROWS and record.decisions is None:
        p = record.scores.accuracy
        margin = 2 * float(np.sqrt(max(p * (1 - p), 1 / record.rows) / record.rows))
        low, high = max(p - margin, 0), min(p + margin, 1)
        out.append(
            f"With only {record.rows} rows, the accuracy may as well be {100 * low:.0f} % or {100 * high:.0f} %."
        )
    small = [c for c, weight in record.classes.items() if weight < record.folds]
    if small and record.rows >= FEW_ROWS:
        named = (
            f"Class {shown(small[0])} has"
            if len(small) == 1
            else f"{len(small)} classes, such as {shown(small[0])}, have"
        )
        out.append(f"{named} fewer rows than there are folds: little is known about how well it is predicted.")
    words = {text.words.name for text in record.texts}
    for a in record.attributes:
        if a["name"] in words:
            continue
        if a["missing"] < NEARLY_MISSING and a["share"] >= LEAK * (1 - a["missing"]):
            out.append(
                f"{shown(a['name'])} alone nearly decides {shown(record.target)}: is it known before the target is?"
            )
    for text in record.texts:
        out += beware(text)
    gaps = [a["name"] for a in record.attributes if a["missing"] >= MUCH_MISSING]
    if gaps:
        some = ", ".join(shown(name, 30) for name in gaps[:5]) + (" …" if len(gaps) > 5 else "")
        count = "1 attribute is" if len(gaps) == 1 else f"{len(gaps)} attributes are"
        out.append(f"{count} missing in at least half of the rows: {some}.")
    if isinstance(learner, NaiveBayes):
        out += _repeated(record)
    learned = whole.schema if isinstance(whole, Model) else total.schema
    if not isinstance(whole, Model) and not isinstance(learner, NaiveBayes):
        learned = total.without_text().schema  # only naive Bayes has a use for words
    out += remarks(learned)
    for name, statistic in total.columns.items():
        if isinstance(statistic, Numbers):
            infinite = float(statistic.other[1:].sum(0).floats().sum())
            if infinite:
                out.append(f"{shown(name)} has {infinite:g} infinite numbers, which count as missing.")
    return out


def _repeated(record: Look) -> list[str]:
    """What naive Bayes counts twice: one line for each of the worst pairs."""
    worst = [p for p in record.redundant if p.matters]
    out = [
        f"{shown(pair.one)} and {shown(pair.other)} repeat each other given {shown(record.target)} "
        f"({pair.bits:.2f} bits, {chance(pair.p_of_all)}): counted as two, they push the odds {pair.push:.1f} bits "
        f"too far.{' What joining them or leaving one out would change: see likely repeats.' if not k else ''}"
        for k, pair in enumerate(worst[:3])
    ]
    if len(worst) > 3:
        out.append(f"{len(worst) - 3} more pairs of attributes repeat each other.")
    return out
