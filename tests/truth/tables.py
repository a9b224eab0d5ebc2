"""Thirty small and awkward tables, made in plain Python: what a person might really have, and where figures go wrong.

Cells are the texts of a CSV; None is an empty cell. Nothing here knows likely.
"""

from __future__ import annotations

import csv
import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Cells = dict[str, str | None]


class Row(dict[str, str | None]):
    """The cells of a row by column; a part of a date ("day: weekday") is what Python's calendar says of it."""

    def __missing__(self, name: str) -> str | None:
        column, _, part = name.partition(": ")
        cell = self[column]
        if cell is None:
            return None
        told = datetime.datetime.fromisoformat(cell).strftime(PARTS[part])
        return str(int(told)) if told.isdigit() else told


PARTS = {"weekday": "%A", "month": "%B", "day": "%d", "day of year": "%j", "hour": "%H"}


def is_part(name: str) -> bool:
    """Whether a column is made of a date."""
    return name.rpartition(": ")[2] in PARTS and ": " in name


@dataclass(frozen=True)
class Case:
    """A table, the column to predict, and the column of weights, if there is one."""

    name: str
    rows: list[Row]
    target: str = "y"
    weight: str | None = None

    def write(self, folder: Path) -> Path:
        """The table as a CSV file."""
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(self.rows[0])
            out.writerows([["" if cell is None else cell for cell in row.values()] for row in self.rows])
        return path

    @property
    def judged(self) -> list[Row]:
        """The rows that have a class and a weight."""
        return [row for row in self.rows if row[self.target] is not None and self.weigh(row) > 0]

    def weigh(self, row: Row) -> float:
        """The weight of a row."""
        return 1.0 if self.weight is None else float(row[self.weight] or 0)


CASES: dict[str, Case] = {}


def table(make: Callable[[random.Random], list[Cells]]) -> Callable[[random.Random], list[Cells]]:
    """The table of this function, under its name."""
    name = make.__name__
    CASES[name] = Case(name, [Row(cells) for cells in make(random.Random(name))])
    return make


def _text(number: float) -> str:
    return f"{number:.4g}"


def _nominal(r: random.Random, count: int, classes: str, sure: float = 0.7) -> list[Cells]:
    """Two attributes that often follow the class, one that does not; classes in turn."""
    out: list[Cells] = []
    for i in range(count):
        y = classes[i % len(classes)]
        a = y if r.random() < sure else r.choice(classes)
        b = "uv"[classes.index(y) % 2] if r.random() < sure else r.choice("uv")
        out.append({"a": f"a{a}", "b": b, "c": r.choice("pqr"), "y": y})
    return out


@table
def balanced_two(r: random.Random) -> list[Cells]:
    return _nominal(r, 40, "mn")


@table
def balanced_three(r: random.Random) -> list[Cells]:
    return _nominal(r, 12, "ABC")


@table
def balanced_noise(r: random.Random) -> list[Cells]:
    return [{"a": r.choice("uvw"), "b": r.choice("pq"), "y": "no" if i % 2 else "yes"} for i in range(40)]


@table
def skewed_noise(r: random.Random) -> list[Cells]:
    return [{"a": r.choice("uvw"), "x": _text(r.gauss(0, 1)), "y": "no" if i % 4 else "yes"} for i in range(60)]


@table
def tiny(r: random.Random) -> list[Cells]:
    return _nominal(r, 6, "mn")


@table
def four_rows(r: random.Random) -> list[Cells]:
    return [{"a": a, "y": y} for a, y in (("u", "p"), ("v", "q"), ("u", "q"), ("v", "p"))]


@table
def oversampled(r: random.Random) -> list[Cells]:
    once: list[Row] = [
        {"x": f"{r.gauss(0, 1):.6f}", "z": f"{r.gauss(0, 1):.6f}", "y": r.choice("mn")} for _ in range(40)
    ]
    return once * 5


@table
def leaking_copy(r: random.Random) -> list[Cells]:
    return [{**row, "outcome": f"is {row['y']}"} for row in _nominal(r, 60, "mn", 0.6)]


@table
def leaking_number(r: random.Random) -> list[Cells]:
    rows = sorted(_nominal(r, 120, "ABC", 0.55), key=lambda row: str(row["y"]))
    return [{"number": str(1000 + 7 * i), **row} for i, row in enumerate(rows)]


@table
def constant_column(r: random.Random) -> list[Cells]:
    return [{"same": "x", **row} for row in _nominal(r, 36, "mn")]


@table
def one_column(r: random.Random) -> list[Cells]:
    return [{"a": row["a"], "y": row["y"]} for row in _nominal(r, 45, "ABC")]


@table
def empty_column(r: random.Random) -> list[Cells]:
    return [{"nothing": None, **row} for row in _nominal(r, 36, "mn")]


@table
def mostly_missing(r: random.Random) -> list[Cells]:
    return [{**row, "a": row["a"] if r.random() < 0.2 else None} for row in _nominal(r, 48, "mn", 0.9)]


@table
def rare_class(r: random.Random) -> list[Cells]:
    rows = _nominal(r, 60, "mn")
    return [{**row, "y": "rare" if i < 3 else row["y"]} for i, row in enumerate(rows)]


@table
def rare_but_ranked(r: random.Random) -> list[Cells]:
    """No row is more probably rare than not, and yet those with a high number are so far more often."""
    rows = [{"x": _text(r.gauss(0, 1)), "k": r.choice("pq")} for _ in range(900)]
    return [{**row, "y": "rare" if r.random() < 0.04 * 2.2 ** float(row["x"]) else "usual"} for row in rows]


@table
def class_of_one(r: random.Random) -> list[Cells]:
    rows = _nominal(r, 40, "mn")
    return [{**row, "y": "alone" if i == 0 else row["y"]} for i, row in enumerate(rows)]


@table
def exact_ties(r: random.Random) -> list[Cells]:
    cells = [("u", "p"), ("v", "p"), ("v", "p"), ("u", "q")]
    return [{"a": a, "y": y} for a, y in cells * 3]


@table
def whole_weights(r: random.Random) -> list[Cells]:
    return [{**row, "w": str(r.randint(1, 4))} for row in _nominal(r, 30, "mn")]


@table
def real_weights(r: random.Random) -> list[Cells]:
    return [{**row, "w": f"{r.uniform(0.1, 2):.3f}"} for row in _nominal(r, 36, "mn")]


@table
def copies_of_levels(r: random.Random) -> list[Cells]:
    return [{"a": r.choice("uv"), "b": r.choice("pq"), "y": "mn"[i % 3 == 0]} for i in range(90)]


@table
def interactions_only(r: random.Random) -> list[Cells]:
    return [{"hall": h, "stairs": s, "y": "on" if h != s else "off"} for h in "ud" for s in "ud" for _ in range(10)]


@table
def eight_classes(r: random.Random) -> list[Cells]:
    return _nominal(r, 96, "ABCDEFGH", 0.8)


@table
def far_apart(r: random.Random) -> list[Cells]:
    return [{"x": _text(r.gauss(20 * (i % 2), 1)), "y": "low" if i % 2 == 0 else "high"} for i in range(40)]


@table
def overlapping(r: random.Random) -> list[Cells]:
    return [
        {"x": _text(r.gauss(i % 2, 1)), "z": _text(r.gauss(0, 5)), "y": "low" if i % 2 == 0 else "high"}
        for i in range(80)
    ]


@table
def mixed(r: random.Random) -> list[Cells]:
    rows = _nominal(r, 60, "mn", 0.6)
    return [{**row, "x": None if i % 9 == 0 else _text(r.gauss("mn".index(str(row["y"])), 1.2))}
            for i, row in enumerate(rows)]  # fmt: skip


@table
def one_outlier(r: random.Random) -> list[Cells]:
    rows: list[Row] = [{"x": _text(r.gauss(i % 2, 0.5)), "y": "mn"[i % 2]} for i in range(60)]
    rows[7] = {"x": "9000", "y": "m"}
    return rows


@table
def separable(r: random.Random) -> list[Cells]:
    return [{"a": "uv"[i % 2], "b": r.choice("pq"), "y": "mn"[i % 2]} for i in range(40)]


@table
def ugly_names(r: random.Random) -> list[Cells]:
    rows = _nominal(r, 40, "mn")
    classes = {"m": '<b>"m" & co</b>', "n": "=n+1|n"}
    return [{"a <i>&": row["a"], "b\"'|*_`": row["b"], "y": classes[str(row["y"])]} for row in rows]


@table
def missing_classes(r: random.Random) -> list[Cells]:
    return [{**row, "y": None if i % 7 == 3 else row["y"]} for i, row in enumerate(_nominal(r, 50, "mn"))]


@table
def classes_in_other_letters(r: random.Random) -> list[Cells]:
    names = {"m": "männlich", "n": "女"}
    return [{**row, "y": names[str(row["y"])]} for row in _nominal(r, 40, "mn")]


@table
def classes_as_numbers(r: random.Random) -> list[Cells]:
    return [{**row, "y": "01"["mn".index(str(row["y"]))]} for row in _nominal(r, 40, "mn")]


@table
def many_levels(r: random.Random) -> list[Cells]:
    return [{"name": f"n{r.randrange(20)}", **row} for row in _nominal(r, 80, "mn", 0.6)]


@table
def dates(r: random.Random) -> list[Cells]:
    return [{"day": f"2024-{1 + i // 28:02}-{1 + i % 28:02}", "a": r.choice("uvw"), "y": "mn"[i > 40]}
            for i in range(84)]  # fmt: skip


for weighed in ("whole_weights", "real_weights"):
    CASES[weighed] = Case(weighed, CASES[weighed].rows, weight="w")
