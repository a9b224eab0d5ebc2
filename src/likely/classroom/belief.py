"""What is believed of hypotheses: prior, likelihood, posterior, odds; and Bayes' rule as on the board."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isinf
from typing import Any, Self

from likely.classroom.writing import match_value
from likely.errors import shown
from likely.machinery.words import align_columns
from likely.models.fractions import Number, as_float, number, part, plain, printable, rounded, spell, tie_text, total
from likely.models.loss import Loss

# What is believed of hypotheses: prior, likelihood, posterior, odds. Exact where the numbers are; checks nothing.


@dataclass(frozen=True)
class BeliefStep:
    """One piece of evidence: its name, and how probable it is under each hypothesis."""

    evidence: str
    likelihood: Mapping[Hashable, Number]


@dataclass(frozen=True)
class Belief:
    """What is believed of some hypotheses after some evidence: prior × likelihood, shared out."""

    prior: Mapping[Hashable, Number]
    steps: tuple[BeliefStep, ...] = ()
    density: bool = False
    """Whether likelihoods may be densities, which can be above 1."""
    scaled: Mapping[Hashable, Number] | None = field(default=None, repr=False, compare=False)
    """The likelihood of all the evidence up to a factor: floats are kept in range, lest they all vanish."""

    @property
    def hypotheses(self) -> tuple[Hashable, ...]:
        return tuple(self.prior)

    @property
    def evidence(self) -> str:
        """What was seen, all of it."""
        return ", ".join(step.evidence for step in self.steps)

    @property
    def likelihood(self) -> dict[Hashable, Number]:
        """P(all the evidence | hypothesis): the product over the pieces, which are taken to be independent given it."""
        out: dict[Hashable, Number] = dict.fromkeys(self.prior, Fraction(1))
        for step in self.steps:
            out = {h: p * step.likelihood[h] for h, p in out.items()}
        return out

    @property
    def products(self) -> dict[Hashable, Number]:
        """prior × likelihood: the joint probability of each hypothesis and the evidence."""
        likelihood = self.likelihood
        return {h: p * likelihood[h] for h, p in self.prior.items()}

    @property
    def total(self) -> Number:
        """P(evidence) = Σ prior × likelihood."""
        return total(self.products.values())

    @property
    def posterior(self) -> dict[Hashable, Number]:
        """P(hypothesis | evidence)."""
        if not self.steps:
            return dict(self.prior)
        scaled = self.scaled_likelihood
        products = {h: p * scaled[h] for h, p in self.prior.items()}
        whole = total(products.values())
        return {h: p / whole for h, p in products.items()}

    @property
    def scaled_likelihood(self) -> Mapping[Hashable, Number]:
        """The likelihood up to a factor that is the same for all hypotheses; it does not underflow."""
        return self.scaled if self.scaled is not None else self.likelihood

    def after(self, step: BeliefStep) -> Self:
        """With one step more, unchecked."""
        scaled = {h: p * step.likelihood[h] for h, p in self.scaled_likelihood.items()}
        most = max((p for h, p in scaled.items() if self.prior[h]), default=0.0)
        if isinstance(most, float) and 0 < most < inf:
            scaled = {h: p / most for h, p in scaled.items()}
        return replace(self, steps=(*self.steps, step), scaled=scaled)

    def p(self, hypothesis: Hashable) -> Number:
        """P(hypothesis | evidence)."""
        return self.posterior[match_value(hypothesis, self.hypotheses, "hypothesis")]

    @property
    def map(self) -> Hashable:
        """The most probable hypothesis (maximum a posteriori); of equal ones the first."""
        posterior = self.posterior
        return max(posterior, key=lambda h: posterior[h])

    @property
    def ml(self) -> Hashable:
        """The hypothesis under which the evidence is most probable (maximum likelihood); of equal ones the first."""
        likelihood = self.scaled_likelihood
        return max(likelihood, key=lambda h: likelihood[h])

    def odds(self, hypothesis: Hashable) -> Number:
        """Posterior odds: P(hypothesis | evidence) against all the others; infinite if they are impossible."""
        return _odds(self.posterior, match_value(hypothesis, self.hypotheses, "hypothesis"))

    def prior_odds(self, hypothesis: Hashable) -> Number:
        """The odds before the evidence."""
        return _odds(self.prior, match_value(hypothesis, self.hypotheses, "hypothesis"))

    def likelihood_ratio(self, hypothesis: Hashable) -> Number | None:
        """P(evidence | hypothesis) over P(evidence | not it): prior odds × this = posterior odds.

        With more than two hypotheses, "not it" is the others weighted by their priors. None where it is 0 / 0.
        """
        own = match_value(hypothesis, self.hypotheses, "hypothesis")
        others = [h for h in self.prior if h != own]
        rest = total(self.prior[h] for h in others)
        likelihood = self.scaled_likelihood
        if not rest:
            return None
        against = total(self.prior[h] * likelihood[h] for h in others) / rest
        if not against:
            return inf if likelihood[own] else None
        return likelihood[own] / against

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the numbers."""
        out = []
        for h, p in self.prior.items():
            if not p and self.steps and self.likelihood[h]:
                out.append(f"The prior of {shown(spell(h))} is zero, and no evidence can raise it.")
        return tuple(out)


def _odds(beliefs: Mapping[Hashable, Number], own: Hashable) -> Number:
    against = total(p for h, p in beliefs.items() if h != own)
    return beliefs[own] / against if against else inf


# Bayes' rule written out as a teacher would on the board: products, sum, posterior, odds, decision. Only writes.


@dataclass(frozen=True)
class Choice:
    """What every action is expected to cost, and the action that costs least (of equal ones the first).

    >>> from likely.models.loss import Loss
    >>> from likely.classroom import bayes
    >>> b = bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}, "positive")
    >>> b.decide(Loss.of({"cancer": {"say none": 10}, "no cancer": {"say cancer": 1}})).action
    'say cancer'
    """

    action: str
    expected: Mapping[str, Number]
    """Σ P(hypothesis | evidence) · cost, by action."""
    unnormalised: Mapping[str, Number]
    """The same with products in place of posteriors: it ranks alike, and needs no division."""
    terms: Mapping[str, tuple[tuple[Number, Number], ...]]
    """For each action the product and the cost of each hypothesis."""

    @property
    def margin(self) -> Number:
        """How much more the next best action would cost."""
        others = [cost for action, cost in self.expected.items() if action != self.action]
        return min(others) - self.expected[self.action] if others else Fraction(0)


def choice(belief: Belief, loss: Loss) -> Choice:
    """Weigh the costs of each action by what is believed."""
    rows = loss.rows(spell(h).strip() for h in belief.hypotheses)
    costs = [[number(c, "A cost") for c in row] for row in rows]
    posterior, products = belief.posterior, belief.products
    expected, raw, terms = {}, {}, {}
    for k, action in enumerate(loss.actions):
        of_action = [row[k] for row in costs]
        expected[action] = total(p * c for p, c in zip(posterior.values(), of_action, strict=True))
        terms[action] = tuple(zip(products.values(), of_action, strict=True))
        raw[action] = total(p * c for p, c in terms[action])
    return Choice(min(expected, key=lambda a: expected[a]), expected, raw, terms)


def write_board(belief: Belief, loss: Loss | None = None) -> str:
    """Everything: prior, each piece of evidence, posterior, odds, MAP and ML, and the losses if there is a loss."""
    parts, before = [_prior_alone(belief)] if not belief.steps else [], replace(belief, steps=(), scaled=None)
    for step in belief.steps:
        parts.append(_step(before, step, len(belief.steps)))
        before = before.after(step)
    parts.append("\n".join([*_write_odds(belief), *_best(belief), *belief.notes]))
    if loss is not None:
        parts.append(_losses(belief, loss))
    return "\n\n".join(parts)


def _prior_alone(belief: Belief) -> str:
    rows = [(printable(h), plain(p)) for h, p in belief.prior.items()]
    return align_columns([("hypothesis", "prior"), *rows], {1})


def _step(before: Belief, step: BeliefStep, steps: int) -> str:
    """One piece of evidence: what was believed times how probable it is, the sum, and each share of it."""
    own, k = before.posterior, len(before.steps)
    products = {h: p * step.likelihood[h] for h, p in own.items()}
    whole = total(products.values())
    first = "prior" if not k else "before"
    header = ("hypothesis", first, "", "likelihood", "", "product", "posterior")
    rows = [
        (printable(h), plain(own[h]), "×", plain(step.likelihood[h]), "=", plain(q), rounded(q / whole, 4))
        for h, q in products.items()
    ]
    rows.append(("sum", "", "", "", "", plain(whole), "1"))
    seen = printable(step.evidence, 60)
    lines = [f"Evidence{f' {k + 1}' if steps > 1 else ''}: {seen}"]
    lines.append(align_columns([header, *rows], {1, 3, 5, 6}, indent="  "))
    # Of many pieces the list would be longer than the working.
    all_seen = ", ".join(printable(s.evidence) for s in (*before.steps, step)) if k < 4 else f"evidence 1 to {k + 1}"
    for h, q in products.items():
        lines.append(f"P({printable(h)} | {all_seen}) = {part(q)} / {part(whole)}{_ends(q / whole)}")
    return "\n".join(lines)


def _ends(value: Number) -> str:
    """= 49/235 ≈ 0.2085, or = 0.25 where that says it all."""
    exact, near = plain(value), rounded(value, 4)
    if "/" in exact:
        return f" = {exact} ≈ {near}"
    return f" = {exact}" if len(exact) <= len(near) else f" ≈ {near}"


def _write_odds(belief: Belief) -> list[str]:
    """The odds form; for two hypotheses once is enough."""
    if not belief.steps:
        return []
    out = []
    for h in belief.hypotheses[: 1 if len(belief.hypotheses) == 2 else None]:
        ratio = belief.likelihood_ratio(h)
        if ratio is None or isinf(as_float(ratio)):
            continue
        prior, after = belief.prior_odds(h), belief.odds(h)
        against = printable(belief.hypotheses[1]) if len(belief.hypotheses) == 2 else "the others"
        said = f"{plain(prior)} × {plain(ratio)} = {plain(after)}"
        near = f" ≈ {rounded(after, 4)}" if "/" in plain(after) else ""
        out.append(f"Odds of {printable(h)} against {against}: prior odds × likelihood ratio = {said}{near}")
    return out


def _best(belief: Belief) -> list[str]:
    """The most probable hypothesis and the one of highest likelihood; equals are named."""
    posterior, likelihood = belief.posterior, belief.likelihood
    tie = f" {text}" if (text := tie_text(posterior)) else ""
    if not belief.steps:
        return [f"Most probable: {printable(belief.map)}{_at(belief.prior[belief.map])}.{tie}"]
    level = f" {text}" if (text := tie_text(belief.scaled_likelihood, "make it equally probable")) else ""
    return [
        f"Most probable given the evidence (MAP): {printable(belief.map)}{_at(posterior[belief.map])}.{tie}",
        f"Makes the evidence most probable (ML): {printable(belief.ml)}{_at(likelihood[belief.ml])}.{level}",
    ]


def _at(value: Number) -> str:
    return f", {rounded(value, 4)}"


def _losses(belief: Belief, loss: Loss) -> str:
    """Products times costs, action by action; the smallest sum wins, and dividing by P(evidence) changes no order."""
    found = choice(belief, loss)
    header = ("action", "Σ product × cost", "", "sum", "expected loss")
    rows = []
    for action, terms in found.terms.items():
        sums = " + ".join(f"{plain(p)} × {plain(c)}" for p, c in terms)
        rows.append(
            (printable(action), sums, "=", plain(found.unnormalised[action]), rounded(found.expected[action], 4))
        )
    table = align_columns([header, *rows], {3, 4}, indent="  ")
    tie = tie_text({action: -cost for action, cost in found.expected.items()}, "are expected to cost the same")
    margin = f". {tie}" if tie else f", {rounded(found.margin, 4)} less than the next best."
    return f"What each action is expected to cost\n{table}\nLeast expected loss: {printable(found.action)}{margin}"


def record_board(belief: Belief, loss: Loss | None = None) -> dict[str, Any]:
    """The same as plain values, for JSON: numbers as floats, and as fractions where they are exact."""

    def both(values: Mapping[Hashable, Number]) -> dict[str, float | None]:
        return {spell(h): _finite(v) for h, v in values.items()}

    def fractions(values: Mapping[Hashable, Number]) -> dict[str, str] | None:
        # Python refuses to write whole numbers of thousands of digits.
        exact = all(isinstance(v, Fraction) and v.denominator < 10**1000 for v in values.values())
        return {spell(h): str(v) for h, v in values.items()} if exact else None

    out: dict[str, Any] = {
        "hypotheses": [spell(h) for h in belief.hypotheses],
        "prior": both(belief.prior),
        "evidence": [{"name": s.evidence, "likelihood": both(s.likelihood)} for s in belief.steps],
        "products": both(belief.products),
        "total": _finite(belief.total),
        "posterior": both(belief.posterior),
        "exact": fractions(belief.posterior),
        "odds": {spell(h): _finite(belief.odds(h)) for h in belief.hypotheses},
        "map": spell(belief.map),
        "ml": spell(belief.ml) if belief.steps else None,
        "notes": [*filter(None, [tie_text(belief.posterior)]), *belief.notes],
    }
    if loss is not None:
        found = choice(belief, loss)
        out["decision"] = {
            "action": found.action,
            "expected": {a: _finite(v) for a, v in found.expected.items()},
            "unnormalised": {a: _finite(v) for a, v in found.unnormalised.items()},
            "margin": _finite(found.margin),
        }
    return out


def _finite(value: Number) -> float | None:
    """A float that JSON can hold; infinite odds are null."""
    near = as_float(value)
    return None if isinf(near) else near
