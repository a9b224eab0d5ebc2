"""Commands where something is missing around them: a stream, memory; and spreadsheets that read their tables."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import likely

from .conftest import Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
LIKELY = f"'{sys.executable}' -m likely"
needs_shell = pytest.mark.skipif(shutil.which("sh") is None or sys.platform == "win32", reason="needs a POSIX shell")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    likely.fit(EXAMPLES / "weather.csv", "play", likely.NaiveBayes()).save(tmp_path / "m.likely")
    shutil.copy(EXAMPLES / "weather.csv", tmp_path / "t.csv")
    return tmp_path


@needs_shell
@pytest.mark.parametrize(
    "words", ["predict m.likely t.csv", "show m.likely", "show m.likely --json", "explain m.likely outlook=sunny"]
)
def test_a_closed_standard_output_is_a_sentence(words: str, folder: Path) -> None:
    done = shell(f"{LIKELY} {words} >&-", folder)
    assert done.returncode == 2 and "tandard output" in done.stderr and "closed" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


@needs_shell
def test_what_needs_no_stream_does_without(folder: Path) -> None:
    before = (folder / "t.csv").read_bytes()
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        done = shell(f"{LIKELY} fit t.csv play --learner NaiveBayes -o n.likely {closed}", folder)
        assert done.returncode == 0, (closed, done.stderr)
        assert likely.load(folder / "n.likely").summary.rows == 14
        (folder / "n.likely").unlink()
    assert (folder / "t.csv").read_bytes() == before
    done = shell(f"{LIKELY} predict m.likely - <&-", folder)
    assert done.returncode == 2 and "standard input is empty" in done.stderr


@needs_shell
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ulimit -v is for Linux")
@pytest.mark.parametrize("megabytes", [300, 500])
def test_too_little_memory_is_said_as_such(megabytes: int, folder: Path) -> None:
    done = shell(f"ulimit -v {megabytes << 10}; {LIKELY} predict m.likely t.csv", folder)
    assert done.returncode == 2 and done.stdout == "", done
    assert f"{megabytes} MB of memory (ulimit -v)" in done.stderr and done.stderr.count("\n") == 1


def test_memory_that_ends_blames_no_column(
    run: Callable[..., Ran], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("likely.apply.fitting.load_model", fail)
    said = run("predict", "m.likely", "t.csv").refused("Not enough memory", "--type COLUMN=ignore").err
    assert "text" not in said


FORMULA = '=HYPERLINK("http://x","y")'


def formulas(folder: Path) -> None:
    quoted = FORMULA.replace('"', '""')
    lines = [f'{k % 3},{"-5" if k % 2 else "+3.5e2"},"{quoted}"' if k % 2 else f"{k % 3},-5,plain" for k in range(40)]
    (folder / "f.csv").write_text("\n".join(["a,n,c", *lines]) + "\n")
    likely.fit(folder / "f.csv", "c", likely.NaiveBayes(), types={"a": "nominal"}).save(folder / "f.likely")


def test_a_class_that_is_a_formula_is_said(run: Callable[..., Ran], tmp_path: Path) -> None:
    formulas(tmp_path)
    done = run("predict", "f.likely", "f.csv", "--keep", "-o", "out.csv").done()
    assert done.err.count("--quote-formulas") == 2 and "'prediction'" in done.err and "'c'" in done.err
    assert "'n'" not in done.err and "'a'" not in done.err  # -5 is a number
    assert run("predict", "f.likely", "f.csv", "-o", "out.parquet").done().err == ""


def test_formulas_are_quoted_where_asked(run: Callable[..., Ran], tmp_path: Path) -> None:
    import csv

    formulas(tmp_path)
    plain = run("predict", "f.likely", "f.csv", "--keep").done()
    quoted = run("predict", "f.likely", "f.csv", "--keep", "--quote-formulas").done()
    assert "formulas" not in quoted.err
    one, two = (list(csv.DictReader(done.out.splitlines())) for done in (plain, quoted))
    for before, after in zip(one, two, strict=True):
        for name in ("prediction", "c"):
            assert after[name] == (f"'{before[name]}" if before[name].startswith("=") else before[name])
        assert after["n"] == before["n"] and "'" not in after["n"]
    assert any(row["prediction"] == f"'{FORMULA}" for row in two)


@pytest.mark.parametrize(
    "line",
    [
        ("predict", "f.likely", "f.csv"),
        ("decide", "f.likely", "f.csv"),
        ("decide", "f.likely", "f.csv", "--keep"),
        ("score", "f.csv", "--model", "f.likely", "--keep", "-o", "-"),
        ("sample", "f.likely", "-n", "50"),
    ],
)
def test_every_command_that_writes_cells_quotes_formulas(
    run: Callable[..., Ran], tmp_path: Path, line: tuple[str, ...]
) -> None:
    import csv

    formulas(tmp_path)
    plain, quoted = run(*line).done(), run(*line, "--quote-formulas").done()
    assert "--quote-formulas puts ' before them." in plain.err and "formulas" not in quoted.err
    cells = {cell for row in csv.reader(quoted.out.splitlines()) for cell in row}
    assert f"'{FORMULA}" in cells and FORMULA not in cells
    assert FORMULA in {cell for row in csv.reader(plain.out.splitlines()) for cell in row}
