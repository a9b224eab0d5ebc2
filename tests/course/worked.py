"""What every exercise asks for, worked out by the library or by hand: what is right, then what usual mistakes give."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any, Literal

import likely
from likely.classroom.hypotheses import diagnosis
from likely.classroom.pages import read_hypotheses
from likely.classroom.query import Normal

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IRIS = ("sepal_length", "sepal_width", "petal_length", "petal_width")


@cache
def fitted(table: str, target: str, learner: str = "NaiveBayes", **settings: Any) -> Any:
    return likely.fit(EXAMPLES / table, target, getattr(likely, learner)(**settings))


def asked(table: str, columns: str, *queries: str, **reading: Any) -> tuple[Any, ...]:
    joint = likely.joint(EXAMPLES / table, columns.split(), **reading)
    return tuple(joint.query(query).value for query in queries)


def likelihood(model: Any, given: str, **values: object) -> float:
    """P(values | class), or their density: what the row has over the prior of that class."""
    without = likely.explain(model, {}).log_joint[given]
    return math.exp(likely.explain(model, values).log_joint[given] - without)


def chance(model: Any, wanted: str, row: Mapping[str, object]) -> float:
    return float(model.posterior(row).prob(wanted))


def weather(pseudo_count: float) -> Any:
    return fitted("weather.csv", "play", pseudo_count=pseudo_count)


def product(row: Mapping[str, object], name: str) -> float:
    return math.exp(likely.explain(weather(0), row).log_joint[name])


def mixed() -> Any:
    return fitted("weather_mixed.csv", "play", pseudo_count=0)


@cache
def mails(model: Literal["multinomial", "bernoulli"], pseudo_count: float = 1) -> Any:
    text = likely.Text(
        model=model, pseudo_count=pseudo_count, damping="none", length=False, least_documents=1, scale=1.0
    )
    learner = likely.NaiveBayes(text=text)
    words = likely.Tokens(stop=("d", "e"))
    return likely.fit(EXAMPLES / "mail_words.csv", "label", learner, types={"text": "text"}, tokens=words)


def spam(model: Literal["multinomial", "bernoulli"], text: str) -> float:
    return chance(mails(model), "spam", {"text": text})


def known(**case: str) -> F:
    page = read_hypotheses(str(EXAMPLES / "viagra_lottery.toml"))
    return next(c.known["spam"] for c in page.cases if c.values == case and c.known is not None)


def errors(learner: str) -> int:
    """Flowers that a model misnames, of those it learned from."""
    with open(EXAMPLES / "iris.csv", encoding="utf-8", newline="") as file:
        true = [row["species"] for row in csv.DictReader(file)]
    named = fitted("iris.csv", "species", learner).predict(EXAMPLES / "iris.csv")
    return sum(a != b for a, b in zip(named, true, strict=True))


def setosa_near(k: int) -> F:
    ignored = {name: "ignore" for name in IRIS[2:]}
    near = likely.fit(EXAMPLES / "iris.csv", "species", likely.Neighbors(k=k, scale=False), types=ignored)
    return F(round(k * chance(near, "Iris-setosa", {"sepal_length": 6.75, "sepal_width": 4.25})), k)


@cache
def looked() -> Any:
    return likely.look(EXAMPLES / "weather.csv", "play", likely.NaiveBayes(), leave_one_out=True)


def of_no() -> Any:
    return next(scores for scores in looked().per_class if scores.label == "no")


def bits_of(*said: float) -> float:
    return -sum(math.log2(p) for p in said) / len(said)


def with_test(*seen: bool) -> Any:
    found = diagnosis("0.01", "0.9", "0.95")
    ill, well = found.hypotheses
    for _ in seen:
        found = found.update({ill: F(9, 10), well: F(5, 100)})
    return found


def sunny(times: int, prior: bool = True) -> float:
    model = weather(1)
    shares = model.posterior({})
    ratio = likelihood(model, "no", outlook="sunny") / likelihood(model, "yes", outlook="sunny")
    return float(shares.prob("no") / shares.prob("yes")) ** prior * ratio**times


def share(odds: float) -> float:
    return odds / (1 + odds)


def outlook(level: str, name: str, **settings: Any) -> float:
    return likelihood(fitted_plain(**settings), name, outlook=level)


def fitted_plain(**settings: Any) -> Any:
    return likely.fit(EXAMPLES / "weather.csv", "play", likely.NaiveBayes(**settings))


BELIEVED = {"outlook": {"sunny": 0.5, "rainy": 0.25, "overcast": 0.25}}
HOT = {"outlook": "sunny", "temperature": "hot", "humidity": "high", "windy": "false"}
RAINY = {"outlook": "rainy", "temperature": "cool", "humidity": "high", "windy": "false"}
DAMP = {"outlook": "rainy", "temperature": 70, "humidity": 95, "windy": "true"}
CUTS: dict[str, Any] = {"edges": {"sepal_length": [5.2, 6.1, 7.0], "sepal_width": [2.8, 3.6]}, "closed": "right"}


def cells(*queries: str) -> tuple[Any, ...]:
    return asked("iris.csv", "sepal_length sepal_width species", *queries, **CUTS)


def responses(name: str) -> float:
    """An output of multi-response regression: the weights solve the normal equations."""
    import numpy as np

    table = [line.split(",") for line in (EXAMPLES / "corners.csv").read_text().split()[1:]]
    left = np.array([[1.0, float(x), float(y)] for x, y, _ in table])
    right = np.array([float(c == name) for _, _, c in table])
    return float(np.linalg.lstsq(left, right, rcond=None)[0] @ [1, 2, 3])


def passed(hours: float) -> float:
    return chance(fitted("exam.csv", "pass", "Logistic", ridge=0), "yes", {"hours": hours})


def log_odds(hours: float) -> float:
    return math.log(passed(hours) / (1 - passed(hours)))


def line_at_four() -> float:
    line = likely.straight_line(EXAMPLES / "iris.csv", "petal_width", "petal_length")
    return float(line.constant + line.slope * 4)


NO_DAYS = (85, 80, 65, 72, 71)
SQUARES = sum((x - sum(NO_DAYS) / 5) ** 2 for x in NO_DAYS)
DIFFER = "P(lamp=on | hall=up, stairs=down)"

WORKED: dict[str, Callable[[], tuple[Any, ...]]] = {
    "1.1": lambda: asked(
        "weather.csv",
        "outlook play",
        "P(play=yes | outlook=rainy)",
        "P(play=yes, outlook=rainy)",
        "P(outlook=rainy | play=yes)",
    ),
    "1.2": lambda: (
        *asked("weather.csv", "humidity windy", "P(humidity=high or windy=true)"),
        sum(asked("weather.csv", "humidity windy", "P(humidity=high)", "P(windy=true)")),
        *asked("weather.csv", "humidity windy", "P(humidity=high, windy=true)"),
    ),
    "1.3": lambda: asked(
        "adult_counts.csv",
        "sex hours",
        "P(sex=Female | hours='above 40')",
        "P(hours='above 40' | sex=Female)",
        weight="rows",
    ),
    "1.4": lambda: asked(
        "weather.csv",
        "outlook play",
        "P(outlook=overcast | play=yes)",
        "P(play=yes | outlook=overcast)",
        "P(outlook=overcast, play=yes)",
    ),
    "1.5": lambda: (3 * 3 * 2 * 2 * 2, 3 * 3 * 2 * 2, 3 + 3 + 2 + 2 + 2),
    "2.1": lambda: (with_test().p("condition"), F(9, 10), with_test().products["condition"]),
    "2.2": lambda: (with_test(True).p("condition"), with_test().p("condition")),
    "2.3": lambda: (with_test().odds("no condition"), with_test().odds("condition")),
    "2.4": lambda: (F(10, 10 + 9 + 5), F(20, 100) * F(5, 100), F(5, 5 + 3 + 1)),
    "2.5": lambda: (share(3 * 3 / 9), 3 * 3 / 9, share(3 / 9)),
    "3.1": lambda: asked("weather.csv", "humidity play", "P(humidity=high | play=no)", "P(play=no | humidity=high)"),
    "3.2": lambda: (
        chance(weather(0), "yes", RAINY),
        product(RAINY, "yes"),
        chance(weather(0), "no", RAINY),
    ),
    "3.3": lambda: (likelihood(weather(1), "no", outlook="overcast"), F(0 + 1, 5 + 1)),
    "3.4": lambda: (
        chance(weather(0), "yes", {"humidity": "normal", "windy": "false"}),
        chance(weather(0), "no", {"humidity": "normal", "windy": "false"}),
        product({"humidity": "normal", "windy": "false"}, "yes"),
    ),
    "3.5": lambda: (
        likelihood(weather(1), "yes", windy="true"),
        likelihood(weather(0), "yes", windy="true"),
        F(3 + 1, 9 + 1),
    ),
    "4.1": lambda: (likelihood(mixed(), "no", temperature=70), likelihood(mixed(), "yes", temperature=70)),
    "4.2": lambda: (Normal(100.0, 15.0).between(85, 130), Normal(100.0, 15.0).between(85, 115)),
    "4.3": lambda: (chance(mixed(), "yes", DAMP), chance(mixed(), "no", DAMP)),
    "4.4": lambda: (SQUARES / 5, SQUARES / 4, math.sqrt(SQUARES / 5)),
    "4.5": lambda: (1 + math.log(0.8 / 0.2) / 2, 1, 1 - math.log(0.8 / 0.2) / 2),
    "5.1": lambda: (spam("multinomial", "a b b"), 1 - spam("multinomial", "a b b")),
    "5.2": lambda: (spam("bernoulli", "b"), 1 - spam("bernoulli", "b"), spam("multinomial", "b")),
    "5.3": lambda: (
        F(1, 4) * known(viagra="1", lottery="1") + F(3, 4) * known(viagra="0", lottery="1"),
        (known(viagra="1", lottery="1") + known(viagra="0", lottery="1")) / 2,
    ),
    "5.4": lambda: (F(3 + 2, 17 + 3 * 2), F(3 + 1, 17 + 3), F(3 + 2, 17 + 2)),
    "5.5": lambda: (
        F(1, 5) * known(viagra="0", lottery="1") + F(4, 5) * known(viagra="0", lottery="0"),
        (known(viagra="0", lottery="1") + known(viagra="0", lottery="0")) / 2,
    ),
    "6.1": lambda: (errors("FullBayes"), errors("NaiveBayes")),
    "6.2": lambda: (setosa_near(9), 9 * setosa_near(9)),
    "6.3": lambda: (line_at_four(),),
    "6.4": lambda: (3 * (5 + 5 * 6 // 2), 5 + 5 * 6 // 2, 3 * (5 + 5 * 5)),
    "6.5": lambda: (F(3 * 4 - 2 * 2 * 4 + 4 * 4, 8), F(4, 4) + F(4, 3)),
    "7.1": lambda: (looked().scores.accuracy, looked().baseline.accuracy),
    "7.2": lambda: (bits_of(0.8, 0.5, 0.1), bits_of(0.8, 0.5, 0.1) * math.log(2), 3 * bits_of(0.8, 0.5, 0.1)),
    "7.3": lambda: (of_no().recall.value, of_no().precision.value),
    "7.4": lambda: (F(40, 40 + 30), F(40, 50), F(40 + 920, 1000)),
    "7.5": lambda: (F(7, 10) ** 2 + (1 - F(3, 10)) ** 2, F(7, 10) ** 2, F(7, 10) ** 2 + F(3, 10) ** 2),
    "8.1": lambda: (
        math.log2(likelihood(weather(1), "yes", humidity="normal") / likelihood(weather(1), "no", humidity="normal")),
        likelihood(weather(1), "yes", humidity="normal") / likelihood(weather(1), "no", humidity="normal"),
    ),
    "8.2": lambda: (sunny(3), sunny(2), sunny(3, prior=False)),
    "8.3": lambda: (share(math.sqrt(0.9 / 0.1 * 0.6 / 0.4)), (0.9 + 0.6) / 2),
    "8.4": lambda: (share(2**1.5), 2**1.5, share(2**2.5)),
    "8.5": lambda: tuple(
        how(float(value / (1 - value)))
        for (value,) in [asked("switches.csv", "hall stairs lamp", DIFFER)]
        for how in (math.log2, float, math.log)
    ),
    "9.1": lambda: (outlook("sunny", "no", pseudo_count=0.5), outlook("sunny", "no", pseudo_count=1), F(7, 11)),
    "9.2": lambda: (outlook("sunny", "yes", m_estimate=3), outlook("sunny", "yes", pseudo_count=0), F(2 + 3, 9 + 3)),
    "9.3": lambda: (
        outlook("overcast", "yes", m_estimate=4, level_weights=BELIEVED),
        outlook("overcast", "yes", pseudo_count=0),
        F(4 + 2, 9 + 4),
    ),
    "9.4": lambda: (F(7, 2) / 4, F(3 + 1, 3 + 2), F(3, 3)),
    "9.5": lambda: (6 // 2, 6 * 2),
    "10.1": lambda: (math.log2(1 / 2) + math.log2(1 / 4) + math.log2(1 / 8), 6, -2, math.log(1 / 64)),
    "10.2": lambda: (product(HOT, "yes") + product(HOT, "no"), product(HOT, "no"), product(HOT, "yes")),
    "10.3": lambda: (F(1, 14 + 72), F(1, 72), 0),
    "10.4": lambda: (math.exp(-(3**2) / 2), math.exp(-(3**2)), math.exp(-3)),
    "10.5": lambda: asked(
        "weather.csv",
        "outlook play",
        "P(play=yes, outlook=overcast)",
        "P(outlook=overcast | play=yes)",
        "P(play=yes)",
    ),
    "11.1": lambda: (1 + 10 * 2, 10 * 2, 2 + 10 * 2 * 2),
    "11.2": lambda: (10 + 1, 10, 21),
    "11.3": lambda: (2**11 - 1, 2**11, 2**10 - 1),
    "11.4": lambda: (F(9, 10), F(3, 4), 3 * 3),
    "11.5": lambda: (F(10, 11), F(1, 11), F(12, 12 + 13)),
    "12.1": lambda: cells(
        "P(sepal_length='up to 5.2' | species=Iris-setosa)",
        "P(sepal_length='up to 5.2', sepal_width='above 2.8 to 3.6' | species=Iris-setosa)",
    ),
    "12.2": lambda: cells(
        "P(sepal_width='above 3.6' | sepal_length='up to 5.2', species=Iris-setosa)",
        "P(sepal_width='above 3.6', sepal_length='up to 5.2' | species=Iris-setosa)",
        "P(sepal_length='up to 5.2' | sepal_width='above 3.6', species=Iris-setosa)",
    ),
    "12.3": lambda: (F(3 + 1, 50 + 12), F(3, 50), F(3 + 1, 50 + 1)),
    "12.4": lambda: (
        math.prod(
            cells(
                "P(sepal_length='above 5.2 to 6.1' | species=Iris-setosa)",
                "P(sepal_width='above 2.8 to 3.6' | species=Iris-setosa)",
            )
        ),
        *cells("P(sepal_length='above 5.2 to 6.1', sepal_width='above 2.8 to 3.6' | species=Iris-setosa)"),
    ),
    "12.5": lambda: (5**4, 5 * 4),
    "13.1": lambda: (responses("C"), responses("A"), responses("B")),
    "13.2": lambda: (6 * 5 // 2, 6 * 5, 6),
    "13.3": lambda: (log_odds(6), passed(6), math.exp(log_odds(6))),
    "13.4": lambda: (passed(6), 1 - passed(6)),
    "13.5": lambda: (-log_odds(0) / (log_odds(1) - log_odds(0)), -log_odds(0)),
    "14.1": lambda: (F(50 - 30, 60 - 20), 50 - 30, F(50 - 30, 60)),
    "14.2": lambda: (math.hypot(25 / 40, 10 / 30), F(25, 40) + F(10, 30), F(25, 40) ** 2 + F(10, 30) ** 2),
    "14.3": lambda: (F(25, 40) + F(10, 30), math.hypot(25 / 40, 10 / 30)),
    "14.4": lambda: (math.hypot(5 / 40, 1), 5 / 40, F(5, 40) + 1),
    "14.5": lambda: ((4 + F(1, 3)) / 5, F(5, 7), F(4, 5)),
    "15.1": lambda: (800 * 4 // 5, 800 // 5, 800),
    "15.2": lambda: (640 // 2**5, 640 // 2**6),
    "15.3": lambda: (F(1, 1000 + 4000), F(1, 1001), F(1, 4000)),
    "15.4": lambda: (F(100_000 + 4000, 1000 + 4000), F(100_000, 1000)),
    "15.5": lambda: (0.945 + 0.015, 0.945 + 0.0075, 0.945 + 0.03),
}
