"""Sums kept file by file: the same bits as one sweep over everything, whatever happened between the runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, InputError, LikelyError
from likely.intake.store import SumFolder
from likely.sums import state

CELLS = ["", "?", "a", "b", "1", "2", "2.5", "-0.0", "1e300", "007", "x y", "ä,b", '"q"', "line\nbreak", "[red]", "nan"]


def bits(summary: Any) -> bytes:
    """All that a summary says, as bytes."""
    return state.dump(summary.state())


def csv_of(rows: list[list[str]]) -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    return "".join(",".join(map(cell, row)) + "\n" for row in [["a", "b", "y"], *rows])


tables = st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3).map(list), min_size=1, max_size=12)
steps = st.lists(st.tuples(st.sampled_from("abcd"), tables | st.none()), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(steps, min_size=1, max_size=4), threads=st.sampled_from([1, 2]))
def test_any_history_gives_the_bits_of_one_sweep(history: Any, threads: int, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("law")
    data = folder / "data"
    data.mkdir()
    for step in history:
        for name, rows in step:
            path = data / f"{name}.csv"
            if rows is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(csv_of(rows), newline="")
        try:
            whole = likely.summarize(f"{data}/*.csv", "y", threads=threads)
        except LikelyError as error:
            with pytest.raises(type(error)):
                likely.summarize(f"{data}/*.csv", "y", keep=folder / "sums", threads=threads, remark=len)
        else:
            kept = likely.summarize(f"{data}/*.csv", "y", keep=folder / "sums", threads=threads, remark=len)
            assert bits(kept) == bits(whole)
            assert [c.why for c in kept.schema.columns] == [c.why for c in whole.schema.columns]
    shutil.rmtree(folder)


@pytest.fixture
def parts(tmp_path: Path) -> Callable[..., Path]:
    """Writes a part of a table; parts differ, and so do their levels."""

    def write(k: int, rows: int = 50, **columns: Any) -> Path:
        (tmp_path / "logs").mkdir(exist_ok=True)
        table = {
            "x": [(k * 37 + i * 0.1) % 7 for i in range(rows)],
            "colour [red]": [f"c{(k + i) % (3 + k % 2)}" for i in range(rows)],
            "n": [i % 3 for i in range(rows)],
            "y": ["yes" if (i * k) % 3 else "no" for i in range(rows)],
            **columns,
        }
        path = tmp_path / "logs" / f"part {k}.parquet"
        pq.write_table(pa.table(table), path)
        return path

    return write


class Told:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, sentence: str) -> None:
        self.said.append(sentence)

    @property
    def all(self) -> str:
        return "\n".join(self.said)


def kept(tmp_path: Path, **more: Any) -> tuple[Any, str]:
    told = Told()
    found = likely.summarize(tmp_path / "logs" / "*.parquet", "y", keep=tmp_path / "sums", remark=told, **more)
    return found, told.all


def plain(tmp_path: Path, **more: Any) -> Any:
    return likely.summarize(tmp_path / "logs" / "*.parquet", "y", **more)


def test_only_new_and_changed_files_are_read(parts: Any, tmp_path: Path) -> None:
    for k in range(6):
        parts(k)
    assert "6 of 6 files were read" in kept(tmp_path)[1]
    assert "0 of 6 files were read; the sums of 6" in kept(tmp_path)[1]
    parts(6)
    parts(2, rows=70)
    (tmp_path / "logs" / "part 1.parquet").unlink()
    found, said = kept(tmp_path)
    assert "2 of 6 files were read; the sums of 4 were kept. 1 that is gone no longer counts." in said
    assert bits(found) == bits(plain(tmp_path))


def test_a_file_that_was_touched_or_renamed_is_not_read_again(parts: Any, tmp_path: Path) -> None:
    for k in range(3):
        parts(k)
    before = kept(tmp_path)[0]
    os.utime(tmp_path / "logs" / "part 0.parquet")
    (tmp_path / "logs" / "part 1.parquet").rename(tmp_path / "logs" / "part 9.parquet")  # as logs are turned over
    found, said = kept(tmp_path)
    assert "0 of 3 files were read" in said
    assert bits(found) == bits(before)


def test_a_copy_counts_twice(parts: Any, tmp_path: Path) -> None:
    shutil.copy(parts(0), tmp_path / "logs" / "copy.parquet")
    parts(1)
    assert bits(kept(tmp_path)[0]) == bits(plain(tmp_path))
    assert bits(kept(tmp_path)[0]) == bits(plain(tmp_path))


def test_a_rewrite_of_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "1,a\n2,b\n" * 5)
    old = os.stat(tmp_path / "a.csv")
    first = likely.summarize(tmp_path / "a.csv", "y", keep=tmp_path / "sums", remark=len)
    (tmp_path / "a.csv").write_text("x,y\n" + "1,b\n2,b\n" * 5)
    os.utime(tmp_path / "a.csv", ns=(old.st_atime_ns, old.st_mtime_ns))
    again = likely.summarize(tmp_path / "a.csv", "y", keep=tmp_path / "sums", remark=len)
    assert first != again == likely.summarize(tmp_path / "a.csv", "y")


@pytest.mark.parametrize("learner", [likely.TreeAugmented(), likely.FullBayes(), likely.Logistic(), likely.Neighbors()])
def test_every_learner_learns_the_same_from_what_is_kept(learner: Any, parts: Any, tmp_path: Path) -> None:
    path = tmp_path / "logs" / "*.parquet"
    for k in range(5):
        parts(k, rows=20)
    how: dict[str, Any] = {
        "types": {"colour [red]": "ignore", "n": "ignore"} if isinstance(learner, likely.FullBayes) else None
    }
    for _ in range(2):
        one = likely.fit(path, "y", learner, **how)
        two = likely.fit(path, "y", learner, keep=tmp_path / "sums", remark=len, **how)
        one.save(tmp_path / "one.likely")
        two.save(tmp_path / "two.likely")
        assert (tmp_path / "one.likely").read_bytes() == (tmp_path / "two.likely").read_bytes()
        parts(5, rows=30)


def test_files_that_change_how_a_column_is_read_are_told_and_all_swept_again(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for k in range(3):
        (logs / f"{k}.csv").write_text("a,y\n" + "".join(f"{i + k}.5,{'uv'[i % 2]}\n" for i in range(20)))
    told = Told()
    likely.summarize(logs, "y", keep=tmp_path / "sums", remark=told)
    (logs / "3.csv").write_text("a,y\n" + "".join(f"w{i % 4},{'uv'[i % 2]}\n" for i in range(60)))
    told = Told()
    found = likely.summarize(logs, "y", keep=tmp_path / "sums", remark=told)
    assert "With the new files 'a' is read otherwise (nominal" in told.all and "4 of 4 files were read" in told.all
    assert bits(found) == bits(likely.summarize(logs, "y"))
    assert len(list((tmp_path / "sums").glob("*.likely"))) == 4  # the old ones are taken away


def test_kinds_that_differ_between_files_meet_in_the_wider(parts: Any, tmp_path: Path) -> None:
    parts(0, rows=4, n=pa.array([None] * 4, pa.null()))
    parts(1, rows=4, n=pa.array([1, 2, 3, 4], pa.int8()))
    assert bits(kept(tmp_path)[0]) == bits(plain(tmp_path))
    parts(2, rows=4, n=pa.array([0.5, 2, 3, 4], pa.float64()))
    assert bits(kept(tmp_path)[0]) == bits(plain(tmp_path))


def test_a_file_with_other_columns_is_named(parts: Any, tmp_path: Path) -> None:
    parts(0)
    parts(1, extra=[1] * 50)
    with pytest.raises(ColumnError, match=r"part 0.parquet has no column 'extra', but part 1.parquet has it"):
        kept(tmp_path)


def test_bad_files_are_named_or_left_out_whole(parts: Any, tmp_path: Path) -> None:
    for k in range(40):
        parts(k, rows=20)
    good = bits(plain(tmp_path))
    whole = parts(40, rows=20_000, x=[i * 0.37 for i in range(20_000)])
    data = bytearray(whole.read_bytes())
    data[len(data) // 4 : len(data) // 4 + 200] = bytes(200)  # damaged in the middle: some rows can still be read
    whole.write_bytes(data)
    (tmp_path / "logs" / "part 41.parquet").write_bytes(b"PAR1 cut short")
    parts(42, x=["words"] * 50)
    parts(43, extra=[1] * 50)
    with pytest.raises(LikelyError, match=r"part 4[0-3]"):
        kept(tmp_path)
    for how in ({"keep": tmp_path / "sums"}, {}):
        told = Told()
        found = likely.summarize(tmp_path / "logs" / "*.parquet", "y", skip_bad=True, remark=told, **how)  # type: ignore[arg-type]
        assert bits(found) == good
        assert "4 of 44 files were left out" in told.all
        assert all(f"part {k}.parquet" in told.all for k in (40, 41, 42, 43))
    told = Told()
    record = likely.look(str(tmp_path / "logs" / "*.parquet"), "y", skip_bad=True, remark=told)
    assert record.rows == 800 and "4 of 44 files were left out" in told.all


def test_nothing_but_bad_files(tmp_path: Path) -> None:
    for k in range(2):
        (tmp_path / f"{k}.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="None of the 2 files can be read"):
        likely.summarize(tmp_path, "y", skip_bad=True)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "grows.csv"
    path.write_text("x,y\n" + "1.5,a\n2,b\n" * 300_000)

    def grow(rows: int) -> None:
        with path.open("a") as file:
            file.write("3,a\n")

    for how in ({}, {"keep": tmp_path / "sums"}):
        with pytest.raises(InputError, match=r"grows.csv changed while it was read"):
            likely.summarize(path, "y", progress=grow, **how)  # type: ignore[arg-type]
    assert likely.summarize(path, "y", keep=tmp_path / "sums", remark=len) == likely.summarize(path, "y")


def test_a_new_name_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1.5,a\n2,b\n" * 300_000)

    def link(rows: int) -> None:
        os.link(path, tmp_path / f"{len(list(tmp_path.iterdir()))}.other")
        path.chmod(0o600)

    for how in ({}, {"keep": tmp_path / "sums"}):
        assert likely.summarize(path, "y", progress=link, remark=len, **how).rows == 600_000  # type: ignore[arg-type]


def test_entries_that_are_damaged_or_half_written_are_made_again(parts: Any, tmp_path: Path) -> None:
    for k in range(4):
        parts(k)
    before = bits(kept(tmp_path)[0])
    for k, path in enumerate(sorted((tmp_path / "sums").glob("*.*"))):
        path.write_bytes(path.read_bytes()[: 40 * k])
    assert bits(kept(tmp_path)[0]) == before
    assert "0 of 4 files were read" in kept(tmp_path)[1]


def test_entries_that_were_altered_are_made_again(parts: Any, tmp_path: Path) -> None:
    """With a right checksum: what is in them cannot have been summed."""
    for k in range(3):
        parts(k)
    before, altered = bits(kept(tmp_path)[0]), list((tmp_path / "sums").glob("*.likely"))
    for path in altered:
        tree = state.read(path)
        tree["summary"]["rows"] = -5
        path.write_bytes(state.dump(tree))
    assert altered and bits(kept(tmp_path)[0]) == before


def test_two_targets_share_a_folder(parts: Any, tmp_path: Path) -> None:
    for k in range(3):
        parts(k)
    for _ in range(2):
        for target in ("y", "colour [red]"):
            found = likely.summarize(tmp_path / "logs", target, keep=tmp_path / "sums", remark=len)
            assert bits(found) == bits(likely.summarize(tmp_path / "logs", target))
    told = Told()
    likely.summarize(tmp_path / "logs", "y", keep=tmp_path / "sums", remark=told)
    assert "0 of 3 files were read" in told.all


@pytest.mark.parametrize("bins", [3, [1.0, 2.0]])
def test_bins_of_a_target_are_those_of_all_files(bins: Any, parts: Any, tmp_path: Path) -> None:
    path = tmp_path / "logs"
    for k in range(3):
        parts(k)
        found = likely.summarize(path, "x", keep=tmp_path / "sums", target_bins=bins, remark=len)
        assert bits(found) == bits(likely.summarize(path, "x", target_bins=bins))


def test_latin_1_among_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("c,y\nplain,u\nword,v\n")
    (tmp_path / "b.csv").write_bytes(b"c,y\n" + b"x,u\n" * 600_000 + "é,v\n".encode("latin-1"))
    found = likely.summarize(f"{tmp_path}/*.csv", "y", keep=tmp_path / "sums", remark=len)
    assert bits(found) == bits(likely.summarize(f"{tmp_path}/*.csv", "y"))
    assert "é" in found["c"].labels.names


def test_one_run_at_a_time(parts: Any, tmp_path: Path) -> None:
    parts(0)
    with SumFolder(tmp_path / "sums"), pytest.raises(InputError, match="Another run is keeping sums"):
        kept(tmp_path)


def test_a_kept_entry_is_a_summary_like_any_other(parts: Any, tmp_path: Path) -> None:
    for k in range(2):
        parts(k)
    found = kept(tmp_path)[0]
    one, two = (likely.load(path, likely.Summary) for path in (tmp_path / "sums").glob("*.likely"))
    assert (one + two).rows == found.rows


def test_under_a_given_schema_cells_that_do_not_fit_are_missing(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "0.csv").write_text("a,y\n" + "".join(f"{i}.5,{'uv'[i % 2]}\n" for i in range(20)))
    schema = likely.summarize(logs, "y").schema
    (logs / "1.csv").write_text("a,y\n" + "".join(f"w{i % 4},{'uv'[i % 2]}\n" for i in range(15)))
    for _ in range(2):
        found = likely.summarize(logs, schema=schema, keep=tmp_path / "sums", remark=len)
        assert bits(found) == bits(likely.summarize(logs, schema=schema))
    (logs / "1.csv").write_text("a,y\n" + "".join(f"w{i % 4},{'uv'[i % 2]}\n" for i in range(30)))
    with pytest.raises(InputError, match="30 of 50 cells of column 'a' are not numbers"):
        likely.summarize(logs, schema=schema, keep=tmp_path / "sums", remark=len)
