"""What a newcomer gets wrong: no target, swapped arguments; and what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def test_without_a_target_the_columns_are_named(run, examples, write) -> None:
    run("look", examples / "iris.csv").refused("'sepal_length'", "Perhaps 'species'?")
    run("fit", examples / "weather.csv", "-o", "m.likely").refused("Perhaps 'play'?", "Density")
    write("t.csv", "Class,a,b\n1,2,3\n")
    run("compare", "t.csv").refused("Perhaps 'Class'?")
    write("wide.csv", ",".join(f"c{k}" for k in range(30)) + "\n" + ",".join("1" for _ in range(30)) + "\n")
    run("look", "wide.csv").refused("and 18 more")
    run("look", "nothing.csv").refused("TARGET")


def test_swapped_arguments_are_noticed(run, examples) -> None:
    run("look", "species", examples / "iris.csv").refused("the table comes first")
    run("fit", "play", examples / "weather.csv", "-o", "m.likely").refused("the table comes first")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("likely lo", ["look"]),
        ("likely look --eff", ["--effort"]),
        ("likely look iris.csv species --effort ", ["quick", "normal", "best"]),
        ("likely look iris.csv petal", ["petal_length", "petal_width"]),
        ("likely plot iris.csv sp", ["species"]),
    ],
)
def test_a_shell_completes(line, wanted, examples) -> None:
    words = line.split(" ")
    names = {**os.environ, "_LIKELY_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "likely"], env=names, cwd=examples, capture_output=True, text=True, check=False
    )
    assert [found.split(",")[1] for found in done.stdout.split()] == wanted, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_a_shell(run, shell) -> None:
    assert "_LIKELY_COMPLETE" in run("completion", shell).done().out


def test_bash_takes_the_lines(run, tmp_path) -> None:
    (tmp_path / "lines").write_text(run("completion", "bash").done().out)
    done = subprocess.run(
        ["bash", "-c", "source ./lines && complete -p likely"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "_likely_completion" in done.stdout, done.stderr
