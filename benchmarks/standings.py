"""From results to the tables of the quality benchmark: means, medians, ranks, aims, and the page. Measures nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import rivals
from numpy.typing import NDArray
from scipy.stats import rankdata
from sets import FOLDS, KEEL, MOST_ROWS, Set

CLIP = 1e-15
AUTO, TUNED = "auto", "NaiveBayes, tuned"
FIELD = (*rivals.SCIKIT, "Khiops")
"""The rivals that ranks are counted beside; Khiops once, as it comes."""


@dataclass(frozen=True)
class Result:
    """Of some rows: how many were right, the sum of their log losses (nats), and the seconds of learning and asking."""

    rows: int
    right: int
    loss: float
    seconds: float
    refused: str = ""

    @property
    def accuracy(self) -> float:
        return self.right / self.rows

    @property
    def log_loss(self) -> float:
        return self.loss / self.rows

    @classmethod
    def together(cls, parts: Sequence[Result]) -> Result:
        """All folds as one: every row of the set is predicted once."""
        return cls(
            sum(p.rows for p in parts),
            sum(p.right for p in parts),
            sum(p.loss for p in parts),
            sum(p.seconds for p in parts),
            next((p.refused for p in parts if p.refused), ""),
        )


Results = dict[str, dict[str, Result]]
"""By the name of the set, then of the contestant."""
Column = NDArray[np.float64]


class Standings:
    """Contestants on several sets."""

    def __init__(self, sets: Sequence[Set], results: Results) -> None:
        self.sets = sets
        self.names = list(results[sets[0].name])
        self.rivals = [n for n in self.names if n in FIELD]
        self._results = [[results[s.name][n] for n in self.names] for s in sets]
        self.accuracy = self._matrix(lambda r: r.accuracy)
        self.log_loss = self._matrix(lambda r: r.log_loss)
        self.seconds = self._matrix(lambda r: r.seconds) / FOLDS

    def _matrix(self, figure: Callable[[Result], float]) -> Column:
        return np.array([[figure(r) for r in row] for row in self._results])

    def of(self, name: str, matrix: Column) -> Column:
        """The figures of one contestant, a set each."""
        return np.asarray(matrix[:, self.names.index(name)])

    def ranks(self, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Mean ranks of log loss and of accuracy among these, 1 the best; equals share theirs."""
        take = [self.names.index(n) for n in names]
        loss = rankdata(self.log_loss[:, take], axis=1).mean(axis=0)
        right = rankdata(-self.accuracy[:, take], axis=1).mean(axis=0)
        return {n: (float(a), float(b)) for n, a, b in zip(names, loss, right, strict=True)}

    def beside(self, name: str) -> dict[str, tuple[float, float]]:
        """Mean ranks in the field of the rivals and this one."""
        return self.ranks([*self.rivals, *([] if name in self.rivals else [name])])

    def lines(self) -> list[str]:
        """The table, best mean rank of log loss first."""
        field = self.ranks(self.names)
        out = [
            f"| contestant | log loss: mean | median | mean rank of {len(self.names)} | beside the rivals "
            f"| accuracy: mean | median | mean rank of {len(self.names)} | beside the rivals "
            "| seconds: mean | most |",
            "|---|" + "---:|" * 10,
        ]
        for name in sorted(self.names, key=lambda n: field[n][0]):
            alone, cells = self.beside(name)[name], [name]
            for k, matrix in enumerate((self.log_loss, self.accuracy)):
                figures = self.of(name, matrix)
                cells += [
                    f"{figures.mean():.3f}",
                    f"{np.median(figures):.3f}",
                    f"{field[name][k]:.2f}",
                    f"{alone[k]:.2f}",
                ]
            seconds = self.of(name, self.seconds)
            cells += [f"{seconds.mean():.2f}", f"{seconds.max():.1f}"]
            out.append(f"| {' | '.join(cells)} |")
        return out


# -- aims ---------------------------------------------------------------------------------------------------


def aim(what: str, measured: str, wanted: str, met: bool) -> str:
    return f"| {what} | {measured} | {wanted} | {'met' if met else 'missed'} |"


def aims(keel: Standings) -> list[str]:
    """What `auto` and the tuned naive Bayes should reach on the sets of KEEL, and whether they do."""
    out = ["| aim, on the sets of KEEL | measured | wanted | |", "|---|---:|---:|---|"]
    if AUTO in keel.names and keel.rivals:
        ranks = keel.beside(AUTO)
        for k, what in enumerate(("log loss", "accuracy")):
            mine, best = ranks[AUTO][k], min(r[k] for n, r in ranks.items() if n != AUTO)
            out.append(aim(f"{AUTO}: mean rank of {what} beside the rivals", f"{mine:.2f}", "≤ 2.5", mine <= 2.5))
            out.append(aim(f"{AUTO}: first by mean rank of {what}", f"{mine:.2f}", f"< {best:.2f}", mine < best))
        loss, right = keel.of(AUTO, keel.log_loss).mean(), keel.of(AUTO, keel.accuracy).mean()
        most = keel.of(AUTO, keel.seconds).max()
        out.append(aim(f"{AUTO}: mean log loss", f"{loss:.3f}", "≤ 0.38", loss <= 0.38))
        out.append(aim(f"{AUTO}: mean accuracy", f"{right:.3f}", "≥ 0.855", right >= 0.855))
        out.append(aim(f"{AUTO}: most seconds for one fold", f"{most:.1f}", "< 60", most < 60))
    else:
        out.append(f"| {AUTO} | not measured | | |")
    for khiops in rivals.TREES:
        if TUNED not in keel.names or khiops not in keel.names:
            out.append(f"| {TUNED}, beside {khiops} | not measured | | |")
            continue
        for what, matrix, sign in (("log loss", keel.log_loss, 1), ("accuracy", keel.accuracy, -1)):
            mine, other = keel.of(TUNED, matrix).mean(), keel.of(khiops, matrix).mean()
            wanted = f"{'<' if sign > 0 else '>'} {other:.3f}"
            met = sign * mine < sign * other
            out.append(aim(f"{TUNED}: mean {what}, beside {khiops}", f"{mine:.3f}", wanted, met))
    return out


# -- the page -----------------------------------------------------------------------------------------------


def one_set(data: Set, results: dict[str, Result]) -> list[str]:
    numbers = len(data.numeric)
    names = list(results)
    ranks = rankdata([results[n].log_loss for n in names]), rankdata([-results[n].accuracy for n in names])
    out = [
        f"### {data.name}",
        "",
        f"{data.kin}: {data.rows:,} rows, {numbers} numbers, {len(data.columns) - numbers} nominal, "
        f"{len(data.classes)} classes.",
        "",
        "| contestant | log loss | rank | accuracy | rank | seconds a fold |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for k, name in enumerate(names):
        r = results[name]
        mark = " (refused)" if r.refused else ""
        out.append(
            f"| {name}{mark} | {r.log_loss:.4f} | {ranks[0][k]:g} | {r.accuracy:.4f} | {ranks[1][k]:g} "
            f"| {r.seconds / FOLDS:.2f} |"
        )
    return [*out, ""]


def refusals(results: Results) -> list[str]:
    """Who refused what, and why."""
    found = [(s, n, r.refused) for s, row in results.items() for n, r in row.items() if r.refused]
    if not found:
        return []
    out = ["## Refused", "", "These count with the shares of the classes among the rows to learn from.", ""]
    return [*out, *(f"- {n} on {s}: {why}" for s, n, why in found), ""]


def environment(known_as: str) -> Iterable[str]:
    libraries = ("scikit-learn", "numpy", "pyarrow", "numba")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield f"- likely {known_as} (a digest of its sources), {versions}, {', '.join(rivals.KHIOPS)}, {KEEL}"
    yield f"- Python {platform.python_version()}, {cores} cores, one thread each; load average {os.getloadavg()[1]:.1f}"


def page(sets: Sequence[Set], results: Results, known_as: str, command: str, took: float) -> str:
    """The whole page as Markdown."""
    keel, arff = ([s for s in sets if s.kin == kin] for kin in ("KEEL", "ARFF"))
    lines = [
        "# How good the probabilities are",
        "",
        "Written by `benchmarks/quality.py`; not to be changed by hand. What is measured, and how, is said in "
        "[README.md](README.md#quality).",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}, `{command}`, {took / 60:.1f} minutes for what an earlier run had not kept",
        *environment(known_as),
        f"- {FOLDS} stratified folds, at most {MOST_ROWS:,} rows; log loss in nats, probabilities clipped at {CLIP:g}",
        "- mean rank: 1 is best. “Beside the rivals” is the rank in a field of "
        f"{', '.join(FIELD)} and this one contestant; of a rival, among the rivals",
        "- seconds: learning and predicting one fold, on a machine that may have done other things too",
        "",
    ]
    for title, part in (("sets of KEEL", keel), ("ARFF sets", arff)):
        if part:
            standings = Standings(part, results)
            lines += [f"## {len(part)} {title}", "", *standings.lines(), ""]
            lines += [*aims(standings), ""] if part is keel else []
    lines += [*refusals(results), "## Set by set", ""]
    for data in sets:
        lines += one_set(data, results[data.name])
    return "\n".join(lines)
