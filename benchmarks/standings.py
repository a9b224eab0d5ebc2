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
from sets import FOLDS, KEEL, LARGE, MOST_ROWS, Set

CLIP = 1e-15
AUTO = "auto"
FIELD = (*rivals.SCIKIT, "Khiops", "LightGBM", "XGBoost", "CatBoost")
"""The rivals that ranks are counted beside: each once, as it comes."""
BINS = 15
"""Steps of equal width of how sure an answer is: within each, how often it was right should be how sure it was."""


@dataclass(frozen=True)
class Result:
    """Of some rows: how many were right, the sum of their log losses (nats), and the processor's seconds of learning
    and asking."""

    rows: int
    right: int
    loss: float
    seconds: float
    gaps: list[list[float]]
    """For each step of how sure an answer was: the sum of that, and how many were right."""
    refused: str = ""
    folds: int = 1

    @property
    def accuracy(self) -> float:
        return self.right / self.rows

    @property
    def log_loss(self) -> float:
        return self.loss / self.rows

    @property
    def calibration(self) -> float:
        """The expected calibration error of the most probable class."""
        said, came = np.array(self.gaps)
        return float(np.abs(said - came).sum() / self.rows)

    @property
    def seconds_a_fold(self) -> float:
        return self.seconds / self.folds

    @classmethod
    def together(cls, parts: Sequence[Result]) -> Result:
        """All folds as one: every row of the set is predicted once."""
        return cls(
            sum(p.rows for p in parts),
            sum(p.right for p in parts),
            sum(p.loss for p in parts),
            sum(p.seconds for p in parts),
            np.sum([p.gaps for p in parts], axis=0).tolist(),
            next((p.refused for p in parts if p.refused), ""),
            len(parts),
        )


Results = dict[str, dict[str, Result]]
"""By the name of the set, then of the contestant."""
Column = NDArray[np.float64]


class Standings:
    """Contestants on several sets, those who have a result on every one."""

    def __init__(self, sets: Sequence[Set], results: Results) -> None:
        self.sets = sets
        self.names = [n for n in results[sets[0].name] if all(n in results[s.name] for s in sets)]
        self.rivals = [n for n in self.names if n in FIELD]
        self._results = [[results[s.name][n] for n in self.names] for s in sets]
        self.accuracy = self._matrix(lambda r: r.accuracy)
        self.log_loss = self._matrix(lambda r: r.log_loss)
        self.calibration = self._matrix(lambda r: r.calibration)
        self.seconds = self._matrix(lambda r: r.seconds_a_fold)

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
            "| calibration error | seconds: mean | most |",
            "|---|" + "---:|" * 11,
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
            cells.append(f"{self.of(name, self.calibration).mean():.3f}")
            cells += [f"{seconds.mean():.2f}", f"{seconds.max():.1f}"]
            out.append(f"| {' | '.join(cells)} |")
        return out


# -- aims ---------------------------------------------------------------------------------------------------


TIMES = {
    "adult": 5.0,
    "pmlb-connect_4": 8.0,
    "pmlb-letter": 3.0,
    "pmlb-krkopt": 4.0,
    "pmlb-fars": 2.5,
    "pmlb-churn": 15.0,
    "pmlb-magic": 15.0,
    "pmlb-german": 15.0,
}
"""Processor time at most, in LightGBM's."""
CALIBRATION = {True: 0.038, False: 0.03}
"""Mean calibration error at most, of the small sets and of the tables."""


def aim(what: str, measured: str, wanted: str, met: bool) -> str:
    return f"| {what} | {measured} | {wanted} | {'met' if met else 'missed'} |"


def _ranked_first(standings: Standings, within: Sequence[int]) -> list[str]:
    """By mean rank of log loss and of accuracy beside the rivals, among the first so many."""
    ranks, out = standings.beside(AUTO), []
    for k, what in enumerate(("log loss", "accuracy")):
        others = sorted((r[k], n) for n, r in ranks.items() if n != AUTO)
        mine, (bound, who) = ranks[AUTO][k], others[within[k] - 1]
        place = "first" if within[k] == 1 else f"among the first {within[k]}"
        out.append(aim(f"{place} by mean rank of {what}", f"{mine:.2f}", f"< {bound:.2f} ({who})", mine < bound))
    return out


def _at_most(what: str, measured: float, most: float, digits: int = 3) -> str:
    return aim(what, f"{measured:.{digits}f}", f"≤ {most:g}", measured <= most)


def aims(few: Sequence[Set], tables: Sequence[Set], results: Results) -> list[str]:
    """What `auto` should reach on the sets of KEEL and ARFF and on the tables, and whether it does."""
    out = ["| aim of `auto` | measured | wanted | |", "|---|---:|---:|---|"]
    for sets, within in ((few, (1, 1)), (tables, (1, 2))):
        standings = Standings(sets, results) if sets else None
        if standings is None or AUTO not in standings.names or not standings.rivals:
            continue
        out.append(f"| **{', '.join(sorted({s.kin for s in sets}))}** | | | |")
        out += _ranked_first(standings, within)
        loss, right = standings.of(AUTO, standings.log_loss).mean(), standings.of(AUTO, standings.accuracy).mean()
        if sets is few:
            out.append(_at_most("mean log loss", loss, 0.325))
            out.append(aim("mean accuracy", f"{right:.3f}", "≥ 0.872", right >= 0.872))
        for name, most in (("pmlb-connect_4", 0.42), ("pmlb-car", 0.03), ("adult", 0.274)):
            if name in {s.name for s in sets}:
                out.append(_at_most(f"log loss on {name}", results[name][AUTO].log_loss, most, 4))
        calibration = standings.of(AUTO, standings.calibration).mean()
        out.append(_at_most("mean calibration error", calibration, CALIBRATION[sets is few]))
        for data in sets:
            own = results[data.name]
            if data.name in TIMES and {AUTO, "LightGBM"} <= own.keys():
                ratio = own[AUTO].seconds_a_fold / own["LightGBM"].seconds_a_fold
                out.append(_at_most(f"processor time on {data.name}, in LightGBM's", ratio, TIMES[data.name], 1))
    return out


def where_slow_end(sets: Sequence[Set], results: Results, name: str) -> list[str]:
    """A contestant who is not done everywhere in time beside `auto`, on the sets where it is."""
    ended = [s for s in sets if name in results[s.name] and AUTO in results[s.name]]
    if not ended:
        return []
    pairs = [(results[s.name][AUTO], results[s.name][name]) for s in ended]
    loss, right, seconds = (
        [np.mean([figure(pair[k]) for pair in pairs]) for k in (0, 1)]
        for figure in (lambda r: r.log_loss, lambda r: r.accuracy, lambda r: r.seconds_a_fold)
    )
    better = sum(mine.log_loss < theirs.log_loss for mine, theirs in pairs)
    return [
        f"{name} was done within {rivals.MOST_SECONDS[name]} seconds a fold on {len(ended)} of {len(sets)} sets. "
        f"There, `{AUTO}` and {name}: mean log loss {loss[0]:.3f} and {loss[1]:.3f} ({AUTO} is better on {better}), "
        f"mean accuracy {right[0]:.3f} and {right[1]:.3f}, seconds a fold {seconds[0]:.1f} and {seconds[1]:.1f}.",
        "",
    ]


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
        "| contestant | log loss | rank | accuracy | rank | calibration error | seconds a fold |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for k, name in enumerate(names):
        r = results[name]
        mark = " (refused)" if r.refused else ""
        out.append(
            f"| {name}{mark} | {r.log_loss:.4f} | {ranks[0][k]:g} | {r.accuracy:.4f} | {ranks[1][k]:g} "
            f"| {r.calibration:.3f} | {r.seconds_a_fold:.2f} |"
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
    others = ", ".join((*rivals.KHIOPS, *rivals.BOOSTING[:4], KEEL))
    yield f"- likely {known_as} (a digest of its sources), {versions}, {others}"
    yield f"- Python {platform.python_version()}, {cores} cores, one thread each; load average {os.getloadavg()[1]:.1f}"


def page(sets: Sequence[Set], results: Results, known_as: str, command: str, took: float) -> str:
    """The whole page as Markdown."""
    few, tables = [s for s in sets if s.kin != "TABLES"], [s for s in sets if s.kin == "TABLES"]
    present = [n for n in FIELD if any(n in row for row in results.values())]
    most = ", ".join(f"{kin} {rows:,}" for kin, rows in MOST_ROWS.items())
    lines = [
        "# How good the probabilities are",
        "",
        "Written by `benchmarks/quality.py`; not to be changed by hand. What is measured, and how, is said in "
        "[README.md](README.md#quality).",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}, `{command}`, {took / 60:.1f} minutes for what an earlier run had not kept",
        *environment(known_as),
        f"- {FOLDS} stratified folds (fewer where the command says so), of sets of more than {LARGE:,} rows one; rows "
        f"at most: {most}",
        f"- log loss in nats, probabilities clipped at {CLIP:g}",
        "- mean rank: 1 is best. “Beside the rivals” is the rank in a field of "
        f"{', '.join(present)} and this one contestant; of a rival, among the rivals",
        f"- calibration error: of the most probable class, in {BINS} steps of equal width; mean over the sets",
        "- seconds of the processor: learning and predicting one fold; other things may have run at the same time",
        "",
        *aims(few, tables, results),
        "",
    ]
    for title, kin in (("sets of KEEL", "KEEL"), ("ARFF sets", "ARFF"), ("larger tables", "TABLES")):
        if part := [s for s in sets if s.kin == kin]:
            lines += [f"## {len(part)} {title}", "", *Standings(part, results).lines(), ""]
            for name in rivals.MOST_SECONDS:
                lines += where_slow_end(part, results, name)
    lines += [*refusals(results), "## Set by set", ""]
    for data in sets:
        lines += one_set(data, results[data.name])
    return "\n".join(lines)
