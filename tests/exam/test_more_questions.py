"""Twenty more questions, each of another kind: paradoxes, causes, tests, missing and new values, regions, sampling."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction as F
from typing import Any

import pytest
from exam.paper import explain, fit, posteriors, product

import likely
from likely.classroom.joint import Conditional

TREATED = (
    "sex,treated,well,n m,yes,yes,81 m,yes,no,6 m,no,yes,234 m,no,no,36 "
    "f,yes,yes,192 f,yes,no,71 f,no,yes,55 f,no,no,25"
)
LAB = "lab,k high,ill ?,ill ?,ill low,well ?,well high,well low,well"
XOR = "a,b,k 0,0,n 0,1,y 1,0,y 1,1,n"


def words(line: str) -> list[str]:
    return line.split()


def test_34_three_doors(sheet: Any) -> None:
    line = (
        "bayes --prior one=1/3 --prior two=1/3 --prior three=1/3 --likelihood one=1/2 --likelihood "
        "two=1 --likelihood three=0"
    )
    out = sheet({}, words(line))
    assert "= (1/3) / 0.5 = 2/3 ≈ 0.6667" in out and "(MAP): two" in out


def test_35_how_many_sides_has_the_die(sheet: Any) -> None:
    """4, 6 or 8 sides; it showed 3 and then 6."""
    prior = "--prior four=1/3 --prior six=1/3 --prior eight=1/3"
    seen = (
        "--likelihood four=1/4 --likelihood six=1/6 --likelihood eight=1/8 --likelihood four=0 "
        "--likelihood six=1/6 --likelihood eight=1/8"
    )
    out = sheet({}, words(f"bayes {prior} {seen}"))
    share = F(1, 36) / (F(1, 36) + F(1, 64))
    assert share == F(16, 25) and "(MAP): six, 0.64." in out


def test_36_the_sun_tomorrow_by_laplace(sheet: Any) -> None:
    days = " ".join(["up", *["yes"] * 9])
    out = sheet(
        {"q.csv": days.replace("yes", "yes", 1) + " no"}, ["joint", "q.csv", "up", "--pseudo-count", "1", "--fractions"]
    )
    assert f"{9 + 1}/{10 + 2}" in out


def test_37_a_treatment_that_helps_neither_sex_and_both(sheet: Any) -> None:
    """Simpson: within each sex the treated are worse or better, together it is the other way round."""
    asked = [f"P(well=yes | treated={t}{s})" for s in ("", ", sex=m", ", sex=f") for t in ("yes", "no")]
    out = sheet(
        {"q.csv": TREATED},
        [
            "joint",
            "q.csv",
            "sex",
            "treated",
            "well",
            "--weight",
            "n",
            "--fractions",
            *(w for q in asked for w in ("--query", q)),
        ],
    )
    shares = [F(273, 350), F(289, 350), F(81, 87), F(234, 270), F(192, 263), F(55, 80)]
    for query, share in zip(asked, shares, strict=True):
        (line,) = (one for one in out.splitlines() if one.startswith(query))
        assert line.endswith(f"= {share}") or F(line.split("= ")[-1].split(" ≈")[0]) == share
    assert shares[0] < shares[1] and shares[2] > shares[3] and shares[4] > shares[5]


def test_38_two_causes_explain_each_other_away(sheet: Any) -> None:
    """C is whether A and B differ: independent causes become dependent once C is known."""
    table = (
        'probabilities = ["1/4", "0", "0", "1/4", "0", "1/4", "1/4", "0"]\n'
        '[levels]\nA = ["0", "1"]\nB = ["0", "1"]\nC = ["0", "1"]\n'
    )
    out = sheet(
        {"q.toml": table},
        [
            "joint",
            "q.toml",
            "--independent",
            "A, B",
            "--independent",
            "A, B | C",
            "--query",
            "P(A=1 | C=1)",
            "--query",
            "P(A=1 | B=1, C=1)",
        ],
    )
    assert "A and B are independent." in out and "A and B are not independent given C" in out
    assert "P(A=1 | C=1) = P(A=1, C=1) / P(C=1) = 0.25 / 0.5 = 0.5" in out and out.count("= 0 / 0.25 = 0") == 1


def test_39_a_positive_and_a_negative_test_in_either_order(sheet: Any) -> None:
    def after(first: str, second: str) -> str:
        line = f"bayes --prior ill=0.01 --test 0.9,0.95 --test 0.9,0.95 --result {first} --result {second}"
        return str(sheet({}, words(line)))

    ill, well = F(1, 100) * F(9, 10) * F(1, 10), F(99, 100) * F(5, 100) * F(95, 100)
    assert ill / (ill + well) == F(4, 213)
    assert all("= 4/213 ≈ 0.01878" in after(*order) for order in (("positive", "negative"), ("negative", "positive")))


def test_40_the_prosecutor(sheet: Any) -> None:
    """One of 10,001 people did it; a trace fits one innocent person in a thousand."""
    line = ["bayes", "--prior", "guilty=1/10001", "--likelihood", "guilty=1", "--likelihood", "innocent=1/1000"]
    out = sheet({}, line)
    assert "prior odds × likelihood ratio = 0.0001 × 1000 = 0.1" in out and "10/11 ≈ 0.9091" in out


def test_41_rows_with_weights(sheet: Any) -> None:
    out = sheet(
        {"q.csv": TREATED}, fit("well --learner NaiveBayes --weight n --pseudo-count 0"), explain("sex=m treated=yes")
    )
    assert (
        product("no", "138/700", "42/138", "77/138") in out and product("yes", "562/700", "315/562", "273/562") in out
    )


def test_42_a_missing_value_as_evidence(sheet: Any) -> None:
    out = sheet({"q.csv": LAB}, fit("k --learner NaiveBayes --missing-as level"), explain(""))
    assert product("ill", "3/7", "3/6") in out and product("well", "4/7", "2/7") in out


def test_43_a_share_reserved_for_new_levels(sheet: Any) -> None:
    out = sheet({"q.csv": LAB}, fit("k --learner NaiveBayes --unseen reserve"), explain("lab=middle"))
    assert product("ill", "3/7", "1/4") in out and product("well", "4/7", "1/6") in out


def test_44_a_uniform_prior(sheet: Any) -> None:
    out = sheet({"q.csv": LAB}, fit("k --learner NaiveBayes --prior uniform"), explain("lab=high"))
    assert product("ill", "1/2", "2/3") in out and product("well", "1/2", "2/5") in out
    assert posteriors(ill=F(1, 3), well=F(1, 5)) in out


def test_45_a_row_taken_back(sheet: Any) -> None:
    out = sheet(
        {"q.csv": LAB, "wrong.csv": "lab,k high,well"},
        fit("k --learner NaiveBayes --pseudo-count 0"),
        ["unlearn", "m.likely", "wrong.csv", "-o", "m.likely"],
        explain("lab=low"),
    )
    assert product("well", "3/6", "2/2") in out and product("ill", "3/6", "0/1") in out


def test_46_where_two_bells_of_equal_width_meet(sheet: Any) -> None:
    rows = "x,k 1,p 3,p 5,q 7,q 9,q"
    out = sheet({"q.csv": rows}, fit("k --learner LinearDiscriminant"), explain("x=4"))
    assert "d² = (x − m)ᵀ S⁻¹ (x − m): p 6/5 = 1.2; q 27/10 = 2.7" in out
    # The log odds are linear: (2 − 7)/S · (x − 9/2) + ln(2/3) with S = 10/3, so they turn at 9/2 + 2/3 · ln(2/3).
    turns = 4.5 + 2 / 3 * math.log(2 / 3)
    model = likely.load("m.likely")
    assert model.predict({"x": turns - 1e-9}) == "p" and model.predict({"x": turns + 1e-9}) == "q"


def test_47_a_tree_over_attributes(sheet: Any) -> None:
    """Neither switch says anything, both together do: P(b | a, class) in place of P(b | class)."""
    tree = sheet({"q.csv": XOR}, fit("k --learner TreeAugmented"), explain("a=1 b=1"))
    assert product("n", "2/4", "2/4", "2/3") in tree and product("y", "2/4", "2/4", "1/3") in tree
    naive = sheet({}, fit("k --learner NaiveBayes --force"), explain("a=1 b=1"))
    assert posteriors(n=F(1, 2), y=F(1, 2)).removesuffix(": n") in naive


def test_48_leave_one_out_by_hand(sheet: Any) -> None:
    """Each of four rows of the exclusive or is predicted from the other three: naive Bayes is wrong each time."""
    out = sheet({"q.csv": XOR}, words("look q.csv k --learner NaiveBayes --leave-one-out --no-page"))
    rows = [tuple(r.split(",")) for r in XOR.split()[1:]]

    def product_of(row: tuple[str, ...], name: str, others: list[tuple[str, ...]]) -> F:
        own = [r for r in others if r[2] == name]
        return (
            F(len(own), 3)
            * F(sum(r[0] == row[0] for r in own) + 1, len(own) + 2)
            * F(sum(r[1] == row[1] for r in own) + 1, len(own) + 2)
        )

    right = sum(
        product_of(row, row[2], others) > product_of(row, "y" if row[2] == "n" else "n", others)
        for row in rows
        for others in [[r for r in rows if r is not row]]
    )
    assert right == 0 and "correctly for 0.0 % of unseen rows" in out


@pytest.mark.parametrize("cost, action", [("0.2", "don't know"), ("0.3", "sell")])
def test_49_how_cheap_must_not_deciding_be(sheet: Any, cost: str, action: str) -> None:
    """P = 3/4: being wrong costs 1/4, so not deciding pays below that."""
    line = (
        f"bayes --prior good=3/4 --prior bad=1/4 --likelihood good=1 --likelihood bad=1 --loss "
        f"bad:sell=1 --loss good:keep=1 --abstain {cost}"
    )
    assert f"Least expected loss: {action}" in sheet({}, words(line))


def test_50_bits_that_two_coins_share() -> None:
    same = likely.joint({"a": ["h", "t"], "b": ["h", "t"]}, ["a", "b"])
    apart = likely.joint({"a": ["h", "h", "t", "t"], "b": ["h", "t", "h", "t"]}, ["a", "b"])
    assert (same.mutual_information("a", "b"), apart.mutual_information("a", "b")) == (1, 0)
    assert (same.entropy("a", "b"), apart.entropy("a", "b"), same.entropy("a", given="b")) == (1, 2, 0)


def test_51_total_probability_over_a_chain() -> None:
    """Rain today by rain yesterday, two days on: rows of a table times tables."""
    today = Conditional(
        {"dry": {"dry": F(4, 5), "wet": F(1, 5)}, "wet": {"dry": F(2, 5), "wet": F(3, 5)}}, "today", "yesterday"
    )
    after: Any = today.total(likely.joint({"yesterday": ["dry"]}, ["yesterday"]))
    assert [after.p(today=day) for day in ("dry", "wet")] == [F(4, 5), F(1, 5)]
    again = F(4, 5) * F(1, 5) + F(1, 5) * F(3, 5)
    assert (
        today.p(today="wet", given={"yesterday": "dry"}) * today.p(today="wet", given={"yesterday": "wet"}) + F(4, 25)
        == again
    )


def test_52_a_sample_has_the_shares_of_the_model(sheet: Any) -> None:
    out = sheet({"q.csv": LAB}, fit("k --learner NaiveBayes --pseudo-count 0"), words("sample m.likely -n 4000"))
    drawn = Counter(tuple(row.split(",")) for row in out.splitlines()[1:])
    share = F(4, 7) * F(2, 3)  # P(well) · P(low | well)
    spread = math.sqrt(4000 * share * (1 - share))
    assert abs(drawn["low", "well"] - 4000 * share) < 4 * spread and drawn["low", "ill"] == 0


def test_53_evidence_in_decibans(sheet: Any) -> None:
    """Ten decibans multiply the odds by ten: 2/3 against 2/5 is a ratio of 5/3."""
    out = sheet({"q.csv": LAB}, fit("k --learner NaiveBayes --prior uniform"), explain("lab=high", "--unit decibans"))
    (line,) = (one for one in out.splitlines() if one.strip().startswith("lab=high"))
    assert float(line.split()[1]) == pytest.approx(10 * math.log10(5 / 3), abs=0.05)
