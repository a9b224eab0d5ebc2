"""A new option of reading a table is one line of its declaration: every face has it. Proved on a copy of the house."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import likely

LINE = """\
    loudness: int = setting(
        1, "How loud names are read.", at_least=1, at_most=9, whole=True, about=COLUMNS, group=_READING,
        faces={"spec": "loudness", "scikit-learn": "loudness", "app": "volume"},
    )
"""
BEFORE = "    keep_row_numbers: bool = False\n"
REFUSED = "loudness is '10'. It must be a whole number from 1 to 9."
TABLE = 'TABLE = {"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}\n'


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """What a program says that runs in a copy of the house with one more line."""
    house = tmp_path_factory.mktemp("house")
    source = Path(likely.__file__).parent
    shutil.copytree(source, house / "likely", ignore=shutil.ignore_patterns("__pycache__"))
    place = house / "likely" / "intake" / "options.py"
    text = place.read_text(encoding="utf-8")
    assert text.count(BEFORE) == 1
    place.write_text(text.replace(BEFORE, LINE + BEFORE), encoding="utf-8")
    (house / "t.csv").write_text("sky,play\n" + "sun,y\nrain,n\n" * 4)

    def run(*words: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(house), "LIKELY_KERNELS": "later", "COLUMNS": "100"}
        env["LIKELY_CACHE"] = str(source / "__pycache__")  # where the kernels of the same source lie already
        done = subprocess.run(
            [sys.executable, *words], cwd=house, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        return done.stdout + done.stderr

    return run


def test_it_is_an_option_with_a_heading_and_a_range(ask: Callable[..., str]) -> None:
    told = ask("-m", "likely", "fit", "--help")
    reading = told.partition("\nReading the table:\n")[2].partition("\n\n")[0]
    assert "  --loudness INTEGER RANGE     How loud names are read." in reading
    assert "10 is not in the range" in ask("-m", "likely", "fit", "t.csv", "play", "--loudness", "10", "-o", "m.likely")


def test_python_takes_it_by_keyword(ask: Callable[..., str]) -> None:
    program = TABLE + "import likely\nlikely.fit(TABLE, 'play', 'NaiveBayes', loudness=10)"
    assert f"SettingError: {REFUSED}" in ask("-c", program)
    program = TABLE + "import likely\nprint(likely.fit(TABLE, 'play', 'NaiveBayes', loudness=9).classes)"
    assert ask("-c", program) == "('n', 'y')\n"


def test_a_schema_has_said_it_already(ask: Callable[..., str]) -> None:
    program = TABLE + (
        "import likely\nsums = likely.summarize(TABLE, 'play')\nlikely.summarize(TABLE, schema=sums.schema, loudness=2)"
    )
    assert "Leave out either schema or loudness." in ask("-c", program)


def test_a_spec_has_it(ask: Callable[..., str]) -> None:
    program = (
        "from likely.apply.spec import parse_spec\nspec = parse_spec('loudness = 3', 's')\n"
        "print(spec.options, parse_spec(spec.toml(), 's') == spec, spec.flat()['loudness'])\n"
        "parse_spec('loudness = 10', 's')"
    )
    told = ask("-c", program)
    assert told.startswith("{'loudness': 3} True 3\n") and REFUSED in told


def test_it_is_a_parameter_of_estimators(ask: Callable[..., str]) -> None:
    pytest.importorskip("sklearn")
    program = (
        "from likely.sklearn import LogisticClassifier, NaiveBayesClassifier\n"
        "print(NaiveBayesClassifier().get_params()['loudness'], 'How loud names' in LogisticClassifier.__doc__)\n"
        "NaiveBayesClassifier(loudness=10).fit([['sun'], ['rain']] * 3, [1, 0] * 3)"
    )
    told = ask("-c", program)
    assert told.startswith("1 True\n") and f"ValueError: {REFUSED}" in told


def test_the_app_takes_it_and_says_the_command(ask: Callable[..., str]) -> None:
    pytest.importorskip("fastapi")
    program = (
        "from likely.web.app.application import HowToRead\nfrom likely.web.app.hands import Order\n"
        "reading = HowToRead(volume=3).order()\n"
        "print(reading, Order('learn', 't.csv', 't.csv', '.', reading, target='play').command([]))\n"
        "HowToRead(volume=10).order()"
    )
    told = ask("-c", program)
    assert told.startswith("{'loudness': 3} likely look t.csv play --loudness 3\n") and REFUSED in told
