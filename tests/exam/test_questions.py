"""Thirty-three questions that an examiner asked (an independent review), each answered by a printed sheet, exactly."""

from __future__ import annotations

import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from exam.paper import explain, fit, posteriors, product

import likely
from likely.classroom.pages import parse_joint
from likely.classroom.query import Normal

DISEASES = """
prior = {flu = "0.10", covid = "0.04", neither = "0.86"}
[attributes]
test.flu = {neg = "0.75", weak = "0.20", strong = "0.05"}
test.covid = {neg = "0.1", weak = "0.2", strong = "0.7"}
test.neither = {neg = "0.94", weak = "0.05", strong = "0.01"}
fever = {flu = "0.6", covid = "0.8", neither = "0.1"}
"""
OWNERS = "colour,size,owner red,10,a red,12,a blue,?,a ?,11,a green,15,b red,17,b green,?,b blue,20,b green,16,b"
CUSTOMERS = "age,income,car,buys 20,10,yes,no 30,20,no,no 40,?,yes,yes 50,40,no,yes 60,30,yes,yes 40,30,?,no"
MAILS = "goal match goal win the|match win the|goal the", "vote win law the|law law vote the"
FISH = "len,fish 50,salmon 54,salmon 58,salmon 70,bass 74,bass 78,bass 82,bass 86,bass 64,trout 60,trout"
GROUPS = "w,x,g a,1,A a,2,A b,3,A b,1,B c,4,B c,2,C"
DAYS = (
    "outlook,temperature,humidity,windy,play sunny,hot,high,false,no sunny,hot,high,true,no "
    "overcast,hot,high,false,yes rainy,mild,high,false,yes rainy,cool,normal,false,yes "
    "rainy,cool,normal,true,no overcast,cool,normal,true,yes",
    "outlook,temperature,humidity,windy,play sunny,mild,high,false,no sunny,cool,normal,false,yes "
    "rainy,mild,normal,false,yes sunny,mild,normal,true,yes overcast,mild,high,true,yes "
    "overcast,hot,normal,false,yes rainy,mild,high,true,no",
)


def normal(x: float, mean: float, variance: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def test_01_two_diseases_two_pieces_of_evidence_and_abstaining(sheet: Any) -> None:
    words = (
        "bayes --prior a=1/10 --prior b=9/10 --likelihood a=4/5 --likelihood b=1/10 --likelihood "
        "a=1/2 --likelihood b=1/4"
    )
    out = sheet({}, [*words.split(), "--loss", "a:treat b=8", "--loss", "b:treat a=2", "--abstain", "1"])
    a, b = F(1, 10) * F(4, 5) * F(1, 2), F(9, 10) * F(1, 10) * F(1, 4)
    share = a / (a + b)
    assert share == F(16, 25) and "Most probable given the evidence (MAP): a, 0.64." in out
    best, next_best = 2 * (1 - share), F(1)
    assert f"Least expected loss: treat a, {float(next_best - best):.4g} less than the next best." in out


def test_02_three_results_of_a_test_and_a_fever(sheet: Any) -> None:
    out = sheet({"q.toml": DISEASES}, ["hypotheses", "q.toml", "test=weak", "fever=1"])
    parts = [F(10, 100) * F(20, 100) * F(6, 10), F(4, 100) * F(2, 10) * F(8, 10), F(86, 100) * F(5, 100) * F(1, 10)]
    for name, part in zip(("flu", "covid", "neither"), parts, strict=True):
        assert f"{part / sum(parts)} ≈ {float(part / sum(parts)):.4g}" in out, name
    assert "Most probable given the evidence (MAP): flu" in out


def test_03_levels_numbers_and_missing_cells(sheet: Any) -> None:
    out = sheet({"q.csv": OWNERS}, fit("owner --learner NaiveBayes"), explain("colour=red size=11"))
    a, b = normal(11, 11, 1), normal(11, 17, 14 / 3)
    assert f"L(a) = 4/9 × 3/6 × {a:.4g} = {4 / 9 * 3 / 6 * a:.4g}" in out
    assert f"L(b) = 5/9 × 2/8 × {b:.4g} = {5 / 9 * 2 / 8 * b:.4g}" in out
    assert posteriors(a=4 / 9 * 3 / 6 * a, b=5 / 9 * 2 / 8 * b) in out


def test_04_an_m_estimate_of_four_with_shares_of_its_own(sheet: Any) -> None:
    how = "owner --learner NaiveBayes --m-estimate 4 --set 'level_weights={colour={red=0.5,blue=0.25,green=0.25}}'"
    out = sheet({"q.csv": OWNERS}, fit(how), explain("colour=red"))
    assert product("a", "4/9", "4/7") in out and product("b", "5/9", "3/9") in out
    assert posteriors(a=F(4, 9) * F(2 + 2, 3 + 4), b=F(5, 9) * F(1 + 2, 5 + 4)) in out


@pytest.mark.parametrize("variance, far, near", [("ml", F(18), F(53, 5)), ("unbiased", F(27, 2), F(159, 20))])
def test_05_full_bayes_on_two_times_four_points(sheet: Any, variance: str, far: F, near: F) -> None:
    points = "x,y,c 0,0,A 2,2,A 0,2,A 2,4,A 6,0,B 8,0,B 6,2,B 8,4,B"
    how = f"c --learner FullBayes --variance {variance}"
    out = sheet({"q.csv": points}, fit(how), explain("x=4 y=2"))
    told = [f"{d} = {float(d):.4g}" if d.denominator > 1 else f"{d}" for d in (far, near)]
    assert f"d² = (x − m)ᵀ S⁻¹ (x − m): A {told[0]}; B {told[1]}" in out
    times = F(1) if variance == "ml" else F(16, 9)  # |S| grows by (4/3)²
    dense = [math.exp(-d / 2) / (2 * math.pi * math.sqrt(s * times)) for d, s in ((far, F(1)), (near, F(5, 2)))]
    assert posteriors(A=dense[0], B=dense[1]) in out


def test_06_neighbours_that_tie_with_missing_cells(sheet: Any) -> None:
    how = "buys --learner Neighbors --set k=3 --set distance=city-block"
    out = sheet({"q.csv": CUSTOMERS}, fit(how), explain("age=35 income=20 car=yes"))
    assert f"r, the distance of the last neighbour = {float(F(5, 40) + 1):.4g}" in out
    assert "K(class): no 3/2 = 1.5; yes 3/2 = 1.5" in out and "2 rows at the distance" in out


def test_06b_four_rows_share_three_places(sheet: Any) -> None:
    points = "x,y,c 0,1,p 0,-1,q 1,0,q -1,0,r 3,3,p"
    how = "c --learner Neighbors --set k=3 --set scale=false"
    out = sheet({"q.csv": points}, fit(how), explain("x=0 y=0"))
    assert "K(class): p 3/4 = 0.75; q 3/2 = 1.5; r 3/4 = 0.75" in out
    out = sheet({}, fit(how + " --set reading=density --force"), explain("x=0 y=0"))
    assert f"L(q) = 2/5 × {1.5 / 2 / math.pi:.4g} = {2 / 5 * 1.5 / 2 / math.pi:.4g}" in out


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_07_a_bag_of_words_with_an_unknown_word(sheet: Any, model: str) -> None:
    rows = [
        f"{kind},{text}" for kind, texts in zip(("sport", "politics"), MAILS, strict=True) for text in texts.split("|")
    ]
    Path("q.csv").write_text("\n".join(["kind,text", *rows]))
    how = f"kind --learner NaiveBayes --type text=text --text {model}"
    out = sheet({}, fit(how), explain("text='goal law law xyzzy'"))
    if model == "multinomial":
        sport, politics = F(4, 16) * F(1, 16) ** 2, F(1, 14) * F(4, 14) ** 2
    else:
        sport = F(3, 5) * F(1, 5) * F(2, 5) * F(1, 5) * F(4, 5) * F(2, 5)
        politics = F(1, 4) * F(3, 4) * F(3, 4) * F(1, 4) * F(1, 4) * F(2, 4)
    assert product("politics", "2/5", str(politics)) in out and product("sport", "3/5", str(sport)) in out
    assert posteriors(politics=F(2, 5) * politics, sport=F(3, 5) * sport) in out


def test_08_pairwise_votes(sheet: Any) -> None:
    points = "x,y,c 0,0,A 1,0,A 0,1,A 4,0,B 5,0,B 4,1,B 2,4,C 2,5,C 3,4,C"
    out = sheet({"q.csv": points}, fit("c --learner LeastSquares --set mode=pairwise"), explain("x=1 y=1"))
    assert "Votes: A 2, B 1, C 0." in out and f"y(A / B) = 1.2 − 0.48 × 1 − 0.24 × 1 = {float(F(12, 25)):.4g}" in out


def test_08b_no_class_wins_all_its_duels(sheet: Any) -> None:
    points = "x,y,c 6,2,A 4,4,A 4,0,A 5,5,A 1,5,B 6,4,B 2,2,B 0,0,B 3,6,C 5,3,C 0,2,C 6,0,C"
    out = sheet({"q.csv": points}, fit("c --learner LeastSquares --set mode=pairwise"), explain("x=4 y=6"))
    assert "don't know" in out and "Votes: A 1, B 1, C 1." in out


def test_09_a_density_and_its_outlier(sheet: Any) -> None:
    rows = "sky,wind,temp sun,weak,20 sun,weak,22 sun,strong,21 rain,strong,10 rain,weak,12 sun,weak,23 rain,strong,35"
    out = sheet({"q.csv": rows}, fit("--learner Density"), ["score", "q.csv", "--model", "m.likely", "--lowest", "1"])
    assert out.splitlines()[-1].split()[0] == "7"


def test_10_gibbs_with_hypotheses_that_predict_by_chance(sheet: Any) -> None:
    page = """
prior = {h1 = "0.35", h2 = "0.25", h3 = "0.25", h4 = "0.15"}
[predicts]
h1 = {"+" = "0.9", "-" = "0.1"}
h2 = {"+" = "0.2", "-" = "0.8"}
h3 = {"+" = "0.3", "-" = "0.7"}
h4 = "-"
"""
    out = sheet({"q.toml": page}, ["hypotheses", "q.toml"])
    plus = F(35, 100) * F(9, 10) + F(25, 100) * F(2, 10) + F(25, 100) * F(3, 10)
    gibbs = F(35, 100) * (1 - plus) + F(65, 100) * plus
    assert plus == F(11, 25) and f"wrong with probability {float(1 - plus):.4g}." in out
    assert gibbs == F(241, 500) and f"its most probable value: wrong with probability {float(gibbs):.4g}" in out


def test_11_the_bayes_error_of_a_table(sheet: Any) -> None:
    table = (
        'probabilities = ["0.20", "0.05", "0.10", "0.15", "0.05", "0.45"]\n'
        '[levels]\nx = ["low", "mid", "high"]\ny = ["ill", "well"]\n'
    )
    out = sheet({"q.toml": table}, ["joint", "q.toml", "--target", "y"])
    assert f"Bayes error of y: {float(F(5 + 10 + 5, 100)):.4g}." in out


def test_12_half_a_pseudo_count_on_values_and_prior(sheet: Any) -> None:
    rows = "a,b,k u,s,1 u,t,1 v,s,2 w,s,2 w,t,2"
    how = "k --learner NaiveBayes --pseudo-count 0.5 --prior-pseudo-count 0.5"
    out = sheet({"q.csv": rows}, fit(how), explain("a=u b=t"))
    half = F(1, 2)
    one = (2 + half) / 6 * (2 + half) / (2 + 3 * half) * (1 + half) / 3
    two = (3 + half) / 6 * half / (3 + 3 * half) * (1 + half) / 4
    assert product("1", "5/12", "5/7", "1/2") in out and product("2", "7/12", "1/9", "3/8") in out
    assert posteriors(**{"1": one, "2": two}) in out


@pytest.mark.parametrize("learner", ["NaiveBayes", "FullBayes"])
def test_13_no_class_is_possible(sheet: Any, learner: str) -> None:
    rows = "a,b,k u,s,1 u,s,1 v,t,2 w,t,2"
    out = sheet({"q.csv": rows}, fit(f"k --learner {learner} --pseudo-count 0"), explain("a=u b=t"))
    assert "Every product is 0: the row cannot be classified." in out and "by the prior" not in out


def test_14_a_mean_over_what_is_missing(sheet: Any) -> None:
    rows = GROUPS.replace(",1,", ",p,").replace(",2,", ",q,").replace(",3,", ",p,").replace(",4,", ",q,")
    out = sheet({"q.csv": rows}, fit("g --learner NaiveBayes"), explain("w=b", "--working --missing-by averaged"))
    prior = {"A": F(3, 6), "B": F(2, 6), "C": F(1, 6)}
    of_b = {"A": F(2, 6), "B": F(2, 5), "C": F(1, 4)}
    of_p = {"A": F(3, 5), "B": F(2, 4), "C": F(1, 3)}
    share = {"p": F(3, 6), "q": F(3, 6)}

    def posterior(cell: str) -> dict[str, F]:
        joint = {c: prior[c] * of_b[c] * (of_p[c] if cell == "p" else 1 - of_p[c]) for c in prior}
        return {c: value / sum(joint.values()) for c, value in joint.items()}

    mean = {c: sum(share[cell] * posterior(cell)[c] for cell in share) for c in prior}
    assert posteriors(**mean) in out


def test_15_evidence_seen_three_times_and_the_prior_at_which_it_turns(sheet: Any) -> None:
    def page(prior: str) -> str:
        return (
            f'prior = {{r = "{prior}"}}\n[[evidence]]\nname = "e"\ntimes = 3\nlikelihood = {{r = "0.6", s = "0.35"}}\n'
        )

    def prior_of(share: F) -> str:
        return page(str(share)).replace("}\n[[", f', s = "{1 - share}"}}\n[[', 1)

    turns = F(7, 20) ** 3 / (F(7, 20) ** 3 + F(3, 5) ** 3)
    assert turns == F(343, 2071)
    assert "Most probable given the evidence (MAP): s" in sheet(
        {"q.toml": prior_of(turns - F(1, 10**6))}, ["hypotheses", "q.toml"]
    )
    assert "Most probable given the evidence (MAP): r" in sheet(
        {"q.toml": prior_of(turns + F(1, 10**6))}, ["hypotheses", "q.toml"]
    )
    assert "= 192/535 ≈ 0.3589" in sheet({"q.toml": prior_of(F(1, 10))}, ["hypotheses", "q.toml"])


def test_16_bins_that_hold_their_upper_edge(sheet: Any) -> None:
    rows = "x,z,k 1,a,p 2,a,p 3,b,p 4,a,q 5,b,q 6,b,q 7,b,q 9,a,p"
    how = "k --learner NaiveBayes --numbers binned --bins x=2,4,6 --bins-closed right"
    out = sheet({"q.csv": rows}, fit(how), explain("x=4 z=a"))
    assert product("p", "4/8", "2/8", "4/6") in out and product("q", "4/8", "2/8", "2/6") in out


def test_17_a_joint_table_and_a_missing_cell(sheet: Any) -> None:
    rows = "a,b,k 0,x,1 0,x,1 0,y,1 1,z,1 1,x,2 1,y,2"
    how = "k --learner FullBayes --set density=table"
    out = sheet({"q.csv": rows}, fit(how), explain("a=0 b=z"), explain("a=0"))
    assert product("1", "4/6", "1/10") in out and product("2", "2/6", "1/8") in out
    assert product("1", "4/6", "6/10") in out and product("2", "2/6", "3/8") in out


def test_18_regression_on_two_attributes() -> None:
    line = likely.regress({"a1": [1, 2, 3, 4, 5], "a2": [2, 1, 4, 3, 5], "x": [7, 6, 15, 13, 20]}, "x")
    weights = {w.attribute: w.weight for w in line.weights}
    assert [line.constant, weights["a1"], weights["a2"]] == pytest.approx([F(7, 10), F(7, 6), F(8, 3)], rel=1e-12)
    residuals = [
        x - line.constant - a * weights["a1"] - b * weights["a2"]
        for a, b, x in ((1, 2, 7), (2, 1, 6), (3, 4, 15), (4, 3, 13), (5, 5, 20))
    ]
    assert sum(r * r for r in residuals) == pytest.approx(F(3, 10), rel=1e-9)


def test_19_logistic_regression_by_maximum_likelihood(sheet: Any) -> None:
    rows = "h,pass 1,no 2,no 3,yes 4,no 5,yes 6,yes 2,no 5,no"
    out = sheet(
        {"q.csv": rows}, fit("pass --learner Logistic --set ridge=0"), ["show", "m.likely", "--between", "yes,no"]
    )
    weight, constant = 0.85369, -3.73747
    assert f"{weight}·h = 0" in out
    # Where the likelihood is largest, residuals and their products with h sum to nothing.
    pairs = [tuple(row.split(",")) for row in rows.split()[1:]]
    left = [(float(h), (k == "yes") - 1 / (1 + math.exp(-constant - weight * float(h)))) for h, k in pairs]
    assert abs(sum(r for _, r in left)) < 1e-4 and abs(sum(h * r for h, r in left)) < 1e-4


def test_20_a_copied_attribute_in_a_block(sheet: Any) -> None:
    rows = "a,b,k u,u,1 u,u,1 u,u,1 v,v,1 u,u,2 v,v,2 v,v,2 v,v,2"
    twice = sheet({"q.csv": rows}, fit("k --learner NaiveBayes --pseudo-count 0"), explain("a=u b=u"))
    assert product("1", "4/8", "3/4", "3/4") in twice and posteriors(**{"1": F(9, 16), "2": F(1, 16)}) in twice
    once = sheet({}, fit("k --learner NaiveBayes --pseudo-count 0 --block a,b --force"), explain("a=u b=u"))
    assert product("1", "4/8", "3/4") in once and posteriors(**{"1": F(3, 4), "2": F(1, 4)}) in once


def test_21_three_dependent_urns(sheet: Any) -> None:
    table = (
        'probabilities = ["1/8", "1/8", "1/4", "0", "1/8", "1/8", "0", "1/4"]\n'
        '[levels]\nA = ["red", "blue"]\nB = ["red", "blue"]\nC = ["red", "blue"]\n'
    )
    ask = ["--query", "P(A=red | B=red)", "--query", "P(A=red or B=red)", "--independent", "A, B | C"]
    out = sheet({"q.toml": table}, ["joint", "q.toml", *ask])
    assert "P(A=red | B=red) = P(A=red, B=red) / P(B=red) = 0.25 / 0.5 = 0.5" in out
    assert "= 0.5 + 0.5 − 0.25 = 0.75" in out and "A and B are not independent given C" in out
    # "or" behind the bar, from what is asked one by one: P(A, B or C) = P(A, B) + P(A, C) − P(A, B, C).
    cells = parse_joint(table)
    both, either = (
        cells.query("P(A=red, B=red)").value
        + cells.query("P(A=red, C=red)").value
        - cells.query("P(A=red, B=red, C=red)").value,
        cells.query("P(B=red or C=red)").value,
    )
    assert both / either == F(1, 2) / F(3, 4)


def test_22_an_area_under_a_normal_curve_and_its_height(sheet: Any) -> None:
    out = sheet({}, ["normal", "20", "4", "--between", "25,inf"])
    assert f"= {math.erfc(1.25 / math.sqrt(2)) / 2:.5f}" in out
    assert Normal(20.0, 4.0).density(25) == pytest.approx(normal(25, 20, 16), rel=1e-12)


def test_23_kernels_at_a_point(sheet: Any) -> None:
    rows = "v,k 1,p 2,p 6,p 4,q 5,q 9,q"
    out = sheet({"q.csv": rows}, fit("k --learner NaiveBayes --numbers kernel --set bandwidth=1"), explain("v=3"))
    width = math.sqrt(7)  # one standard deviation of 1, 2, 6 and of 4, 5, 9
    p, q = (sum(normal(3, x, width**2) for x in points) / 3 for points in ((1, 2, 6), (4, 5, 9)))
    assert f"L(p) = 3/6 × {p:.4g} = " in out and posteriors(p=p, q=q) in out


def test_24_by_likelihood_by_posterior_and_under_another_prior(sheet: Any) -> None:
    def action(*options: str) -> str:
        out = sheet({}, ["decide", "m.likely", "new.csv", *options])
        return str(out.splitlines()[1].split(",")[0])

    sheet({"q.csv": FISH, "new.csv": "len 61"}, fit("fish --learner NaiveBayes"))
    dense = {"salmon": (3, normal(61, 54, 16)), "bass": (5, normal(61, 78, 40)), "trout": (2, normal(61, 62, 8))}
    assert max(dense, key=lambda f: dense[f][1]) == action("--rule", "ml")
    assert max(dense, key=lambda f: dense[f][0] * dense[f][1]) == action("--rule", "map")
    shares = {"salmon": 0.8, "bass": 0.2 * 5 / 7, "trout": 0.2 * 2 / 7}
    assert max(dense, key=lambda f: shares[f] * dense[f][1]) == action("--rule", "map", "--prior", "salmon=0.8")


def test_25_learn_unlearn_and_merge_give_the_same_bytes(sheet: Any, tmp_path: Path) -> None:
    first, second = DAYS
    both = first + " " + second.split(" ", 1)[1]
    names = ["fit", "play", "--learner", "NaiveBayes", "-o"]
    sheet(
        {"a.csv": first, "b.csv": second, "q.csv": both},
        *([names[0], f"{f}.csv", *names[1:], f"{f}.likely"] for f in "abq"),
        ["learn", "a.likely", "b.csv", "-o", "learned.likely"],
        ["unlearn", "q.likely", "b.csv", "-o", "unlearned.likely"],
        ["merge", "a.likely", "b.likely", "-o", "merged.likely"],
    )

    def digest(name: str) -> str:
        return likely.load(tmp_path / f"{name}.likely").digest

    assert digest("learned") == digest("q") == digest("merged") and digest("unlearned") == digest("a")


def test_26_costs_and_abstaining(sheet: Any) -> None:
    loss = 'abstain = 0.3\n[salmon]\n"sell bass" = 2\n[bass]\n"sell salmon" = 1\n'
    rows = "spots,fish true,salmon true,salmon true,bass false,bass false,bass false,salmon"
    how = "fish --learner NaiveBayes --pseudo-count 0"
    out = sheet(
        {"q.csv": rows, "loss.toml": loss, "new.csv": "spots true false"},
        fit(how),
        ["decide", "m.likely", "new.csv", "--loss", "loss.toml"],
    )
    # P(salmon | true) = 2/3: selling salmon costs 1/3, bass 4/3; not deciding 0.3 is less. False: 2/3 and 2/3.
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["don't know", "don't know"]
    assert f"{float(F(1, 3)):.10f}"[:10] in out.splitlines()[1]


def test_27_knowledge_and_then_four_rows(sheet: Any) -> None:
    spec = """
target = "ill"
[[knowledge]]
levels = {yes = 0.25, no = 0.75}
worth = 8
[[knowledge]]
attribute = "spots"
given = "yes"
probability = 0.6
worth = 5
[[knowledge]]
attribute = "spots"
given = "no"
probability = 0.1
worth = 10
"""
    rows = "spots,ill true,yes true,yes false,no true,no"
    out = sheet({"q.csv": rows, "s.toml": spec}, fit("ill --spec s.toml"), explain("spots=true"))
    assert product("no", "8/12", "2/12") in out and product("yes", "4/12", "5/7") in out
    assert "= 5/21 = " in out and "= 1/9 = " in out


def test_28_six_hundred_attributes_do_not_underflow() -> None:
    table = {f"a{k}": ["u", "v", "u", "v"] for k in range(600)} | {"k": ["p", "q", "p", "q"]}
    found = likely.explain(likely.fit(table, "k", likely.NaiveBayes()), {f"a{k}": "u" for k in range(600)})
    assert found.log_joint["p"] == pytest.approx(math.log(1 / 2) + 600 * math.log(3 / 4), rel=1e-12)
    assert found.log_joint["q"] == pytest.approx(math.log(1 / 2) + 600 * math.log(1 / 4), rel=1e-12)


def test_29_log_likelihood_of_training_and_test_by_table_and_by_naive_bayes(sheet: Any) -> None:
    first, second = (f"likely-{name}.csv" for name in "ab")
    out = sheet(
        {first: DAYS[0], second: DAYS[1]},
        ["fit", first, "--learner", "Density", "--set", "pseudo_count=0", "-o", "table.likely"],
        ["fit", first, "play", "--learner", "NaiveBayes", "-o", "naive.likely"],
        ["score", first, "--model", "table.likely"],
        ["score", second, "--model", "table.likely"],
        ["score", second, "--model", "naive.likely"],
    )
    assert f"log P of all 7 rows is {7 * math.log(1 / 7):.8g} nats" in out and "log P of all 7 rows is -inf nats" in out
    rows = [dict(zip(DAYS[0].split()[0].split(","), row.split(","), strict=True)) for row in DAYS[0].split()[1:]]
    levels = {"outlook": 3, "temperature": 3, "humidity": 2, "windy": 2}

    def likelihood(row: dict[str, str], play: str) -> F:
        own = [r for r in rows if r["play"] == play]
        share = F(len(own), len(rows))
        for name, many in levels.items():
            share *= F(sum(r[name] == row[name] for r in own) + 1, len(own) + many)
        return share

    new = [dict(zip(rows[0], row.split(","), strict=True)) for row in DAYS[1].split()[1:]]
    # A row is what is known before the class: the sum over both.
    total = sum(math.log(likelihood(row, "yes") + likelihood(row, "no")) for row in new)
    assert f"log P of all 7 rows is {total:.8g} nats" in out


def test_30_three_machines_and_a_tie(sheet: Any) -> None:
    rows = "machine,defect,P M1,yes,0.01 M1,no,0.19 M2,yes,0.009 M2,no,0.291 M3,yes,0.01 M3,no,0.49"
    ask = [f"P(machine={m} | defect=yes)" for m in ("M1", "M2", "M3")]
    out = sheet(
        {"q.csv": rows},
        ["joint", "q.csv", "--probability", "P", "--fractions", *(w for q in ask for w in ("--query", q))],
    )
    assert out.count("= 10/29") == 2 and "= 9/29" in out
    words = (
        "bayes --prior M1=1/5 --prior M2=3/10 --prior M3=1/2 --likelihood M1=1/20 --likelihood "
        "M2=3/100 --likelihood M3=1/50"
    )
    assert "MAP): M1" in sheet({}, words.split())


def test_31_three_classes_by_laplace(sheet: Any) -> None:
    rows = GROUPS.replace(",1,", ",p,").replace(",2,", ",q,").replace(",3,", ",p,").replace(",4,", ",q,")
    out = sheet({"q.csv": rows}, fit("g --learner NaiveBayes"), explain("w=b x=p"))
    assert product("A", "3/6", "2/6", "3/5") in out and product("B", "2/6", "2/5", "2/4") in out
    assert product("C", "1/6", "1/4", "1/3") in out


def test_32_a_level_that_training_did_not_have(sheet: Any) -> None:
    out = sheet({"q.csv": OWNERS}, fit("owner --learner NaiveBayes"), explain("colour=pink"))
    assert "'pink', which training did not have: left out" in out and posteriors(a=F(4, 9), b=F(5, 9)) in out


def test_33_neighbours_under_a_uniform_prior(sheet: Any) -> None:
    rows = "x,k 0,p 1,p 2,p 3,p 5,q 9,q"
    how = "k --learner Neighbors --set k=3 --set scale=false"
    plain = sheet({"q.csv": rows}, fit(how), explain("x=4"))
    assert "P(p | x) = 2/3" in plain
    even = sheet({}, fit(how + " --prior uniform --force"), explain("x=4"))
    # Two of four p and one of two q: by their shares of each class they are even.
    assert posteriors(p=F(2) * F(1, 2) / F(4, 6), q=F(1) * F(1, 2) / F(2, 6)) in even
