"""Files: tasks open their own fragments, cut at row groups and at the ends of rows; sums are those of one machine."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spark.rows import awkward

import likely
import likely.spark
from likely.errors import ColumnError, InputError, LikelyError, SettingError
from likely.intake.reading import Reading
from likely.intake.summarize import summarize_table
from likely.spark.folding import SparkEngine
from likely.spark.parcel import packed, unpacked
from likely.spark.session import quiet
from likely.spark.spread import Files
from likely.sums import state
from likely.table.arrow import pack_schema
from likely.table.fragments import Fragment, TextOptions, cut_files, cut_text, open_fragment
from likely.table.open import open_source

TARGET = "<y>"


def bits(summary: likely.Summary) -> bytes:
    return state.dump({"summary": summary.state()})


def rows_of(fragments: list[Fragment], how: TextOptions, path: Path) -> list[dict[str, Any]]:
    schema = pack_schema(open_source(path).schema)
    opened = [open_fragment(f, how, schema) for f in fragments]
    return [row for source in opened for batch in source.batches() for row in batch.to_pylist()]


cells = st.text(st.sampled_from("ab\",\n\r é;'"), max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40), st.integers(1, 60), st.sampled_from(["\n", "\r\n"]))
def test_a_text_is_cut_only_between_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("cut") / "t.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerows([("one", "two"), *rows, ("z", "z")])
    try:
        here = [row for batch in open_source(path, delimiter=",").batches() for row in batch.to_pylist()]
    except LikelyError:  # Python leaves a lone carriage return without quotes, and the row is torn for everyone
        assume(False)
    whole = cut_files(str(path), TextOptions(delimiter=",")).fragments[0]
    parts = cut_text(whole, TextOptions(delimiter=","), size)
    assert [p.begin for p in parts[1:]] == [p.end for p in parts[:-1]] and parts[-1].end == path.stat().st_size
    assert rows_of(parts, TextOptions(delimiter=","), path) == here


def test_a_quote_in_the_middle_of_a_cell_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "pipes.csv"
    path.write_text('size,y\n5" pipe,a\n"3"" pipe\nlong",b\n' * 50, "utf-8-sig")
    parts = cut_text(cut_files(str(path), TextOptions()).fragments[0], TextOptions(), 40)
    assert len(parts) > 20
    assert rows_of(parts, TextOptions(), path) == [r for b in open_source(path).batches() for r in b.to_pylist()]


def test_parquet_and_text_in_fragments(spark: Any, tmp_path: Path) -> None:
    table = awkward(900)
    pq.write_table(table.slice(0, 600), tmp_path / "a.parquet", row_group_size=100)
    pq.write_table(table.slice(600), tmp_path / "b.parquet")
    here = likely.summarize(tmp_path, TARGET)
    spread = Files.at(str(tmp_path), Reading(TARGET), spark, size=1 << 12)
    assert spread.parts and spread.parts > 3 and spread.count_rows()[-1] > 0 and sum(spread.count_rows()) == 900
    assert bits(summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset({"pairs"}))) == bits(
        likely.summarize(tmp_path, TARGET, more=["pairs"])
    )
    text = tmp_path / "text" / "odd [name].csv"
    text.parent.mkdir()
    pa.csv.write_csv(table, text)
    spread = Files.at(str(text), Reading(TARGET), spark, size=1 << 14)
    assert spread.parts and spread.parts > 2
    there = summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    assert bits(there) == bits(likely.summarize(text, TARGET)) and there.classes == here.classes


def test_a_search_over_texts_gives_the_same_bits(spark: Any, tmp_path: Path) -> None:
    # Sums of floats: the same on this machine from Parquet, from text, and from fragments.
    table = awkward(20_000, 2).select(["few", "A", "`t i c k`", TARGET])
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=7_001)
    pa.csv.write_csv(table, tmp_path / "t.csv")
    learner = likely.Logistic(max_sweeps=3)
    one = likely.fit(tmp_path / "t.parquet", TARGET, learner)
    two = likely.fit(tmp_path / "t.csv", TARGET, learner)
    three = likely.spark.fit(tmp_path / "t.parquet", TARGET, learner)
    assert state.dump(one.search_state()) == state.dump(two.search_state()) == state.dump(three.search_state())


def test_what_is_wrong_with_files_is_said(spark: Any, tmp_path: Path) -> None:
    table = awkward(40)
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.drop(["few"]), tmp_path / "b.parquet")
    with pytest.raises(ColumnError, match=r"b\.parquet has no column 'few', but a\.parquet has it"):
        likely.spark.summarize(tmp_path, TARGET)
    (tmp_path / "b.parquet").unlink()
    spread = Files.at(str(tmp_path), Reading(TARGET), spark)
    pq.write_table(awkward(41), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet changed while it was read"):
        summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    os.unlink(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="does not exist on an executor"):
        summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    bad = tmp_path / "latin.csv"
    bad.write_bytes(b"x,y\n" + b"a,1\nb,2\n" * 200_000 + "é,1\n".encode("latin-1"))
    assert bits(likely.spark.summarize(bad, "y")) == bits(likely.summarize(bad, "y"))


def test_objects_travel_by_their_parts() -> None:
    model = likely.fit(awkward(200), TARGET)
    shared = [model, model.summary]
    again = unpacked(packed(shared))
    assert again[0].summary is again[1] and again[1] == model.summary
    assert again[0].posterior(awkward(50, 1)).matrix.tolist() == model.posterior(awkward(50, 1)).matrix.tolist()
    odd = {"a": (1, -(1 << 80), float("nan"), float("-inf"), None, True, b"\0", {1, 2}), 3: [], ("k", 1): 1.5}
    back = unpacked(packed(odd))
    assert repr(back) == repr(odd)
    with pytest.raises(SettingError, match="no part of likely"):
        packed(Path("x"))
    with pytest.raises(SettingError, match="no part of likely"):
        packed(lambda: 1)


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", "likely", *words]
    # Tasks must find likely unasked, so the setting of the other tests is not handed on.
    own = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    return subprocess.run(done, capture_output=True, text=True, env={**own, **env}, check=False)


def test_the_command_line(spark: Any, tmp_path: Path) -> None:
    pq.write_table(awkward(60), tmp_path / "a b.parquet")
    there, here = tmp_path / "there.likely", tmp_path / "here.likely"
    memory = "--driver-memory 600m --conf spark.sql.codegen.wholeStage=false pyspark-shell"
    words = ("fit", str(tmp_path / "a b.parquet"), TARGET, "--weight", "weight")
    done = run(*words, "--engine", "spark", "--master", "local[1]", "-o", str(there), PYSPARK_SUBMIT_ARGS=memory)
    assert done.returncode == 0, done.stderr
    assert run(*words, "-o", str(here)).returncode == 0
    assert there.read_bytes() == here.read_bytes()


def test_the_command_line_without_java_or_pyspark(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,a\n2,b\n")
    words = ("fit", str(table), "y", "--engine", "spark", "-o", str(tmp_path / "m.likely"))
    empty = tmp_path / "bin"
    empty.mkdir()
    pytest.importorskip("pyspark")
    done = run(*words, PATH=str(empty), JAVA_HOME="")
    assert done.returncode == 2 and "Spark needs Java, which is not found" in done.stderr
    done = run(*words, JAVA_HOME=str(empty))
    assert done.returncode == 2 and "JAVA_HOME is" in done.stderr
    done = run(*words, "--master", "spark://127.0.0.1:1")
    assert done.returncode == 2 and done.stderr.startswith("likely: There is no Spark at 'spark://127.0.0.1:1'.")
    done = run("fit", "none.csv", *words[2:])
    assert done.returncode == 2 and "There is no file" in done.stderr and done.stderr.count("\n") == 1
    # A module of that name that cannot be imported stands before the real one.
    (tmp_path / "pyspark.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run(*words, PYTHONPATH=path)
    assert done.returncode == 2 and "pip install 'likely[spark]'" in done.stderr
    assert not (tmp_path / "m.likely").exists()
    assert run(*words[:3], "--master", "local[1]", "-o", str(tmp_path / "m.likely")).returncode == 2


def test_the_python_in_the_document_runs(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    code = re.findall(r"```python\n(.*?)```", (root / "docs" / "spark.md").read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = {}
    with quiet():
        exec("\n".join(code), found)
    assert found["model"].summary.rows == 14 and len(found["record"].learners) == 2
