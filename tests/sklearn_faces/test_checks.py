"""Every estimator passes scikit-learn's own checks of estimators: none fails, none is skipped."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import MISSING, fields
from inspect import signature
from pathlib import Path

import pytest

import likely.sklearn as faces

CHECKS = Path(__file__).with_name("run_checks.py")
READING = {"types", "missing_cells", "loss", "class_weight", "tokens", "random_state"}


@pytest.mark.parametrize("which", ["as they are", pytest.param("on other numbers", marks=pytest.mark.long)])
def test_every_check_of_scikit_learn_passes(which: str) -> None:
    done = subprocess.run([sys.executable, str(CHECKS), which], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told.keys() == {*faces.__all__} if which == "as they are" else len(told) == 7
    for name, (count, bad) in told.items():
        assert count > 40, name
        assert not bad, name


@pytest.mark.parametrize("name", [name for name in faces.__all__ if hasattr(getattr(faces, name), "_maker")])
def test_parameters_are_the_settings_of_the_learner(name: str) -> None:
    face = getattr(faces, name)
    parameters = {k: p.default for k, p in signature(face).parameters.items()}
    learner = {f.name: f.default if f.default is not MISSING else None for f in fields(face._maker)}
    assert {k: v for k, v in parameters.items() if k not in READING} == learner
    assert all(parameters[k] is None for k in READING & parameters.keys())
    assert {"types", "missing_cells"} <= parameters.keys()
