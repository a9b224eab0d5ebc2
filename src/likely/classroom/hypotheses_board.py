"""A page of hypotheses written out as on a board: the evidence, every case, ML against MAP, and what is predicted."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from likely.classroom.belief import record_board, write_board
from likely.classroom.hypotheses import Hypotheses
from likely.classroom.pages import Bag, HypothesesPage
from likely.classroom.writing import event_text
from likely.machinery.words import align_columns
from likely.models.fractions import Number, as_float, part, plain, printable, rounded, spell, tie_text, total
from likely.models.loss import Loss

MOST_LINES = 64


def write_page(page: HypothesesPage, draws: int = 0, seed: int = 0, loss: Loss | None = None) -> str:
    """Everything that the page asks, worked out; with a loss, what to do and what that costs."""
    belief, parts = page.belief, []
    if page.title:
        parts.append(printable(page.title, 200))
    if page.bag is not None:
        parts.append(_bag(page.bag))
    if belief.steps or not (page.attributes or page.predicts or page.table):
        parts.append(write_board(belief, loss))
    if page.attributes and not belief.steps:
        parts.append(_cases(page, loss))
    elif page.table is not None and not page.row:
        parts.append(_known(page))
    if page.averaged:
        parts.append(_averaged(page))
    if page.priors:
        parts.append(_priors(page))
    found = page.hypotheses
    if found is not None:
        parts.append(_predictions(found, bool(belief.steps)))
        if draws:
            parts.append(_drawn(found, draws, seed))
    return "\n\n".join(parts)


def _near(value: Number) -> str:
    exact = plain(value)
    return f"{exact} ≈ {rounded(value, 4)}" if "/" in exact else exact


def _bag(bag: Bag) -> str:
    """P(counts | hypothesis) with the multinomial coefficient."""
    seen = {w: n for w, n in bag.seen.items() if n}
    over = " · ".join(f"{n}!" for n in seen.values())
    lines = [f"Orders of {sum(seen.values())} words, alike ones together: {sum(seen.values())}! / ({over or '0!'})"]
    lines[0] += f" = {bag.arrangements}"
    for h in bag.given:
        powers = [f"{part(bag.given[h][w])}{f'^{n}' if n > 1 else ''}" for w, n in seen.items()]
        name = ", ".join(f"{printable(w)} × {n}" for w, n in bag.seen.items())
        product = " × ".join([str(bag.arrangements), *powers])
        lines.append(f"P({name} | {printable(h)}) = {product} = {_near(bag.likelihood(h))}")
    return "\n".join(lines)


def _cases(page: HypothesesPage, loss: Loss | None = None) -> str:
    """Every combination of values: likelihoods, their ratio (of two hypotheses), posteriors, ML, MAP, best action."""
    names = list(page.prior)
    pair = len(names) == 2
    header = [*map(printable, page.attributes), *(f"P(x | {printable(h)})" for h in names)]
    header += ["ratio", "odds"] if pair else []
    shown = names[:1] if pair else names
    header += ["ML", "MAP", *(f"P({printable(h)} | x)" for h in shown)]
    header += [f"known P({printable(names[0])} | x)", "known odds"] if page.table is not None and pair else []
    policy = None if loss is None else page.policy(loss)
    header += [] if policy is None else ["action", "costs"]
    rows = []
    for k, case in enumerate(page.cases[:MOST_LINES]):
        cells = [*map(printable, case.values.values()), *(rounded(case.likelihood[h], 4) for h in names)]
        if case.belief is None:
            blank = len(header) - len(cells) - 1
            rows.append((*cells, "impossible", *[""] * blank))
            continue
        if pair:
            cells += [_ratio(case.likelihood[names[0]], case.likelihood[names[1]]), _ratio(*_both(case.belief, names))]
        cells += [printable(case.belief.ml), printable(case.belief.map)]
        cells += [rounded(case.belief.p(h), 4) for h in shown]
        if page.table is not None and pair:
            known = case.known
            cells += ["–", "–"] if known is None else [plain(known[names[0]]), _ratio(known[names[0]], known[names[1]])]
        if policy is not None and (best := policy.choices[k]) is not None:
            cells += [printable(best.action), rounded(best.expected[best.action], 4)]
        rows.append(tuple(cells))
    words = ("ML", "MAP", "action")
    right = [k for k, name in enumerate(header) if k >= len(page.attributes) and name not in words]
    lines = ["Every case, attributes independent given the hypothesis"]
    lines.append(align_columns([tuple(header), *rows], right, indent="  "))
    if len(page.cases) > MOST_LINES:
        lines.append(f"… and {len(page.cases) - MOST_LINES:,} more")
    if pair:
        lines.append(f"Ratio: P(x | {printable(names[0])}) / P(x | {printable(names[1])}). Odds: prior odds × ratio.")
    for case in page.cases[:MOST_LINES]:
        if case.belief is not None and (tie := tie_text(case.belief.posterior)):
            lines.append(f"At {event_text(case.values)}: {tie}")
    for case in page.cases:
        if pair and case.known is not None and case.belief is not None:
            own, other = (printable(h) for h in names)
            if (case.belief.p(names[0]) - Fraction(1, 2)) * (case.known[names[0]] - Fraction(1, 2)) < 0:
                said = own if case.belief.p(names[0]) > Fraction(1, 2) else other
                true = other if said == own else own
                lines.append(f"Misleading at {event_text(case.values)}: independence says {said}, the table {true}.")
    error = page.error
    lines.append(f"Bayes error, if attributes are independent given the hypothesis: {_near(error)}.")
    if policy is not None:
        blind, saved = policy.blind, policy.blind.expected[policy.blind.action] - policy.cost
        lines.append(
            f"The best action in every case costs Σ P(x) × cost = {_near(policy.cost)} on average. Without looking, "
            f"the best is always {printable(blind.action)}, which costs {_near(blind.expected[blind.action])}: what is "
            f"seen is worth {_near(saved)}."
        )
    return "\n".join(lines)


def _both(belief: Any, names: list[str]) -> tuple[Number, Number]:
    return belief.p(names[0]), belief.p(names[1])


def _ratio(top: Number, bottom: Number) -> str:
    return rounded(top / bottom, 4) if bottom else "infinite" if top else "–"


def _known(page: HypothesesPage) -> str:
    assert page.table is not None
    names = list(page.prior)
    header = (*map(printable, page.table.parents), *(f"P({printable(h)} | x)" for h in names), "odds", "MAP")
    rows = []
    for key, own in page.table.tables.items():
        p = [own.cells.get((h,), Fraction(0)) for h in names]
        best = names[max(range(len(names)), key=lambda k: p[k])]
        odds = _ratio(p[0], 1 - p[0])
        rows.append((*map(printable, key), *map(plain, p), odds, printable(best)))
    right = range(len(page.table.parents), len(header) - 1)
    return f"What is known\n{align_columns([header, *rows], right, indent='  ')}\nOdds: of {printable(names[0])}."


def _averaged(page: HypothesesPage) -> str:
    """The known table at a row of which some values are unknown: total probability over these."""
    terms, seen = page.averaged, event_text(page.row)
    lines = []
    for h in page.prior:
        found = total(known[h] * chance for _, known, chance in terms)
        if len(terms) == 1 and not terms[0][0]:
            lines.append(f"Known: P({printable(h)} | {seen}) = {_near(found)}")
            continue
        sums = " + ".join(f"{plain(known[h])} × {plain(chance)}" for _, known, chance in terms)
        over = ", ".join(printable(n) for n in terms[0][0])
        rule = f"Σ P({printable(h)} | {over}, {seen}) · P({over})"
        lines.append(f"Known, averaged over {over}: P({printable(h)} | {seen}) = {rule} = {sums} = {_near(found)}")
    return "\n".join(lines)


def _priors(page: HypothesesPage) -> str:
    """ML against MAP as the prior changes; for two hypotheses the prior at which MAP changes."""
    names = list(page.prior)
    header = (*(f"prior {printable(h)}" for h in names), *(f"P({printable(h)} | evidence)" for h in names), "ML", "MAP")
    rows = []
    for prior in (page.prior, *page.priors):
        belief = page.believed(prior)
        ml = printable(belief.ml) if belief.steps else "–"
        rows.append((*(plain(prior[h]) for h in names), *(rounded(belief.p(h), 4) for h in names), ml))
        rows[-1] = (*rows[-1], printable(belief.map))
    lines = ["ML against MAP as the prior changes"]
    lines.append(align_columns([header, *rows], range(2 * len(names)), indent="  "))
    threshold = break_even(page)
    if threshold is not None:
        one, other = names
        lines.append(
            f"MAP is {printable(one)} where its prior is at least {_near(threshold)}, else {printable(other)}; "
            "ML knows no prior and never changes."
        )
    return "\n".join(lines)


def break_even(page: HypothesesPage) -> Number | None:
    """Of two hypotheses: the prior of the first at which both are equally probable; None where there is none."""
    belief = page.belief
    if len(page.prior) != 2 or not belief.steps:
        return None
    one, other = belief.likelihood.values()
    return other / (one + other) if one + other else None


def _predictions(found: Hypotheses, after: bool) -> str:
    """What each hypothesis predicts, what all together do, and how often each way errs."""
    said, prediction = found.predictions, found.prediction
    values = list(prediction)
    header = ("hypothesis", "belief", *(f"P({printable(v)} | h)" for v in values))
    rows = [
        (printable(h), plain(b), *(plain(said[h].get(v, Fraction(0))) for v in values))
        for h, b in found.beliefs.items()
    ]
    lines = [f"What the hypotheses predict{', each believed as after the evidence' if after else ''}"]
    lines.append(align_columns([header, *rows], range(1, len(header)), indent="  "))
    for v in values:
        sums = " + ".join(f"{plain(b)} × {plain(said[h].get(v, Fraction(0)))}" for h, b in found.beliefs.items())
        lines.append(f"P({printable(v)}) = {sums} = {_near(prediction[v])}")
    lines.append(
        f"The most probable hypothesis (MAP), {printable(found.map)}, predicts {printable(found.map_prediction)}: "
        f"wrong with probability {_near(found.map_error)}.{_tie(found.beliefs)}"
    )
    lines.append(
        f"Bayes-optimal, all hypotheses together: {printable(found.optimal)}; wrong with probability "
        f"{_near(found.optimal_error)} (the Bayes error).{_tie(prediction)}"
    )
    # The bound is a theorem of hypotheses that predict one value each; of others it may be three times.
    drawn = "" if found.certain else ", which says its most probable value"
    bound = f", at most twice the Bayes error, {_near(2 * found.optimal_error)}" if found.certain else ""
    lines.append(
        f"Gibbs, one hypothesis drawn by its belief{drawn}: wrong with probability {_near(found.gibbs_error)}{bound}."
    )
    return "\n".join(lines)


def _tie(chances: Mapping[Hashable, Number]) -> str:
    return f" {text}" if (text := tie_text(chances)) else ""


def _drawn(found: Hypotheses, draws: int, seed: int) -> str:
    shares = found.simulate(draws, seed)
    listed = "; ".join(f"{name} {rounded(share, 4)}" for name, share in shares.items())
    return f"Errors in {draws:,} draws of truth and prediction: {listed}."


# -- JSON -----------------------------------------------------------------------------------------------------------


def record_page(page: HypothesesPage, draws: int = 0, seed: int = 0, loss: Loss | None = None) -> dict[str, Any]:
    """The same as plain values: each number as a float and, where it is exact, as a fraction."""
    belief, names = page.belief, list(page.prior)
    threshold = break_even(page)
    out: dict[str, Any] = {
        "title": page.title,
        "belief": record_board(belief, loss),
        "likelihood": _numbers(belief.likelihood),
        "likelihood_ratio": _ratio_number(belief.likelihood, names),
        "priors": [],
        "break_even": None if threshold is None else _number(threshold),
    }
    for prior in page.priors:
        other = page.believed(prior)
        own = {"prior": _numbers(prior), "posterior": _numbers(other.posterior)}
        out["priors"].append({**own, "map": spell(other.map), "ml": spell(other.ml) if other.steps else None})
    if page.attributes:
        out["cases"] = [
            {
                "values": dict(case.values),
                "likelihood": _numbers(case.likelihood),
                "ratio": _ratio_number(case.likelihood, names),
                "posterior": None if case.belief is None else _numbers(case.belief.posterior),
                "map": None if case.belief is None else spell(case.belief.map),
                "ml": None if case.belief is None else spell(case.belief.ml),
                "known": None if case.known is None else _numbers(case.known),
                "known_odds": None if case.known is None else _ratio_number(case.known, names),
            }
            for case in page.cases
        ]
        out["bayes_error"] = _number(page.error)
        if loss is not None:
            policy = page.policy(loss)
            out["policy"] = {
                "actions": [None if found is None else found.action for found in policy.choices],
                "cost": _number(policy.cost),
                "blind_action": policy.blind.action,
                "blind_cost": _number(policy.blind.expected[policy.blind.action]),
            }
    if page.averaged:
        out["averaged"] = {h: _number(total(known[h] * p for _, known, p in page.averaged)) for h in names}
    found = page.hypotheses
    if found is not None:
        out["predictions"] = {
            "beliefs": _numbers(found.beliefs),
            "prediction": _numbers(found.prediction),
            "map": spell(found.map),
            "map_prediction": spell(found.map_prediction),
            "optimal": spell(found.optimal),
            "map_error": _number(found.map_error),
            "optimal_error": _number(found.optimal_error),
            "gibbs_error": _number(found.gibbs_error),
        }
        if draws:
            out["predictions"]["simulated"] = {"draws": draws, "seed": seed, **found.simulate(draws, seed)}
    return out


def _number(value: Number) -> dict[str, Any]:
    exact = isinstance(value, Fraction) and value.denominator < 10**1000
    return {"p": as_float(value), "exact": str(value) if exact else None}


def _numbers(values: Mapping[Hashable, Number] | Mapping[str, Number]) -> dict[str, Any]:
    return {spell(h): _number(p) for h, p in values.items()}


def _ratio_number(values: Mapping[Any, Number], names: list[str]) -> dict[str, Any] | None:
    """Of two hypotheses the first over the second; None where there is no quotient."""
    if len(names) != 2 or not values[names[1]]:
        return None
    return _number(values[names[0]] / values[names[1]])
