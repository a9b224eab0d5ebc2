"""What the exercises ask for, worked out by the library, and whether an answer is right."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import likely
from likely.classroom.course.chapters import examples_folder, read_chapters
from likely.classroom.hypotheses import diagnosis
from likely.classroom.joint import Joint
from likely.classroom.pages import read_hypotheses
from likely.classroom.query import Normal
from likely.errors import SettingError, nearest, shown
from likely.evaluate.look import Look
from likely.models.contracts import Model
from likely.models.fractions import Number, as_float, number

# What the exercises ask for, worked out by the library from the example tables when somebody asks.


@dataclass(frozen=True)
class Answer:
    """What is right, and numbers that a usual mistake gives, each with a sentence that says which mistake."""

    value: Fraction | float | int
    mistakes: tuple[tuple[Fraction | float, str], ...] = ()


ANSWERS: dict[str, Callable[[], Answer]] = {}
"""The working of each exercise, by its name."""


def _answers(name: str) -> Callable[[Callable[[], Answer]], Callable[[], Answer]]:
    def keep(work: Callable[[], Answer]) -> Callable[[], Answer]:
        ANSWERS[name] = cache(work)
        return work

    return keep


def example(name: str) -> str:
    """The path of an example table."""
    return str(examples_folder() / name)


@cache
def _model(table: str, target: str, learner: str = "NaiveBayes", **settings: Any) -> Model:
    model: Model = likely.fit(example(table), target, getattr(likely, learner)(**settings))
    return model


def _asked(joint: Joint, query: str) -> Fraction | float:
    value = joint.query(query).value
    assert value is not None, "the conditions of the exercises occur"
    return value


def _likelihood(model: Model, given: str, **values: object) -> float:
    """P(values | class), or their density: what the row has over the prior of that class."""
    without = likely.explain(model, {}).log_joint[given]
    return math.exp(likely.explain(model, values).log_joint[given] - without)


def _probability(model: Model, wanted: str, row: Mapping[str, object]) -> float:
    return float(model.posterior(row).prob(wanted))


# -- 1. Probability and joint tables ----------------------------------------------------------------------------------


@_answers("1.1")
def _rainy() -> Answer:
    days = likely.joint(example("weather.csv"), ["outlook", "play"])
    return Answer(
        _asked(days, "P(play=yes | outlook=rainy)"),
        (
            (_asked(days, "P(play=yes, outlook=rainy)"), "That is the share of all days, not of the rainy ones."),
            (_asked(days, "P(outlook=rainy | play=yes)"), "That is P(rainy | yes): the condition is outlook."),
        ),
    )


@_answers("1.2")
def _windy_or_humid() -> Answer:
    days = likely.joint(example("weather.csv"), ["humidity", "windy"])
    twice = _asked(days, "P(humidity=high)") + _asked(days, "P(windy=true)")
    return Answer(
        _asked(days, "P(humidity=high or windy=true)"),
        (
            (twice, "Days that are both humid and windy were counted twice."),
            (_asked(days, "P(humidity=high, windy=true)"), "That is both at once, not one or the other."),
        ),
    )


@_answers("1.3")
def _women_of_long_hours() -> Answer:
    people = likely.joint(example("adult_counts.csv"), ["sex", "hours"], weight="rows")
    return Answer(
        _asked(people, "P(sex=Female | hours='above 40')"),
        (
            (
                _asked(people, "P(hours='above 40' | sex=Female)"),
                "That is P(above 40 | Female), the other way round.",
            ),
        ),
    )


# -- 2. Bayes' rule and decisions -------------------------------------------------------------------------------------

TEST = ("0.9", "0.95")
"""Sensitivity and specificity of the test in the exercises."""


@_answers("2.1")
def _positive() -> Answer:
    found = diagnosis("0.01", *TEST)
    return Answer(
        found.p("condition"),
        (
            (Fraction(TEST[0]), "That is P(positive | ill). The question is P(ill | positive)."),
            (found.products["condition"], "That is the product. Divide it by the sum of both products."),
        ),
    )


@_answers("2.2")
def _positive_twice() -> Answer:
    once = diagnosis("0.01", *TEST)
    ill, well = once.hypotheses
    twice = once.update({ill: Fraction(TEST[0]), well: 1 - Fraction(TEST[1])})
    return Answer(twice.p("condition"), ((once.p("condition"), "That is the answer after one test."),))


@_answers("2.3")
def _cost() -> Answer:
    after = diagnosis("0.01", *TEST)
    return Answer(
        after.odds("no condition"), ((after.odds("condition"), "That is the odds of being ill. Turn them over."),)
    )


# -- 3. Naive Bayes by counting ---------------------------------------------------------------------------------------


@_answers("3.1")
def _humid() -> Answer:
    days = likely.joint(example("weather.csv"), ["humidity", "play"])
    return Answer(
        _asked(days, "P(humidity=high | play=no)"),
        ((_asked(days, "P(play=no | humidity=high)"), "That is P(no | high): divide by the days without play."),),
    )


@_answers("3.2")
def _rainy_day() -> Answer:
    row = {"outlook": "rainy", "temperature": "cool", "humidity": "high", "windy": "false"}
    model = _model("weather.csv", "play", pseudo_count=0)
    product = math.exp(likely.explain(model, row).log_joint["yes"])
    right = _probability(model, "yes", row)
    return Answer(
        right,
        (
            (product, "That is the product L(yes). Divide it by L(yes) + L(no)."),
            (1 - right, "That is P(no)."),
        ),
    )


@_answers("3.3")
def _smoothed() -> Answer:
    model = _model("weather.csv", "play", pseudo_count=1)
    return Answer(
        _likelihood(model, "no", outlook="overcast"),
        ((Fraction(1, 6), "The count got its 1; the number of days gets 1 for each of the three levels."),),
    )


# -- 4. Numbers and densities -----------------------------------------------------------------------------------------


@_answers("4.1")
def _density() -> Answer:
    model = _model("weather_mixed.csv", "play", pseudo_count=0)
    return Answer(
        _likelihood(model, "no", temperature=70),
        ((_likelihood(model, "yes", temperature=70), "That is the density on days with play."),),
    )


@_answers("4.2")
def _between() -> Answer:
    normal = Normal(100.0, 15.0)
    return Answer(normal.between(85, 130), ((normal.between(85, 115), "That is one deviation to both sides."),))


@_answers("4.3")
def _mixed_day() -> Answer:
    row = {"outlook": "rainy", "temperature": 70, "humidity": 95, "windy": "true"}
    right = _probability(_model("weather_mixed.csv", "play", pseudo_count=0), "yes", row)
    return Answer(right, ((1 - right, "That is P(no)."),))


# -- 5. Text ----------------------------------------------------------------------------------------------------------


@cache
def _mails(model: Literal["multinomial", "bernoulli"]) -> Model:
    text = likely.Text(model=model, pseudo_count=1, damping="none", length=False, least_documents=1, scale=1.0)
    return likely.fit(
        example("mail_words.csv"),
        "label",
        likely.NaiveBayes(text=text),
        types={"text": "text"},
        tokens=likely.Tokens(stop=("d", "e")),
    )


@_answers("5.1")
def _counted_words() -> Answer:
    right = _probability(_mails("multinomial"), "spam", {"text": "a b b"})
    return Answer(right, ((1 - right, "That is P(ham)."),))


@_answers("5.2")
def _words_there() -> Answer:
    right = _probability(_mails("bernoulli"), "spam", {"text": "b"})
    return Answer(
        right,
        (
            (1 - right, "That is P(ham)."),
            (_probability(_mails("multinomial"), "spam", {"text": "b"}), "That leaves out what absent words say."),
        ),
    )


@_answers("5.3")
def _unknown_word() -> Answer:
    page = read_hypotheses(example("viagra_lottery.toml"))
    known = {(case.values["viagra"], case.values["lottery"]): case.known for case in page.cases}
    there, absent = known["1", "1"], known["0", "1"]
    assert there is not None and absent is not None
    share = Fraction(1, 4)
    return Answer(
        share * there["spam"] + (1 - share) * absent["spam"],
        (((there["spam"] + absent["spam"]) / 2, "Both cases do not weigh the same: viagra is there in 1 of 4."),),
    )


# -- 6. Full Bayes, neighbours, lines ---------------------------------------------------------------------------------


def _errors(learner: str) -> int:
    """Flowers that a model misnames, of those it learned from."""
    flowers = example("iris.csv")
    with open(flowers, encoding="utf-8", newline="") as file:
        true = [row["species"] for row in csv.DictReader(file)]
    named = _model("iris.csv", "species", learner).predict(flowers)
    return sum(a != b for a, b in zip(named, true, strict=True))


@_answers("6.1")
def _full_errors() -> Answer:
    return Answer(_errors("FullBayes"), ((_errors("NaiveBayes"), "That is naive Bayes, with axis-parallel ellipses."),))


@_answers("6.2")
def _near() -> Answer:
    ignored = {"petal_length": "ignore", "petal_width": "ignore"}
    near = likely.fit(example("iris.csv"), "species", likely.Neighbors(k=9, scale=False), types=ignored)
    row = {"sepal_length": 6.75, "sepal_width": 4.25}
    right = Fraction(round(9 * _probability(near, "Iris-setosa", row)), 9)
    return Answer(right, ((9 * right, "That is how many they are. The probability is their share of the nine."),))


@_answers("6.3")
def _line() -> Answer:
    line = likely.straight_line(example("iris.csv"), "petal_width", "petal_length")
    return Answer(line.constant + line.slope * 4)


# -- 7. How good is it ------------------------------------------------------------------------------------------------


@cache
def _look_at_weather() -> Look:
    return likely.look(example("weather.csv"), "play", likely.NaiveBayes(), leave_one_out=True)


def _known(score: float | None) -> float:
    assert score is not None, "there are rows of both classes"
    return score


@_answers("7.1")
def _left_out() -> Answer:
    found = _look_at_weather()
    return Answer(
        found.scores.accuracy,
        ((found.baseline.accuracy, "That is always naming the most frequent class."),),
    )


@_answers("7.2")
def _loss() -> Answer:
    said = (0.8, 0.5, 0.1)
    bits = -sum(math.log2(p) for p in said) / len(said)
    return Answer(
        bits, ((bits * math.log(2), "That is in nats. Take logarithms to base 2."), (3 * bits, "Divide by 3."))
    )


@_answers("7.3")
def _recall() -> Answer:
    found = _look_at_weather()
    (no,) = (scores for scores in found.per_class if scores.label == "no")
    return Answer(
        _known(no.recall.value),
        ((_known(no.precision.value), "That is the precision: of the days called no, how many were."),),
    )


# -- 8. From naive Bayes to boosting ----------------------------------------------------------------------------------


@_answers("8.1")
def _bits() -> Answer:
    model = _model("weather.csv", "play", pseudo_count=1)
    ratio = _likelihood(model, "yes", humidity="normal") / _likelihood(model, "no", humidity="normal")
    return Answer(math.log2(ratio), ((ratio, "That is the factor. Bits are its logarithm to base 2."),))


@_answers("8.2")
def _three_times() -> Answer:
    model = _model("weather.csv", "play", pseudo_count=1)
    shares = model.posterior({})
    prior = float(shares.prob("no") / shares.prob("yes"))
    ratio = _likelihood(model, "no", outlook="sunny") / _likelihood(model, "yes", outlook="sunny")
    return Answer(
        prior * ratio**3, ((prior * ratio**2, "That is with two of them."), (ratio**3, "The prior is missing."))
    )


@_answers("8.3")
def _pooled() -> Answer:
    odds = math.sqrt(0.9 / 0.1 * 0.6 / 0.4)
    return Answer(odds / (1 + odds), ((0.75, "That is the average of the probabilities. Average the log odds."),))


# Whether an answer to an exercise is right, and what to try if it is not.

DIGITS = 3
"""An answer may be less than one unit of this significant digit away from what is right."""


@dataclass(frozen=True)
class Verdict:
    """What is to be said of an answer; `right` is None where there is no answer yet."""

    exercise: str
    right: bool | None
    words: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.words}"

    def __repr__(self) -> str:
        return str(self)


def check(exercise: str, answer: object) -> Verdict:
    """Whether an answer is right: a number, or text such as "2/5" or "40 %"; `...` asks for nothing.

    Decimals need three significant digits. What is right is worked out from the example tables.

    >>> check("1.1", 0.6)
    1.1: right. It is 3/5.
    >>> check("1.1", "3/14")
    1.1: not yet. That is the share of all days, not of the rainy ones.
    """
    hints = {name: hint for chapter in read_chapters() for name, hint in chapter.exercises().items()}
    if exercise not in hints:
        raise SettingError(f"There is no exercise {shown(exercise)}. {nearest(exercise, hints)}")
    if answer is ...:
        return Verdict(exercise, None, "no answer yet. Put yours in place of the three dots.")
    right = ANSWERS[exercise]()
    given = number(answer, f"The answer to {exercise}")
    if is_close(given, right.value):
        return Verdict(exercise, True, f"right. It is {_written(right.value)}.")
    return Verdict(exercise, False, f"not yet. {_remark(given, right) or 'Hint: ' + hints[exercise]}")


def is_close(given: Number, right: Number | int) -> bool:
    """Whether two numbers agree to three digits; whole numbers must be equal.

    >>> is_close(0.205, 0.204579), is_close(0.2, 0.204579), is_close(5, 6)
    (True, False, False)
    """
    if given == right:
        return True
    if isinstance(right, int) or right == 0:
        return False
    unit = 10.0 ** (math.floor(math.log10(abs(as_float(right)))) - DIGITS + 1)
    return abs(as_float(given) - as_float(right)) < unit


def _remark(given: Number, right: Answer) -> str | None:
    """The mistake that gives this number, if it is a usual one; or that it is too rough."""
    for value, sentence in right.mistakes:
        if is_close(given, value):
            return sentence
    value = as_float(right.value)
    if not isinstance(right.value, int) and value and abs(as_float(given) / value - 1) < 0.05:
        return f"Close, but {DIGITS} digits are wanted."
    return None


def _written(value: Number | int) -> str:
    if isinstance(value, Fraction) and value.denominator < 1000:
        return str(value)
    return f"{as_float(value):.6g}" if not isinstance(value, int) else str(value)
