"""How sure: coverage and size of sets, and what intervals hold, on rows that were neither learned from nor judged by.

Half of a set (at most 3,000 rows) is learned from by the default, the rest is predicted, several times. Beside it MAPIE
and crepes make sets, and venn-abers intervals, of the same held-out answers. `python benchmarks/sureness.py --cache DIR
--splits 20` writes SURENESS.md; `--kinds KEEL ARFF` takes these collections alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sets import TARGET, all_places, own_environment

import likely
from likely.models.shapes.guarantee import Guarantee, _place

LEVEL, MOST_LEARNED, MOST_ASKED, BIN = 0.9, 3_000, 3_000, 40
RIVALS = "mapie==1.6.0", "crepes==0.9.1", "venn-abers==1.5.4", "scikit-learn"
HERE = Path(__file__).resolve().parent


def measured(inside: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The share of rows whose class is in the set, and how many classes sets hold."""
    hit = (truth >= 0) & inside[np.arange(len(truth)), np.maximum(truth, 0)]
    return float(hit.mean()), float(inside.sum(axis=1).mean())


def ask_rivals(python: Path, said: np.ndarray, truth: np.ndarray, asked: np.ndarray) -> dict[str, Any]:
    """Sets and intervals by others, in an environment of their own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.npz"
        np.savez(file, said=said, truth=truth, asked=asked, level=LEVEL)
        done = subprocess.run([python, HERE / "sureness_run.py", file], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def apart(python: Path) -> tuple[float, int]:
    """How far Venn-Abers probabilities are from those of venn-abers, and in how many of 1,200 sets a class differs from
    those of crepes by class, on made scores: rows that count one each, of which none are put together."""
    furthest, differing = 0.0, 0
    for seed in range(3):
        draw = np.random.default_rng(seed)
        chance, new = draw.random(400).round(2), draw.random(400)
        truth = (draw.random(400) < chance).astype(np.int64)
        said, asked = (np.stack([1 - p, p], axis=1) for p in (chance, new))
        ours, theirs = Guarantee.of(said, truth, np.ones(400)), ask_rivals(python, said, truth, asked)
        values = ours._isotonic[1][_place(ours.steps[1], new)][:, [0, 2]]
        furthest = max(furthest, float(np.abs(values - np.array(theirs["venn"])).max()))
        inside = asked >= ours.limits(LEVEL)
        differing += int((inside != np.array(theirs["sets"]["crepes, by class"], bool)).any(axis=1).sum())
    return furthest, differing


def bins_held(low: np.ndarray, high: np.ndarray, said: np.ndarray, truth: np.ndarray) -> tuple[list[bool], list[float]]:
    """For rows of about the same probability, whether the share of the class lies within their mean interval, as far as
    so few rows tell (Wilson's bounds of the bin, at the level of the intervals); and the widths."""
    held, widths = [], []
    for k in range(said.shape[1]):
        order = np.argsort(said[:, k], kind="stable")
        for some in np.array_split(order, max(min(10, len(order) // BIN), 1)):
            share, rows, z = float((truth[some] == k).mean()), len(some), 1.645
            middle = (share + z * z / 2 / rows) / (1 + z * z / rows)
            half = z / (1 + z * z / rows) * np.sqrt(share * (1 - share) / rows + z * z / 4 / rows**2)
            held.append(bool(low[some, k].mean() <= middle + half and high[some, k].mean() >= middle - half))
            widths.append(float((high - low)[some, k].mean()))
    return held, widths


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cache", type=Path, required=True, metavar="DIR")
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--sets", nargs="*", help="these alone; nothing is written")
    options.add_argument("--kinds", nargs="*", default=["KEEL", "ARFF", "TABLES"], help="collections of sets")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    python = own_environment(asked.cache / "sureness", *RIVALS)
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    held, widths = list[bool](), list[float]()
    for place in all_places(asked.cache):
        if place.kin not in asked.kinds or (asked.sets and place.name not in asked.sets):
            continue
        data = place.read()
        if data.rows < 150:
            continue
        for split in range(asked.splits):
            order = np.random.default_rng(split).permutation(data.rows)
            cut = min(data.rows // 2, MOST_LEARNED)
            train, test = order[:cut], order[cut : cut + MOST_ASKED]
            model = likely.fit(data.table(train, True), TARGET)
            answers = model.held_out_answers
            if answers is None:
                continue
            place_of = {name: k for k, name in enumerate(model.classes)}
            truth = np.array([place_of.get(data.target[i], -1) for i in test])
            answer, said = model.posterior(data.table(test, False)), np.exp(answers.logs)
            each = found[place.name]
            each["likely"].append(measured(answer.sets(LEVEL), truth))
            guarantee = Guarantee.of(said, answers.truth, answers.weight, answers.squares)
            each["likely, empty sets left empty"].append(measured(answer.matrix >= guarantee.limits(LEVEL), truth))
            gone = np.random.default_rng([split, 1]).random((len(test), len(data.columns)))
            gone = (
                gone.argsort(axis=1).argsort(axis=1)
                < np.random.default_rng([split, 2]).integers(1, len(data.columns) + 1, len(test))[:, None]
            )
            cells = {n: list(c) for n, c in data.table(test, False).to_pydict().items()}
            for (name, column), out in zip(cells.items(), gone.T, strict=True):
                cells[name] = [None if away else value for value, away in zip(column, out, strict=True)]
            each["likely, some cells unknown"].append(measured(model.posterior(cells).sets(LEVEL), truth))
            low, high = answer.intervals(LEVEL)
            more = bins_held(low, high, answer.matrix, truth)
            held += more[0]
            widths += more[1]
            # Rows that were put together weigh more than one, which others do not know.
            if (answers.weight == 1).all() and len({*answers.truth.tolist()}) == len(model.classes):
                for name, sets in ask_rivals(python, said, answers.truth, answer.matrix)["sets"].items():
                    each[name].append(measured(np.array(sets, bool), truth))
        print(
            place.name, {n: np.round(np.mean(v, axis=0), 3).tolist() for n, v in found[place.name].items()}, flush=True
        )
    text = page(found, held, widths, apart(python), asked.splits, asked.kinds)
    print(text)
    if not asked.sets:
        (HERE / "SURENESS.md").write_text(text)


def page(
    found: dict[str, dict[str, list[tuple[float, float]]]],
    held: list[bool],
    widths: list[float],
    other: tuple[float, int],
    splits: int,
    kinds: list[str],
) -> str:
    """The figures, as Markdown."""
    names = [
        "likely",
        "likely, empty sets left empty",
        "likely, some cells unknown",
        "MAPIE, LAC",
        "crepes",
        "crepes, by class",
    ]
    whole = [s for s in found.values() if all(n in s for n in names)]
    lines = [
        "# How sure: sets and intervals",
        "",
        f"Sets that are to hold the true class of {100 * LEVEL:g} % of the rows; the default, learned from half "
        f"of each of {len(found)} sets, {splits} splits. Written by "
        f"`python benchmarks/sureness.py --cache DIR --splits {splits}`, of {', '.join(kinds)}.",
        "",
        "| | coverage, mean | lowest of a set | classes in a set, where all were compared |",
        "|---|---:|---:|---:|",
    ]
    for name in names:
        means = {one: np.mean(each[name], axis=0) for one, each in found.items() if name in each}
        if not means:
            continue
        cover = np.array([own[0] for own in means.values()])
        worst = min(means, key=lambda one: means[one][0])
        size = np.mean([np.mean(own[name], axis=0)[1] for own in whole]) if whole else np.nan
        lines.append(f"| {name} | {100 * cover.mean():.1f} % | {100 * cover.min():.1f} % ({worst}) | {size:.3f} |")
    lines += [
        "",
        f"Of {len(held):,} bins of rows of about the same probability, {100 * np.mean(held):.1f} % came out within "
        f"their {100 * LEVEL:g} % intervals, as far as so few rows tell; mean width {np.mean(widths):.3f}.",
        f"On made scores Venn-Abers probabilities differ from those of venn-abers by {other[0]:.1g} at most, and "
        f"{other[1]} of 1,200 sets from those of crepes by class.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
