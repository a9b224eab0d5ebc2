"""Columns: how each would be read, and that shares of a table see what one sweep sees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import likely
from likely import Schema
from likely.errors import ColumnError, InputError
from likely.intake import observe
from likely.intake import observe as plan
from likely.intake.observe import ObservationPlan
from likely.intake.summarize import inspect_columns
from likely.sums import state
from likely.table.formats import text_file
from likely.table.infer import MANY_LEVELS
from likely.table.open import open_source
from likely.table.schema import Column

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["weather.csv", "weather_mixed.csv", "iris.csv", "mails.csv", "people.csv"])
def test_columns_are_read_as_summarize_reads_them(name: str) -> None:
    seen = inspect_columns(EXAMPLES / name)
    schema = likely.summarize(EXAMPLES / name).schema
    assert [(c.name, c.kind, c.role, c.why) for c in seen.columns] == [
        (c.name, c.kind, c.role, c.why) for c in schema.columns
    ]


def test_missing_and_distinct_cells_are_counted_alike_in_text_and_in_typed_tables(tmp_path: Path) -> None:
    table = pa.table({
        "age": [31, None, 31, 58, 40, 40, 22, 19],
        "town": ["Ulm", "Bonn", None, "Ulm", "Ulm", "Bonn", "Köln", "Ulm"],
        "ill": [True, False, None, True, False, False, True, True],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    lines = zip(*(table.column(n).to_pylist() for n in table.column_names), strict=True)
    text = "age,town,ill\n" + "".join(
        ",".join("" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in line) + "\n"
        for line in lines
    )
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    for name in ("t.parquet", "t.csv"):
        seen = inspect_columns(tmp_path / name)
        assert seen.rows == 8 and seen.target == "ill"
        assert [(c.name, c.missing, c.distinct) for c in seen.columns] == [("age", 1, 5), ("town", 1, 3), ("ill", 1, 2)]
        assert seen.columns[1].examples == ("Ulm", "Bonn", "Köln")


def test_what_is_said_of_columns_is_heeded_or_refused() -> None:
    iris = EXAMPLES / "iris.csv"
    seen = {c.name: c for c in inspect_columns(iris, types={"petal_width": "nominal"}, missing=["0.2"]).columns}
    width = seen["petal_width"]
    assert (width.kind, width.why, width.missing) == ("nominal", "as asked", iris.read_text().count(",0.2,"))
    assert "0.2" not in width.examples
    with pytest.raises(InputError, match="species"):
        inspect_columns(iris, types={"species": "number"})
    with pytest.raises(ColumnError, match="petal_width"):
        inspect_columns(iris, types={"petal_widht": "number"})


def test_columns_that_cannot_be_used_have_no_counts_and_long_cells_are_cut() -> None:
    seen = inspect_columns(pa.table({"a": [[1], [2]], "b": ["x" * 1000, "y"], "c": pa.nulls(2)}))
    assert (seen.columns[0].kind, seen.columns[0].missing, seen.columns[0].distinct) == ("ignored", None, None)
    assert len(seen.columns[1].examples[0]) == 60 and seen.target == "b"
    many = inspect_columns({"x": [k / 7 for k in range(20_000)], "y": ["a", "b"] * 10_000})
    assert many.columns[0].distinct is None and many.columns[0].kind == "number"


# A wide table is swept in shares of a few columns; what is seen of it is what one sweep over all columns sees.


ROWS = 3000


def table() -> pa.Table:
    """Columns whose kinds are guessed rightly and wrongly, strays, a key, words, weights, missing classes."""
    draw = np.random.default_rng(9)
    late = np.arange(ROWS) > 2000
    texts = draw.integers(0, 9, ROWS).astype(str).astype(object)
    return pa.table(
        {
            "number": pa.array(draw.normal(size=ROWS), mask=draw.random(ROWS) < 0.1),
            "spelled": pa.array([f"{x:.3f}" for x in draw.normal(size=ROWS)]),
            "stray": pa.array(np.where(draw.random(ROWS) < 0.01, "none of it", texts).tolist()),
            "guessed wrong": pa.array(np.where(late, "a word", texts).tolist()),
            "colour": pa.array(draw.choice(["red", "green", ""], ROWS)),
            "key": pa.array([f"k{i}" for i in range(ROWS)]),
            "day": pa.array([f"2024-0{1 + i % 9}-11" for i in range(ROWS)]),
            "says": pa.array([f"the {i % 40} of them went to {i % 7} places and {i} more" for i in range(ROWS)]),
            "w": pa.array(draw.integers(0, 3, ROWS).astype(float)),
            "class": pa.array(draw.choice(["p", "q"], ROWS), mask=draw.random(ROWS) < 0.05),
        }
    )


def dumped(data: object, **how: object) -> bytes:
    return state.dump({"summary": likely.summarize(data, **how).state()})  # type: ignore[arg-type]


def in_shares(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[int]:
    """Let tables of two columns count as wide; collects into how many shares sweeps were cut."""
    monkeypatch.setattr(plan, "WIDE", 2)
    monkeypatch.setattr(plan, "FEW_ROWS", -1)
    monkeypatch.setattr(plan, "LEAST_COLUMNS", columns)
    monkeypatch.setattr(plan, "MOST_COLUMNS", columns)
    cut: list[int] = []
    own = observe.sweep_shares

    def noted(source: object, shares: list[object], *rest: object) -> object:
        cut.append(len(shares))
        return own(source, shares, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(observe, "sweep_shares", noted)
    return cut


@pytest.mark.parametrize("how", [{"target": "class"}, {"target": "class", "weight": "w"}, {}])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("columns", [1, 3])
def test_shares_see_what_one_sweep_sees(
    tmp_path: Path, how: dict[str, str], threads: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(), path, row_group_size=1024)
    whole = dumped(table(), threads=1, **how)
    assert dumped(table(), threads=threads, **how) == whole
    cut = in_shares(monkeypatch, columns)
    assert dumped(table(), threads=threads, **how) == whole
    assert dumped(path, threads=threads, **how) == whole
    assert all(count >= 3 for count in cut) and len(cut) >= 2


@pytest.mark.parametrize("how", [{"target": "class"}, {"target": "class", "weight": "w"}, {}])
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_go_with_blocks_of_text_from_share_to_share(
    tmp_path: Path, how: dict[str, str], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "LEAST", 1 << 14)  # a few dozen blocks
    monkeypatch.setattr(text_file, "MOST", 1 << 14)
    path = tmp_path / "t.csv"
    pc.write_csv(table(), path)
    whole = dumped(path, threads=1, **how)
    cut = in_shares(monkeypatch, 2)
    assert dumped(path, threads=threads, **how) == whole
    assert cut and all(count >= 3 for count in cut)


def test_observations_are_the_same_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Profiles, tallies, strays and columns given up as well as sums."""
    monkeypatch.setattr(observe, "MANY_LEVELS", 100)
    assert MANY_LEVELS > 100
    kinds = {"number": "number", "spelled": "number", "stray": "number", "colour": "nominal", "key": "nominal"}
    columns = [Column(n, kind, "attribute", "text" if kind == "nominal" else "number") for n, kind in kinds.items()]  # type: ignore[arg-type]
    schema = Schema((*columns, Column("class", "nominal", "target", "text")))
    wanted = ObservationPlan(("spelled", "stray", "colour", "key", "class"), "class", schema)
    source = open_source(table())
    whole = observe.observe_source(source, wanted, 1)
    cut = in_shares(monkeypatch, 2)
    shared = observe.observe_source(source, wanted, 2)
    assert cut == [3] and whole.given_up == shared.given_up == {"key"}
    assert whole.strays == shared.strays and whole.strays["stray"] > 10
    assert state.dump({"seen": shared.state()}) == state.dump({"seen": whole.state()})


def test_a_guess_that_cannot_be_right_gives_up_the_sums_of_all_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "MANY_CLASSES", 3)
    rows = {"a": ["1"] * 4, "b": ["2"] * 4, "c": ["x"] * 4, "class": ["p", "q", "r", "s"]}
    columns = (Column("a", "number", "attribute", "number"), Column("b", "number", "attribute", "number"))
    wanted = ObservationPlan(
        ("a", "c", "class"), "class", Schema((*columns, Column("class", "nominal", "target", "text")))
    )
    source = open_source(rows)
    whole = observe.observe_source(source, wanted, 1)
    cut = in_shares(monkeypatch, 1)
    shared = observe.observe_source(source, wanted, 2)
    assert cut == [3] and whole.summary is None and shared.summary is None
    assert state.dump({"seen": shared.state()}) == state.dump({"seen": whole.state()})


def test_what_is_wrong_is_told_by_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.ones(ROWS)
    weights[2500] = -1
    path = tmp_path / "t.parquet"
    pq.write_table(table().set_column(8, "w", pa.array(weights)), path, row_group_size=300)
    in_shares(monkeypatch, 2)
    with pytest.raises(ColumnError, match="weight in row 2501 "):
        likely.summarize(path, "class", weight="w", threads=2)


@pytest.mark.parametrize("text", [False, True])
def test_progress_counts_rows_once(tmp_path: Path, text: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    pc.write_csv(table(), path)
    in_shares(monkeypatch, 2)
    told: list[int] = []
    likely.summarize(path if text else table(), "class", progress=told.append, threads=2)
    assert max(told) == ROWS


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("count", [63, 64, 300, 1000])
def test_shares_have_every_column_once(count: int, threads: int) -> None:
    columns = [Column(f"c{k}", "number", "attribute", "number") for k in range(count)]
    wanted = ObservationPlan(("c1", "class"), "class", Schema((*columns, Column("class", "nominal", "target", "text"))))
    shares = wanted.split(threads)
    assert (len(shares) > 1) == (count >= plan.WIDE)
    found = [c.name for share in shares for c in share.schema.attributes]  # type: ignore[union-attr]
    assert sorted(found) == sorted(c.name for c in columns)
    assert all("class" in share.columns and share.is_guess for share in shares)
    assert [share.tallied for share in shares] == ["class", *[None] * (len(shares) - 1)]
    assert sorted(n for share in shares for n in share.profiled) == ["c1", "class"]


@pytest.mark.parametrize(
    ("rows", "threads", "apart", "shares"), [(1000, 2, True, 4), (1000, 1, True, 1), (1000, 2, False, 1)]
)
def test_tables_of_few_rows_are_cut_sooner(rows: int, threads: int, apart: bool, shares: int) -> None:
    columns = [Column(f"c{k}", "number", "attribute", "number") for k in range(20)]
    wanted = ObservationPlan((), None, Schema((*columns, Column("class", "nominal", "target", "text"))))
    assert len(wanted.split(threads, apart, rows)) == shares
    assert len(wanted.split(threads, apart, plan.FEW_ROWS + 1)) == len(wanted.split(threads, apart)) == 1


def test_large_keys_are_levels(tmp_path: Path) -> None:
    """2**60 + 3 and 2**60 + 4 are one double; as levels they decide the class. Long runs of others stay numbers."""
    keys, rows = (2**60 + 3, 2**60 + 4), 40
    path = tmp_path / "keys.csv"
    path.write_text("key,x,y\n" + "".join(f"{keys[k % 2]},{k % 7},{'ab'[k % 2]}\n" for k in range(rows)))
    column = likely.summarize(path, target="y").schema["key"]
    assert (column.kind, column.role) == ("nominal", "attribute")
    assert column.why == "2 whole numbers of more than 15 digits, which are keys"
    model = likely.fit(path, "y", likely.NaiveBayes())
    assert model.levels("key") == [str(k) for k in keys]
    assert [model.predict({"key": k}) for k in (*keys, *map(str, keys))] == [*"abab"]
    words = pa.array([str(keys[k % 2]) for k in range(rows)])
    for column in (words, words.dictionary_encode(), pa.array([f"{c:>30}" for c in words.to_pylist()])):
        table = pa.table({"key": column, "y": ["ab"[k % 2] for k in range(rows)]})
        assert likely.summarize(table, target="y").schema["key"].kind == "nominal"

    def kind(cells: list[str]) -> str:
        return likely.summarize({"x": cells, "y": [*"ab"] * (len(cells) // 2)}, target="y").schema["x"].kind

    assert kind([str(10**17 + 10**9 * k) for k in range(rows)]) == "number"  # moments in nanoseconds, all different
    assert kind([str(10**17 + k % 3) for k in range(rows)]) == "nominal"
    assert kind([*[str(10**17 + k % 3) for k in range(rows - 2)], "17", "18"]) == "number"
    assert kind([f"{1000 + k % 12:>20,}" for k in range(60)]) == "number"  # padded, and no key
