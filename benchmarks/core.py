"""The core's benchmarks: what likely costs beside decoding the same file and beside scikit-learn, as ratios of one run.

Contestants take turns, so that a busy machine slows both; the best of several turns counts. Writes RESULTS.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fresh
import making
import numpy as np
import pyarrow as pa
import sweeping
from peers import Plain, Tuned, decode

import likely

HERE = Path(__file__).resolve().parent
THREADS = 2
FULL, QUICK = 4_000_000, 100_000
WAYS = ("scikit-learn as documented", "scikit-learn tuned by hand")
SMALL = 5_000
"""Rows of the table that loads imports and kernels before memory is measured."""


@dataclass(frozen=True)
class Row:
    """One line of the table of results. Without an aim it is there to be read."""

    what: str
    measured: str
    aim: str = ""
    met: bool | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        return "" if self.met is None else ("met" if self.met else "missed")


Table = list[Row]


def timed(work: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def turns(repeats: int, *contestants: Callable[[], Any]) -> list[float]:
    """The best time of each, taking turns."""
    rounds = [[timed(work) for work in contestants] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def at_most(what: str, ratio: float, aim: float, note: str, unit: str = "×") -> Row:
    return Row(what, f"{ratio:.3g}{unit}", f"≤ {aim:g}{unit}", ratio <= aim, note)


def at_least(what: str, ratio: float, aim: float, note: str) -> Row:
    return Row(what, f"{ratio:.3g}×", f"≥ {aim:g}×", ratio >= aim, note)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


# -- (a), (e): the sweep ------------------------------------------------------------------------------------


def sweep(files: list[making.Files], folder: Path, repeats: int) -> Table:
    """Sweeps beside the decoder at its best (sweeping.py); then what a second thread gains."""
    out = []
    for m in sweeping.measure(files[-1], folder, repeats, THREADS):
        unit, beside = (" ns a cell", "") if m.per_cell else ("×", " / decoding by pyarrow at its best")
        note = f"{m.ours[0]:.2f} s / {m.theirs[0]:.2f} s; processor time {m.processor:.2g}{unit}"
        out.append(at_most(f"(a) summarize, {m.what}{beside}, {THREADS} threads", m.clock, m.aim, note, unit))
    for kind, path in (("Parquet", files[-1].parquet), ("CSV", files[-1].csv)):
        one, two = turns(
            repeats,
            lambda p=path: likely.summarize(p, target=making.TARGET, threads=1),
            lambda p=path: likely.summarize(p, target=making.TARGET, threads=THREADS),
        )
        note = f"{one:.2f} s / {two:.2f} s"
        out.append(at_least(f"(a) summarize, {kind}: one thread / {THREADS} threads", one / two, 1.7, note))
    return out


def growth(files: list[making.Files], repeats: int) -> Table:
    works = [lambda p=f.parquet: likely.summarize(p, target=making.TARGET, threads=THREADS) for f in files]
    times = turns(repeats, *works)
    per_row = [t / f.rows for t, f in zip(times, files, strict=True)]
    out = []
    for f, t, each in zip(files[1:], times[1:], per_row[1:], strict=True):
        what = f"(e) time per row of summarize(parquet), {f.rows:,} rows / {files[0].rows:,} rows"
        note = f"{t:.2f} s / {times[0]:.2f} s; linear is 1"
        out.append(at_most(what, each / per_row[0], 1.1, note))
    return out


# -- (b), (c): scikit-learn ---------------------------------------------------------------------------------


def learning(big: Path, repeats: int) -> tuple[Table, Any, list[Plain]]:
    peers = [Plain(), Tuned()]
    works = [lambda p=p: p.fit(big) for p in peers]
    ours, *theirs = turns(repeats, lambda: likely.fit(big, making.TARGET, likely.NaiveBayes(), threads=THREADS), *works)
    rows = [
        at_least(f"(b) learn from Parquet: {name} / likely.fit", their / ours, 10, f"{their:.2f} s / {ours:.2f} s")
        for name, their in zip(WAYS, theirs, strict=True)
    ]
    return rows, likely.fit(big, making.TARGET, likely.NaiveBayes()), peers


def predicting(big: Path, model: Any, peers: list[Plain], repeats: int) -> Table:
    plain, tuned = peers
    ours, *theirs = turns(
        repeats, lambda: model.posterior(big), lambda: plain.posterior(big), lambda: tuned.posterior(big)
    )
    out = [
        at_least(f"(c) probabilities from Parquet: {name} / likely", their / ours, 8, f"{their:.2f} s / {ours:.2f} s")
        for name, their in zip(WAYS, theirs, strict=True)
    ]
    frame = tuned.read(big)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    ours, ours_arrow, their, their_tuned = turns(
        repeats,
        lambda: model.posterior(frame),
        lambda: model.posterior(arrow),
        lambda: plain.posterior_of(frame),
        lambda: tuned.posterior_of(frame),
    )
    best, name = min(zip((their, their_tuned), WAYS, strict=True))
    for what, own in (("a pandas frame", ours), ("an Arrow table (scikit-learn: the pandas frame)", ours_arrow)):
        out.append(
            Row(
                f"(c) probabilities from {what} in memory: {name} / likely",
                f"{best / own:.3g}×",
                note=f"{best:.2f} s / {own:.2f} s",
            )
        )
    # Missing numbers are imputed there and left out here, so only whole rows must agree.
    whole = frame.notna().all(axis=1).to_numpy()
    same = model.posterior(arrow).matrix.argmax(axis=1) == tuned.posterior_of(frame).argmax(axis=1)
    what = "(c) rows without a missing cell on which both predict the same class"
    out.append(Row(what, f"{np.mean(same[whole]):.2%}", note=f"of all rows {np.mean(same):.2%}"))
    return out


# -- (d): memory --------------------------------------------------------------------------------------------


def streams(files: list[making.Files], model: Any, folder: Path) -> Table:
    small = making.make(folder / "small", [SMALL])[0]
    saved, written = folder / "model.likely", folder / "predictions.csv"
    model.save(saved)
    out = []
    for task, kind in (("summarize", "parquet"), ("summarize", "csv"), ("predict", "csv")):
        for f in files:
            say(f"  {task} {kind}, {f.rows:,} rows")
            found = fresh.stream(task, getattr(small, kind), getattr(f, kind), saved, written, making.TARGET)
            above = (found["peak"] - found["before"]) / 1e6
            form = {"csv": "CSV", "parquet": "Parquet"}[kind]
            what = f"(d) peak memory of {task} from {form} above imports, {f.rows:,} rows"
            note = f"{found['before'] / 1e6:.0f} MB → {found['peak'] / 1e6:.0f} MB, {found['seconds']:.1f} s"
            out.append(at_most(what, above, 300, note, " MB"))
        written.unlink(missing_ok=True)
    return out


# -- (f): start-up ------------------------------------------------------------------------------------------


def start_up(folder: Path, repeats: int) -> Table:
    package = fresh.package_folder()
    env = fresh.environment(package)
    adult, name = HERE.parent.parent / "shared" / "data" / "adult.csv", "adult.csv"
    if not adult.exists():
        adult, name = making.make_census(folder / "census.csv"), "a made table of adult.csv's shape"
    fresh.seconds(fresh.look(adult, "income"), env)  # compiles what is not yet compiled
    ours, theirs = turns(
        repeats,
        lambda: fresh.seconds(fresh.look(adult, "income"), env),
        lambda: fresh.seconds(fresh.merely_reading(adult), env),
    )
    out = [
        at_most(
            f"(f) fresh process: likely look {name} / importing numpy and pyarrow and reading it",
            ours / theirs,
            3,
            f"{ours:.2f} s / {theirs:.2f} s",
        )
    ]
    weather = HERE.parent / "examples" / "weather_mixed.csv"
    what = "(f) very first likely look weather_mixed.csv, nothing compiled yet"
    firsts = [fresh.first_look(weather, "play", folder / f"cache_{k}") for k in range(2)]
    if None in firsts:
        out.append(Row(what, "not measured", note="nothing was written to the cache folder that was named"))
    else:
        out.append(at_most(what, min(f for f in firsts if f), 10, "a time, not a ratio: best of 2", " s"))
    copy = fresh.ReadOnlyPackage(folder / "read_only", weather)
    what = "(f) package folder read-only: second look weather_mixed.csv / the same with a package that can be written"
    try:
        if copy.problem:
            out.append(Row(what, "not measured", note=copy.problem))
            return out
        first = copy.seconds("play")
        fresh.seconds(fresh.look(weather, "play"), env)
        second, usual = turns(
            repeats, lambda: copy.seconds("play"), lambda: fresh.seconds(fresh.look(weather, "play"), env)
        )
        kept = f"{copy.kept()} files kept in the user's cache"
        note = f"first {first:.2f} s, then {second:.2f} s / {usual:.2f} s; {kept}"
        out.append(at_most(what, second / usual, 1.5, note))
    finally:
        copy.remove()
    return out


# -- all of it ----------------------------------------------------------------------------------------------


def run(rows: int, folder: Path, repeats: int) -> Table:
    say(f"Making tables of up to {rows:,} rows.")
    files = making.make(folder, [rows // 4, rows // 2, rows])
    (folder / "small").mkdir(exist_ok=True)
    small = making.make(folder / "small", [SMALL])[0].parquet
    likely.fit(small, making.TARGET, likely.NaiveBayes())  # compiles the kernels
    big = files[-1].parquet
    decode(big)  # brings the file into the system's cache
    say("(a) the sweep")
    table = sweep(files, folder, repeats)
    say("(b) learning")
    learned, model, peers = learning(big, min(repeats, 2))
    say("(c) predicting")
    table += learned + predicting(big, model, peers, min(repeats, 2))
    del peers
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)  # a user without rights reads in it
        say("(d) memory")
        (Path(scratch) / "small").mkdir()
        table += streams(files, model, Path(scratch))
        say("(e) growth")
        table += growth(files, repeats)
        say("(f) start-up")
        table += start_up(Path(scratch), repeats)
    return table


def page(table: Table, rows: int, command: str, took: float) -> str:
    """The results as Markdown."""
    libraries = ("numpy", "pyarrow", "numba", "duckdb", "pandas", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load average {os.getloadavg()[1]:.1f} over the last 5 minutes" if hasattr(os, "getloadavg") else ""
    # By letter: counting lines would let nine lines on memory outweigh one on speed.
    missed = sorted({row.what[:3] for row in table if row.met is False})
    lines = [
        "# Benchmarks of the core",
        "",
        "Written by `benchmarks/core.py`; not to be changed by hand. Ratios of one run, best of several turns; "
        "the times are a side note of the machine that ran it.",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}, `{command}`, {took / 60:.1f} minutes",
        f"- {rows:,} rows, {len(making.NOMINAL)} nominal and {len(making.NUMERIC)} numeric attributes, "
        f"{making.MISSING:.0%} missing, {len(making.CLASSES)} classes; {THREADS} threads",
        f"- {cores} cores{load}; Python {platform.python_version()}, likely {likely.__version__}, {versions}",
        f"- aims missed, in at least one line: {', '.join(missed) or 'none'}",
        "",
        "| what | measured | aim | | times |",
        "|---|---:|---:|---|---|",
        *(f"| {r.what} | {r.measured} | {r.aim} | {r.verdict} | {r.note} |" for r in table),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description="Measure the core of likely; see README.md beside this file.")
    options.add_argument("--rows", type=int, default=FULL, help="rows of the largest table (default 4,000,000)")
    options.add_argument("--keep-data", type=Path, metavar="DIR", help="make the tables in DIR and keep them")
    options.add_argument("--quick", action="store_true", help=f"a smoke run on {QUICK:,} rows; writes nothing")
    options.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="where the results go")
    asked = options.parse_args()
    rows = QUICK if asked.quick else asked.rows
    if rows < 4 * SMALL:
        options.error(f"--rows must be at least {4 * SMALL:,}.")
    os.environ["LIKELY_THREADS"] = str(THREADS)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep_data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        table = run(rows, folder, 2 if asked.quick else 5)
    command = "python benchmarks/core.py" + (f" --rows {rows}" if rows != FULL else "")
    text = page(table, rows, command, time.perf_counter() - start)
    print(text)
    if not asked.quick:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
