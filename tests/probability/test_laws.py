"""The laws of probability, over nasty tables: exact for fractions, up to rounding for floats."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probability.tables import joints, parts

from likely import Loss
from likely.classroom import Hypotheses, Joint, bayes, bayes_error, bayes_risk


@given(joints(exact=None))
def test_a_table_sums_to_one(j: Joint) -> None:
    assert sum(j.cells.values()) == (1 if j.exact else pytest.approx(1))
    assert all(isinstance(p, F if j.exact else float) for p in j.cells.values())


@given(joints(2), st.data())
def test_marginals_agree_however_they_are_reached(j: Joint, data: st.DataObject) -> None:
    some = data.draw(st.lists(st.sampled_from(j.variables), min_size=1, unique=True))
    fewer = data.draw(st.lists(st.sampled_from(some), min_size=1, unique=True))
    assert j.marginal(*some).marginal(*fewer) == j.marginal(*fewer)
    for cell, p in j.marginal(*some).cells.items():
        assert p == j.p(dict(zip(some, cell, strict=True)))


@given(joints(2), st.data())
def test_chain_rule(j: Joint, data: st.DataObject) -> None:
    order = data.draw(st.permutations(j.variables))
    whole = j.marginal(order[0])
    for k in range(1, len(order)):
        whole = whole * j.conditional(order[k], given=order[:k])
    assert whole == j
    for cell, p in j.cells.items():
        known: dict[str, object] = {}
        chain = F(1)
        for name in order:
            value = cell[j.variables.index(name)]
            chain *= j.p({name: [value]}, given=known)
            known[name] = [value]
        assert chain == p


@given(joints(2), st.data())
def test_bayes_theorem_there_and_back(j: Joint, data: st.DataObject) -> None:
    (h,), (e,) = data.draw(parts(j, 2))[:2]
    for (seen,) in j.marginal(e).cells:
        prior = {v: p for (v,), p in j.marginal(h).cells.items()}
        likelihood = {v: j.p({e: [seen]}, given={h: [v]}) for v in prior}
        belief = bayes(prior, likelihood)
        assert belief.total == j.p({e: [seen]})
        assert belief.posterior == {v: j.p({h: [v]}, given={e: [seen]}) for v in prior}
        for v in prior:
            ratio = belief.likelihood_ratio(v)
            if ratio is not None and belief.odds(v) != math.inf:
                assert belief.prior_odds(v) * ratio == belief.odds(v)


@given(joints(2), st.data())
def test_total_probability(j: Joint, data: st.DataObject) -> None:
    (a,), (b,) = data.draw(parts(j, 2))[:2]
    for (value,), p in j.marginal(a).cells.items():
        assert j.total_probability({a: [value]}, over=b).value == p
    assert j.conditional(a, given=b).total(j.marginal(b)) == j.marginal(a)


@given(joints(2), st.data())
def test_conditioning_in_two_steps_is_conditioning_at_once(j: Joint, data: st.DataObject) -> None:
    cell = data.draw(st.sampled_from(list(j.cells)))
    known = {n: [v] for n, v in zip(j.variables, cell, strict=True)}
    first, second = j.variables[0], j.variables[1]
    at_once = j.given({first: known[first], second: known[second]})
    assert j.given({first: known[first]}).given({second: known[second]}) == at_once
    assert j.given({second: known[second]}).given({first: known[first]}) == at_once


@given(joints(2, exact=None), st.data())
def test_mutual_information(j: Joint, data: st.DataObject) -> None:
    a, b, c = data.draw(parts(j, 3))
    bits = j.mutual_information(a, b, given=c)
    assert bits >= 0
    assert bits == pytest.approx(j.mutual_information(b, a, given=c), abs=1e-9)
    assert bits == pytest.approx(j.entropy(*a, given=c) - j.entropy(*a, given=[*b, *c]), abs=1e-9)
    assert 0 <= j.entropy() <= math.log2(max(1, len(j.cells))) + 1e-9
    known = j.entropy(*c) if c else 0  # without names the entropy is of all variables
    assert j.entropy(*a, *b, *c) == pytest.approx(known + j.entropy(*a, *b, given=c), abs=1e-9)
    if j.exact and j.independent(a, b, given=c):
        assert bits == 0
    if bits > 1e-6:
        assert not j.independent(a, b, given=c)


@given(joints(1, 2), joints(1, 2))
def test_what_is_multiplied_is_independent(one: Joint, other: Joint) -> None:
    names = [f"second {k}" for k in range(len(other.variables))]
    renamed = Joint(other.cells, names, levels=dict(zip(names, other.levels.values(), strict=True)))
    both = one * renamed
    assert both.independent(one.variables, names) and both.mutual_information(one.variables, names) == 0
    assert both.marginal(*one.variables) == one and both.marginal(*names) == renamed


@given(joints(exact=None))
def test_a_table_made_again_from_its_cells_is_the_same(j: Joint) -> None:
    again = Joint(j.cells, j.variables, levels=j.levels)
    assert again == j if j.exact else again.close_to(j)
    assert j == j.reordered(list(reversed(j.variables)))
    assert str(j) and repr(j)


@given(joints(exact=None), st.integers(0, 5))
def test_samples_are_possible_and_repeatable(j: Joint, seed: int) -> None:
    drawn = j.sample(50, seed)
    assert set(zip(*drawn.values(), strict=True)) <= set(j.weights)
    assert drawn == j.sample(50, seed)
    assert math.isfinite(j.log_likelihood(drawn))


PRIORS = st.lists(st.fractions(0, 1), min_size=1, max_size=4).filter(any)


@given(PRIORS, st.data())
def test_one_piece_of_evidence_after_another_is_all_at_once(weights: list[F], data: st.DataObject) -> None:
    names = [f"h{k}" for k in range(len(weights))]
    prior = {n: w / sum(weights) for n, w in zip(names, weights, strict=True)}
    chances = st.fractions(F(1, 100), 1)
    pieces = [dict(zip(names, data.draw(st.tuples(*[chances] * len(names))), strict=True)) for _ in range(3)]
    belief = bayes(prior)
    for piece in pieces:
        belief = belief.update(piece)
    at_once = bayes(prior, {n: pieces[0][n] * pieces[1][n] * pieces[2][n] for n in names})
    backwards = bayes(prior)
    for piece in reversed(pieces):
        backwards = backwards.update(piece)
    assert belief.posterior == at_once.posterior == backwards.posterior
    assert belief.total == at_once.total and belief.map == at_once.map and belief.ml == at_once.ml
    # what was believed after two pieces is the prior of the third
    again = bayes(bayes(prior, pieces[0]).update(pieces[1]).posterior, pieces[2])
    assert again.posterior == belief.posterior
    floats = bayes({n: float(p) for n, p in prior.items()})
    for piece in pieces:
        floats = floats.update({n: float(p) for n, p in piece.items()})
    for n in names:
        assert floats.p(n) == pytest.approx(float(belief.p(n)), abs=1e-9)


def test_long_evidence_neither_vanishes_nor_overflows() -> None:
    belief = bayes({"a": 0.5, "b": 0.5})
    for _ in range(300):
        belief = belief.update({"a": 1e-3, "b": 1.001e-3})
    assert belief.total == 0  # as a product it is beyond floats
    assert belief.odds("b") == pytest.approx(1.001**300)
    assert belief.likelihood_ratio("b") == pytest.approx(1.001**300)
    assert (belief.map, belief.ml) == ("b", "b")
    assert "b" in belief.working()


@given(st.lists(st.fractions(0, 1), min_size=2, max_size=5).filter(any), st.data())
def test_gibbs_draws_a_hypothesis_and_is_at_most_twice_as_wrong(weights: list[F], data: st.DataObject) -> None:
    """Hypotheses that are sure of one value: at most twice. Others: still never better than the optimal answer."""
    beliefs = {k: w / sum(weights) for k, w in enumerate(weights)}
    says = {}
    sure = data.draw(st.booleans())
    for h in beliefs:
        shares = data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any))
        shares = [int(k == shares.index(max(shares))) for k in range(3)] if sure else shares
        says[h] = {v: F(n, sum(shares)) for v, n in zip("abc", shares, strict=True)}
    held = Hypotheses(beliefs, says)
    wrong = F(0)
    for h, belief in beliefs.items():
        answer = max("abc", key=lambda v: says[h][v])
        wrong += belief * sum(b * (1 - says[other][answer]) for other, b in beliefs.items())
    assert held.gibbs_error == wrong and held.certain >= sure
    assert held.optimal_error <= held.map_error and held.optimal_error <= held.gibbs_error
    assert not held.certain or held.gibbs_error <= 2 * held.optimal_error
    assert sum(held.prediction.values()) == 1


@given(joints(2))
def test_zero_one_risk_is_the_bayes_error(j: Joint) -> None:
    target = j.variables[0]
    values = [str(v) for v in j.levels[target]]
    plain = Joint({(str(c[0]), *c[1:]): p for c, p in j.cells.items()}, j.variables,
                  levels={**j.levels, target: values})  # fmt: skip
    error = bayes_error(j, target)
    assert 0 <= error <= 1 - max(j.marginal(target).cells.values())
    if len(values) > 1 and len({v.strip() for v in values}) == len(values):
        assert bayes_risk(plain, target, Loss.zero_one(values)) == error
