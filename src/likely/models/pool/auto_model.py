"""What Auto ends in: members, each with a temperature, mixed by weights; and what was found on the way there.

Knows no search. Its ledger is the weighted ledger of those members that are sums over attributes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError
from likely.models.contracts import Exhibit, HeldOut, Learner, Model, Terms
from likely.models.heldout import tempering
from likely.models.model import left_over
from likely.models.naive.baseline import Prior
from likely.models.naive.naive import NaiveBayes
from likely.models.pool.members import learner_titles, member_learner, member_spec, restore_member
from likely.models.pool.mixture import Mixture, mixture_logs, mixture_shape
from likely.models.pool.trial import Trial
from likely.models.posterior import Matrix
from likely.models.shapes import Score
from likely.sums.checks import (
    read_array,
    read_finite,
    read_mapping,
    read_number,
    read_shares,
    read_text,
    read_texts,
    read_whole,
    require,
)
from likely.sums.contracts import State
from likely.sums.summary import MOST_ROWS, Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

REST = "(the rest)"
"""The term of a mixture that is no attribute's: what members that are no sums say, and what averaging changes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AutoModel(Model):
    """P(class | row) as a mixture of tempered members."""

    members: tuple[Model, ...]
    """Those with weight."""
    weights: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    trial: Trial

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class | row). A member that calls the row impossible says nothing; the others share its weight."""
        return self.scored(batch)[0]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """`log_joint`, and the words of texts as the members that read any count them."""
        words: dict[str, tuple[int, int]] = {}
        return mixture_logs(self.members, self.weights, self.temperatures, batch, self.classes, words), words

    def terms(self, batch: Batch) -> Terms:
        """The terms of members that are sums, times their temperature, averaged by their weight; last, what is left:
        of a single member, what normalises its scores."""
        whole = self.log_joint(batch)
        names = ["(constant)", *(c.name for c in self.schema.attributes)]
        out = np.zeros((len(names) + 1, *whole.shape))
        total, told = 0.0, len(self.members) == 1
        for model, weight, temperature in zip(self.members, self.weights, self.temperatures, strict=True):
            some = _own_terms(model, batch)
            if some is None or model.classes != self.classes:
                continue
            total += float(weight)
            told |= len(some) > 1  # Prior has a say in every mixture, and says nothing of attributes
            for name, logs in some:
                out[names.index(name) if name in names else 0] += weight * temperature * logs
        if not total or not told:
            raise SettingError("No member of this mixture is a sum over attributes, so neither is the mixture.")
        out[:-1] /= total
        out[-1] = left_over(out[:-1], whole)
        alone = len(self.members) == 1
        kinds = ("prior", "same") if alone else ("constant", "evidence")
        return Terms((*names, REST), out.transpose(1, 0, 2), *kinds)  # type: ignore[arg-type]

    def shape(self) -> Score | None:
        """The members, each by its weight."""
        return mixture_shape(self.members, self.weights, self.temperatures)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.members) == 1:  # its beliefs are those of the member
            for name in ("prior", "log_prior", "factors"):
                object.__setattr__(self, name, getattr(self.members[0], name))

    def power_of(self, name: str) -> float:
        """Of a single member: its own power, times its temperature."""
        if len(self.members) > 1:
            return 1.0
        return float(self.temperatures[0]) * self.members[0].power_of(name)

    @property
    def held_out(self) -> HeldOut | None:
        """How what was kept did on rows held out."""
        return HeldOut(self.trial.rows, self.trial.hits, self.trial.kept) if self.trial.rows else None

    @property
    def ledger_note(self) -> str:
        """The sentence that says whose terms these are."""
        titles = learner_titles([m.learner for m in self.members])
        sums = [k for k, m in enumerate(self.members) if is_sum(m) and m.classes == self.classes]
        if len(self.members) == 1:
            return f"This is the ledger of {titles[0]}, its evidence multiplied by {self.temperatures[0]:.3g}."
        weight = float(self.weights[sums].sum())
        named = " and ".join(titles[k] for k in sorted(sums, key=lambda k: -self.weights[k])[:3])
        more = f" and {len(sums) - 3} more" if len(sums) > 3 else ""
        return (
            f"This is the weighted ledger of the members of the mixture that are sums over attributes: {named}{more}, "
            f"with {100 * weight:.3g} % of the weight. The rest is what the other members say, and what averaging "
            "probabilities changes."
        )

    @property
    def frozen(self) -> Learner:
        """What was chosen, as settings that choose no more."""
        if len(self.members) == 1 and self.temperatures[0] == 1.0:
            return self.members[0].learner
        members = tuple(m.learner for m in self.members)
        return Mixture(members, tuple(self.weights.tolist()), temperatures=tuple(self.temperatures.tolist()))

    @property
    def describer(self) -> Model:
        """The member of most weight that says how rows come about; where none does, naive Bayes from the same sums."""
        order = np.argsort(-self.weights, kind="stable").tolist()
        for member in [self.members[int(k)] for k in order]:
            if member.generative and is_sum(member) and member.classes == self.classes and not is_prior(member):
                return member
        return NaiveBayes(text="multinomial").model(self.summary)

    def exhibits(self) -> tuple[Exhibit, ...]:
        """Every candidate with weight, temperature and score; and the members' own exhibits where one was kept."""
        trial = self.trial
        titles = learner_titles([member_learner(c) for c in trial.candidates])
        order = sorted(range(len(titles)), key=lambda k: (-trial.weights[k], -trial.scores[k], k))
        rows = tuple(
            (titles[k], float(trial.weights[k]), float(trial.temperatures[k]), float(trial.scores[k])) for k in order
        )
        header = ("candidate", "weight", "temperature", "held-out log score of a row")
        tables = [Exhibit(f"Candidates on {trial.rows:,} held-out rows", header, rows)] if rows else []
        return (*tables, *(self.members[0].exhibits() if len(self.members) == 1 else ()))

    def search_state(self) -> State:
        """Everything: it took sweeps to find."""
        trial = self.trial
        return {
            "kept": [member_spec(m.learner) for m in self.members],
            "members": [m.search_state() for m in self.members],
            "weights": self.weights,
            "temperatures": self.temperatures,
            "notes": list(self.notes),
            "trial": {
                "candidates": list(trial.candidates),
                "weights": trial.weights,
                "temperatures": trial.temperatures,
                "scores": trial.scores,
                "rows": trial.rows,
                "mixture": trial.mixture,
                "single": trial.single,
                "hits": trial.hits,
            },
        }

    def lasting_state(self) -> State:
        """Weights and temperatures stay as they are when rows are learned or unlearned, where sums are all it takes."""
        for member in self.members:
            if member.search_state() and not member.lasting_state():
                title = learner_titles([member.learner])[0]
                raise SettingError(
                    f"{title}, a member of this mixture, must see all rows again to learn. Fit it on all rows: "
                    "likely fit. A model of sums alone (--learner NaiveBayes) can learn, unlearn and be merged."
                )
        return self.search_state()


def restore_mixture(learner: Learner, summary: Summary, found: State) -> AutoModel:
    """The model as a file keeps it."""
    models: list[Model] = []
    for spec, own in zip(found["kept"], found["members"], strict=True):
        models.append(restore_member(member_learner(spec), summary, own))
    require(models, "a mixture has a member")
    told = read_mapping(found["trial"], "a trial")
    candidates = tuple(dict(c) for c in told["candidates"])
    names = ("weights", "temperatures", "scores")
    weights, heats, scores = (read_array(told[name], "f", 1, name).astype(np.float64) for name in names)
    require({len(weights), len(heats), len(scores)} == {len(candidates)}, "every candidate has its figures")
    for spec in candidates:
        member_learner(spec)
    trial = Trial(
        candidates,
        weights,
        heats,
        scores,
        read_whole(told["rows"], 0, MOST_ROWS, "the rows of a trial"),
        _score(told["mixture"]),
        read_text(told["single"], "the best member"),
        _score(told["hits"]),
    )
    return AutoModel(
        learner=learner,
        summary=summary,
        members=tuple(models),
        weights=read_shares(found["weights"], len(models), "weights of members"),
        temperatures=read_finite(found["temperatures"], (len(models),), "temperatures", least=0.0, most=tempering.MOST),
        trial=trial,
        notes=tuple(read_texts(found["notes"], "notes")),
        refuse_unseen=any(m.refuse_unseen for m in models),
    )


def _score(kept: object) -> float:
    """A score as a file keeps it: what is no number has become none."""
    return math.nan if kept is None else read_number(kept, -math.inf, math.inf, "a score")


def is_sum(model: Model) -> bool:
    """Whether the scores of a model are a sum over attributes."""
    return type(model).terms is not Model.terms


def is_prior(model: Model) -> bool:
    """Whether it knows the frequencies of classes, and nothing of attributes."""
    return isinstance(model.learner, Prior)


def _own_terms(model: Model, batch: Batch) -> list[tuple[str, NDArray[np.float64]]] | None:
    """Terms by attribute; what a block says is shared equally by its attributes. None where there are none."""
    if not is_sum(model):
        return None
    try:
        terms = model.terms(batch)
    except SettingError:
        return None
    blocks = {f.name: f.names for f in model.factors}
    out = []
    for k, name in enumerate(terms.names):
        owners = blocks.get(name, (name,))
        out += [(owner, terms.array[:, k] / len(owners)) for owner in owners]
    return out
