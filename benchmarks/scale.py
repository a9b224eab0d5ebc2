"""What scale costs: per row and column kind, per level, word and class, per partial summary; and 40 million rows.

Costs are processor time, which a busy machine does not change much. Writes the figures of a part into SCALE.md,
between its marks; the words around them are written by hand. `--quick` writes nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fresh
import making
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import likely
from likely.sums import state
from likely.sums.exact import add_in_order
from likely.table.open import open_source

PAGE = Path(__file__).resolve().parent / "SCALE.md"
Lines = list[str]


def cpu(work: Callable[[], Any], turns: int = 2) -> float:
    """Processor seconds of all threads, the least of some turns."""
    out = []
    for _ in range(turns):
        start = time.process_time()
        work()
        out.append(time.process_time() - start)
    return min(out)


def wall(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Lines:
    """A table of Markdown; all but the first column stand to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return ["", *lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows), ""]


def size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def span(seconds: float) -> str:
    for unit, length in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


# -- a row, by the kind of its columns ----------------------------------------------------------------------


def columns(rows: int) -> dict[str, tuple[Any, int]]:
    """A column of each kind, and how many of the rows it is measured on."""
    draw = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(20_000)])
    texts = min(rows, 100_000)
    rank = np.minimum(draw.zipf(1.3, 20 * texts) - 1, len(words) - 1)
    text = [" ".join(row) for row in words[rank].reshape(texts, 20)]
    days = draw.integers(0, 3_650, rows).astype("datetime64[D]")
    out: dict[str, tuple[Any, int]] = {}
    for levels in (2, 100, 10_000):
        names = pa.array([f"level {k}" for k in range(levels)])
        codes = pa.array(draw.integers(0, levels, rows).astype(np.int32))
        out[f"nominal, {levels:,} levels"] = pa.DictionaryArray.from_arrays(codes, names).cast(pa.string()), rows
    out["true or false"] = pa.array(draw.random(rows) < 0.5), rows
    out["number, 100 values"] = pa.array(draw.integers(0, 100, rows) / 4), rows
    out["number, all different"] = pa.array(draw.normal(size=rows)), rows
    out["date, 3,650 days"] = pa.array(days), rows
    out["text, 20 words"] = pa.array(text), texts
    return out


def by_kind(folder: Path, rows: int) -> Lines:
    """Bytes of a cell in Parquet, and processor time of a cell from Parquet and from CSV."""
    target = pa.array(np.array(["no", "yes"])[np.random.default_rng(1).integers(0, 2, rows)])
    out = []
    for name, (cells, count) in columns(rows).items():
        both = pa.table({"cell": cells, "class": target.slice(0, count)})
        bare = both.select(["class"]).append_column("other", target.slice(0, count))
        took, stored = [], 0
        for kind in ("parquet", "csv"):
            times = []
            for shape, content in (("cell", both), ("bare", bare)):
                path = folder / f"{shape}.{kind}"
                pq.write_table(content, path) if kind == "parquet" else pc.write_csv(content, path)
                how = {"cell": "text" if "text" in name else None} if shape == "cell" else {}
                types = {k: v for k, v in how.items() if v}
                schema = likely.summarize(path, "class", types=types or None).schema
                times.append(cpu(lambda p=path, s=schema: likely.summarize(p, schema=s, threads=1)))
                if kind == "parquet" and shape == "cell":
                    group = pq.ParquetFile(path).metadata
                    stored = sum(
                        group.row_group(g).column(0).total_compressed_size for g in range(group.num_row_groups)
                    )
            took.append(max(0.0, times[0] - times[1]) / count * 1e9)
        out.append((name, f"{stored / count:.2g}", f"{took[0]:.0f}", f"{took[1]:.0f}"))
    return table(("kind", "bytes in Parquet", "ns from Parquet", "ns from CSV, its kind known"), out)


# -- the size of a summary ----------------------------------------------------------------------------------


def sizes(rows: int) -> Lines:
    """Bytes that one column takes in a summary's file, by its values and by classes."""
    draw = np.random.default_rng(0)
    out = []
    for name, cells, kind in (
        ("nominal, 10 levels", [f"l{k}" for k in range(10)], "nominal"),
        ("nominal, 1,000 levels", [f"level {k}" for k in range(1_000)], "nominal"),
        ("nominal, 10,000 levels", [f"level {k}" for k in range(10_000)], "nominal"),
        ("number, 100 values", np.arange(100) / 4, "number"),
        ("number, all different", None, "number"),
        ("text, 1,000 words", 1_000, "text"),
        ("text, 20,000 words", 20_000, "text"),
    ):
        found = []
        for classes in (2, 10, 100):
            target = draw.integers(0, classes, rows)
            if kind == "text":
                each = min(rows, 40_000)
                picked = np.array([f"word{k}" for k in range(cells)])[draw.integers(0, cells, (each, 10))]
                column: Any = [" ".join(row) for row in picked]
            else:
                each = rows
                column = (
                    draw.normal(size=rows) if cells is None else np.asarray(cells)[draw.integers(0, len(cells), rows)]
                )
            data = {"cell": column, "class": [f"c{k}" for k in target[:each]]}
            summary = likely.summarize(data, "class", types={"cell": kind})
            found.append(size(len(state.dump(summary["cell"].state()))))
        out.append((name, *found))
    return table(("one column", "2 classes", "10 classes", "100 classes"), out)


# -- many partial summaries ---------------------------------------------------------------------------------


def merging(most: int) -> tuple[Lines, float, int]:
    """What it takes to read and join 1 to `most` partial summaries; seconds of one join, and bytes of the whole."""
    blocks = [pa.Table.from_batches([b]).slice(0, 2_000) for b in making.blocks(making.ROW_GROUP * 8)]
    schema = likely.summarize(pa.concat_tables(blocks), making.TARGET).schema
    parts = [state.dump(likely.summarize(b, schema=schema).state()) for b in blocks]
    out, each, whole = [], 0.0, b""
    count = 1
    while count <= most:
        read = [likely.Summary.from_state(state.parse(parts[k % len(parts)], "part")) for k in range(min(count, 64))]
        took = cpu(lambda n=count, r=read: add_in_order(r[k % len(r)] for k in range(n)), turns=1 if count > 64 else 2)
        total = add_in_order(read)
        assert total is not None
        whole = state.dump(total.state())
        each = took / max(1, count - 1)
        out.append((f"{count:,}", f"{took:.3g} s", f"{each * 1e3:.3g} ms" if count > 1 else "", size(len(whole))))
        count *= 4
    loading = cpu(lambda: [likely.Summary.from_state(state.parse(p, "part")) for p in parts]) / len(parts)
    lines = table(("partial summaries", "to join them", "per join", "size of the whole"), out)
    return [*lines, f"Reading one of them from its file: {loading * 1e3:.2g} ms."], each + loading, len(whole)


# -- threads, memory, files that are kept -------------------------------------------------------------------


def threads(path: Path, rows: int) -> tuple[Lines, float]:
    """One and two threads; and that reading and counting overlap. Also processor seconds per row."""
    schema = likely.summarize(path, making.TARGET).schema
    names = [c.name for c in schema.used]

    def decode() -> None:
        for _ in open_source(path).batches(names):
            pass

    held = pa.Table.from_batches([*open_source(path).batches(names)])
    works: dict[str, Callable[[], Any]] = {
        "reading alone (decoding, one thread asks)": decode,
        "counting alone, rows in memory, 1 thread": lambda: likely.summarize(held, schema=schema, threads=1),
        "counting alone, rows in memory, 2 threads": lambda: likely.summarize(held, schema=schema, threads=2),
        "reading and counting, 1 thread": lambda: likely.summarize(path, schema=schema, threads=1),
        "reading and counting, 2 threads": lambda: likely.summarize(path, schema=schema, threads=2),
    }
    best = {name: (min(wall(work) for _ in range(3)), cpu(work, 1)) for name, work in works.items()}
    out = [(name, f"{w:.2f} s", f"{c:.2f} s", f"{c / rows * 1e9:,.0f}") for name, (w, c) in best.items()]
    return table((f"{rows:,} rows of 17 columns", "time", "processor time", "ns a row"), out), list(best.values())[-1][
        1
    ] / rows


def memory(folder: Path, parts: list[Path], rows: int, repeats: tuple[int, ...], small: Path) -> Lines:
    """Peak memory of a fresh process over folders of more and more rows."""
    out = []
    for repeat in repeats:
        many = folder / f"many {repeat}"
        many.mkdir()
        for k in range(repeat):
            os.link(parts[k % len(parts)], many / f"part {k:04}.parquet")
        found = fresh.stream("summarize", small, many, small, small, making.TARGET)
        above = (found["peak"] - found["before"]) / 1e6
        out.append((f"{repeat * rows:,}", f"{repeat:,}", f"{above:.0f} MB", f"{found['seconds']:.0f} s"))
    return table(("rows", "files", "peak memory above imports", "time"), out)


def kept(folder: Path, parts: list[Path], rows: int) -> Lines:
    """What a folder that grows by one file costs, where sums are kept."""
    logs, sums = folder / "logs", folder / "sums"
    logs.mkdir()

    def fit() -> float:
        return cpu(lambda: likely.summarize(logs, making.TARGET, keep=sums, remark=len), 1)

    for k, path in enumerate(parts[:-1]):
        os.link(path, logs / f"{k}.parquet")
    first, again = fit(), fit()
    os.link(parts[-1], logs / "new.parquet")
    new = fit()
    whole = cpu(lambda: likely.summarize(logs, making.TARGET), 1)
    entries = sum(p.stat().st_size for p in sums.iterdir())
    stored = sum(p.stat().st_size for p in logs.iterdir())
    out = [
        (f"first run, {len(parts) - 1} files of {rows:,} rows", f"{first:.2f} s"),
        ("second run, nothing new", f"{again:.2f} s"),
        ("third run, one new file", f"{new:.2f} s"),
        (f"one sweep over all {len(parts)} files, nothing kept", f"{whole:.2f} s"),
        ("what is kept, beside the files", f"{size(entries)} beside {size(stored)}"),
    ]
    return table(("a folder that grows", "processor time"), out)


def extrapolated(each: float, join: float, whole: int) -> Lines:
    """What many rows would take, from the costs above: sweeps divide, joins are a tree."""
    out = []
    cores = 16
    for rows in (1e9, 1e12):
        for machines in (1, 10, 100, 1_000):
            sweep = rows * each / (machines * cores)
            parts = machines * cores
            tree = join * np.ceil(np.log2(parts)) + whole * np.ceil(np.log2(machines) if machines > 1 else 0) / 1e9 * 8
            out.append((f"10^{np.log10(rows):.0f}", f"{machines:,}", span(sweep), span(tree), size(parts * whole)))
    header = ("rows of 17 columns", f"machines of {cores} cores", "sweep", "joining as a tree", "all partial summaries")
    return table(header, out)


def local(folder: Path, quick: bool) -> Lines:
    """Everything that one machine can show."""
    rows = 20_000 if quick else 500_000
    paths = []
    for seed in range(4 if quick else 9):
        paths.append(folder / f"part {seed}.parquet")
        pq.write_table(pa.Table.from_batches(making.blocks(rows, seed)), paths[-1], row_group_size=making.ROW_GROUP)
    small = folder / "small.parquet"
    pq.write_table(pa.Table.from_batches(making.blocks(5_000)), small)
    likely.summarize(small, making.TARGET)
    large = folder / "large.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(p) for p in paths[:4]]), large, row_group_size=making.ROW_GROUP)
    threading, each = threads(large, 4 * rows)
    joins, join, whole = merging(16 if quick else 1024)
    return [
        "### A cell", *by_kind(folder, rows),
        "### The size of a summary", *sizes(20_000 if quick else 200_000),
        "### Joining", *joins, "",
        "### Threads", *threading,
        "### Memory", *memory(folder, paths, rows, (2, 4) if quick else (8, 80), small),
        "### Sums that are kept", *kept(folder, paths, rows),
        "### A thousand machines", *extrapolated(each, join, whole),
    ]  # fmt: skip


PARTS: dict[str, Callable[[Path, bool], Lines]] = {"local": local}


def written(page: str, part: str, lines: Lines) -> str:
    """The page with the figures of one part in their place."""
    marks = re.compile(rf"(<!-- figures: {part} -->\n).*?(<!-- end of figures -->)", re.DOTALL)
    if not marks.search(page):
        raise SystemExit(f"{PAGE.name} has no marks for the figures of {part}.")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=sorted(PARTS), default="local")
    parser.add_argument("--quick", action="store_true", help="a smoke run; writes nothing")
    asked = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="likely-scale-") as folder:
        lines = PARTS[asked.part](Path(folder), asked.quick)
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pyarrow", "numba"))
    head = [
        f"Written by `python benchmarks/scale.py --part {asked.part}` on {datetime.now(UTC):%Y-%m-%d}, "
        f"{(time.perf_counter() - start) / 60:.1f} minutes; {os.cpu_count()} cores, load average "
        f"{os.getloadavg()[1]:.1f}; Python {platform.python_version()}, likely {likely.__version__}, {packages}.",
        "",
    ]
    if asked.quick:
        print("\n".join([*head, *lines]))
        return
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), asked.part, [*head, *lines]), encoding="utf-8")


if __name__ == "__main__":
    main()
