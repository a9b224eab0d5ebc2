"""`decide`: rows in, actions out. Puts together prior, missing cells, loss and rows like no other; scores batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from likely.apply.decide.decision import Costs, Decision, RowDecision, TableDecision, make_decision, together
from likely.apply.decide.familiar import Familiar, familiar
from likely.apply.decide.missing import HOW_AVERAGED, by_missing, unaveraged
from likely.apply.decide.priors import NewPrior, prior_of, with_prior
from likely.errors import SettingError, shown
from likely.machinery.threads import in_order
from likely.models.contracts import Model
from likely.models.model import numbered
from likely.models.posterior import Posterior
from likely.probability.loss import Loss
from likely.table.formats.frames import FrameKind
from likely.table.open import open_source
from likely.table.rows import Columns, MixedRow, Row
from likely.table.source import Source

Rule: TypeAlias = Literal["loss", "map", "ml"]
RULES = ("loss", "map", "ml")
GivenLoss: TypeAlias = Loss | Mapping[str, object] | None


@dataclass(frozen=True)
class Decider:
    """A model with all that makes decisions of its probabilities."""

    model: Model
    """As it decides: under the new prior, with missing cells taken as was said."""
    loss: Loss
    rule: str = "loss"
    old: tuple[Fraction, ...] = ()
    new: tuple[Fraction, ...] = ()
    """P(class) in the model, and as it is decided by."""
    familiar: Familiar | None = None
    notes: tuple[str, ...] = ()

    def decisions(self, source: Source, columns: list[str] | None = None) -> Iterator[tuple[Any, Decision]]:
        """Each Arrow batch of a source with its decision, in order; several threads score."""
        model, costs = self.model, Costs(self.loss, self.model.classes)

        def scored(item: tuple[int, Any]) -> tuple[Any, Decision]:
            start, arrow = item
            batch, found = model.read(source.trim(arrow), start)
            strange = None
            if self.familiar is not None:
                same = self.familiar.model is model
                strange = self.familiar.strange(batch, found.log_evidence if same else None)
            return arrow, make_decision(found, self.loss, strange, costs)

        wanted = model.columns_in(source)
        yield from in_order(numbered(source.as_written().batches(wanted if columns is None else columns)), scored)

    def decide(self, data: object) -> Decision:
        """Decide one row (a dict of values) or every row of a table."""
        data, one = self.model.as_table(data)
        parts = [found for _, found in self.decisions(open_source(data))]
        found = together(parts, self.loss, self.model.classes, one)
        return replace(found, posterior=replace(found.posterior, frames=FrameKind.of(data)))


def decider(
    model: Model,
    loss: Loss | Mapping[str, object] | None = None,
    *,
    rule: Rule = "loss",
    prior: NewPrior | None = None,
    missing_by: str | None = None,
    unlike: float | None = None,
    training: object = None,
    seed: int = 0,
) -> Decider:
    """Check everything and put it together; `decide` says what each part is."""
    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to decide about. See `likely score`.")
    chosen = chosen_loss(model.classes, model.loss, loss, rule)
    if rule == "ml" and prior is not None:
        raise SettingError("Maximum likelihood treats all classes as equally probable, so it takes no prior.")
    if training is not None and unlike is None:
        raise SettingError("Training rows are only used to detect unlike rows. Give the share: unlike.")
    taken, old = by_missing(model, missing_by), prior_of(model)
    given: NewPrior | None = "uniform" if rule == "ml" else prior
    if given is not None:
        taken = with_prior(taken, given)
    known = None
    if unlike is not None:
        # The density of a row without its missing cells, also where the class is averaged over what they may hold.
        plain = taken if missing_by != "averaged" else with_prior(model, given) if given is not None else model
        known = familiar(plain, unlike, training, seed)
    notes = [HOW_AVERAGED, unaveraged(model)] if missing_by == "averaged" else []
    notes = [note for note in [*notes, "" if known is None else known.told] if note]
    return Decider(taken, chosen, rule, old, prior_of(taken) if given is not None else old, known, tuple(notes))


def chosen_loss(
    classes: tuple[str, ...], own: Loss | None, given: Loss | Mapping[str, object] | None, rule: str = "loss"
) -> Loss:
    """The loss that was given, else the model's own, else zero-one; the most probable class has no other."""
    if rule not in RULES:
        raise SettingError(f"There is no rule {shown(rule)}. Choose one of {', '.join(RULES)}.")
    if rule != "loss":
        if given is not None:
            raise SettingError(f"The rule {rule} names the most probable class whatever it costs. Leave the loss out.")
        return Loss.zero_one(classes)
    found = own if given is None else Loss.of(given)
    if found is None:
        return Loss.zero_one(classes)
    found.check(classes)
    return found


class DecisionOptions(TypedDict, total=False):
    """How `decide` decides, besides the loss; its docstring says what each is."""

    rule: Rule
    prior: NewPrior | None
    missing_by: str | None
    unlike: float | None
    training: object
    seed: int


# A str has a length as columns have, and any dict is an object: the first signature that fits is the one.
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: Row, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> RowDecision: ...
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: Columns, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> TableDecision: ...
@overload
def decide(  # type: ignore[overload-overlap]
    model: Model, data: MixedRow, loss: GivenLoss = None, **how: Unpack[DecisionOptions]
) -> RowDecision: ...
@overload
def decide(model: Posterior, data: None = None, loss: GivenLoss = None, *, rule: Rule = "loss") -> Decision: ...
@overload
def decide(model: Model, data: object, loss: GivenLoss = None, **how: Unpack[DecisionOptions]) -> TableDecision: ...
def decide(
    model: Model | Posterior,
    data: object = None,
    loss: Loss | Mapping[str, object] | None = None,
    *,
    rule: Rule = "loss",
    prior: NewPrior | None = None,
    missing_by: str | None = None,
    unlike: float | None = None,
    training: object = None,
    seed: int = 0,
) -> Decision:
    """The action of least expected loss for one row (a dict) or every row of a table, or for a posterior.

    - `loss`: what each action costs in each class; the model's own, or zero-one, where none is given.
    - `rule`: "loss"; "map" (the most probable class, which is zero-one loss); "ml" (maximum likelihood: the same with
      the prior divided out).
    - `prior`: class priors where they differ from training's; classes that are not named share the rest.
    - `missing_by`: "left-out", "averaged" or "informative"; None takes missing cells as the model does.
    - `unlike`: a share; rows less probable than all but this share of `training` (or of rows drawn from the model with
      `seed`) are "none of these".

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> decide(model, {"sky": "sun"}, {"n": {"go": 9}, "y": {"stay": 1}}).action
    'stay'
    """
    if isinstance(model, Posterior):
        asked = {"data": data, "prior": prior, "missing_by": missing_by, "unlike": unlike, "training": training}
        for name, value in asked.items():
            if value is not None:
                raise SettingError(f"A posterior alone does not know its model, which {name} needs. Give the model.")
        if rule == "ml":
            raise SettingError("A posterior alone does not know its prior, so none can be divided out. Give the model.")
        return make_decision(model, chosen_loss(model.classes, None, loss, rule))
    how = decider(
        model, loss, rule=rule, prior=prior, missing_by=missing_by, unlike=unlike, training=training, seed=seed
    )
    return how.decide(data)
