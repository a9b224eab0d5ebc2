"""The quality benchmark: log loss, accuracy and calibration of likely's learners beside their rivals, on many sets.

Every (set, fold, contestant, version) is measured once and kept, so that a run can be stopped, resumed and shared
between processes. Writes QUALITY.md; standings.py makes the tables.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import rivals
from sets import FOLDS, MOST_ROWS, TARGET, Codes, Set, all_places
from standings import BINS, CLIP, Result, Results, page
from threadpoolctl import threadpool_limits

import likely

HERE = Path(__file__).resolve().parent
PROTOCOL = 2
"""Part of every version: raise it when sets, folds, preparation or scores change, and all is measured anew."""

MEMBERS: tuple[dict[str, Any], ...] = (
    {"name": "NaiveBayes"},
    {"name": "NaiveBayes", "numbers": "binned"},
    {"name": "TreeAugmented"},
    {"name": "OneDependence"},
    {"name": "Logistic"},
    {"name": "Neighbors", "k": 10},
)
OURS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("auto", "Auto", {}),
    ("NaiveBayes, tuned", "TunedNaiveBayes", {}),
    ("NaiveBayes", "NaiveBayes", {}),
    ("NaiveBayes, binned", "NaiveBayes", {"numbers": "binned"}),
    ("TreeAugmented", "TreeAugmented", {}),
    ("OneDependence", "OneDependence", {}),
    ("Logistic", "Logistic", {}),
    ("Neighbors, k=10", "Neighbors", {"k": 10}),
    ("Mixture of these six", "Mixture", {"members": MEMBERS, "weights": "held-out"}),
)
"""Likely's contestants: title, public name, settings. One that likely does not have is left out, and said."""

Answer = tuple[rivals.Matrix, float, str]
"""P(class | row) of the test rows, the processor's seconds, and why it refused (then the matrix holds the shares of
the classes)."""


@dataclass(frozen=True)
class Contestant:
    """Somebody who learns from some rows of a set and says probabilities for others."""

    name: str
    version: str
    ask: Callable[[Set, Codes, Codes], Answer]


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


# -- contestants --------------------------------------------------------------------------------------------


def sources() -> str:
    """Likely's version with a digest of those sources that learning imports: a change of them is another contestant."""
    load_kernels(Contestant("auto", "", partial(by_likely, likely.Auto())))
    digest = hashlib.sha256()
    for name in sorted(n for n in sys.modules if n.split(".")[0] == "likely"):
        digest.update(name.encode() + b"\0" + Path(str(sys.modules[name].__file__)).read_bytes())
    return f"{likely.__version__}+{digest.hexdigest()[:8]}"


def shares(data: Set, train: Codes, test: Codes) -> rivals.Matrix:
    """What is counted for one who refuses: the shares of the classes among the rows to learn from."""
    return np.tile(np.bincount(data.codes[train], minlength=len(data.classes)) / len(train), (len(test), 1))


def by_likely(learner: Any, data: Set, train: Codes, test: Codes) -> Answer:
    """Likely is given texts and finds out itself what is a number; levels that ARFF declares are levels."""
    kinds = {n: "nominal" for n in data.columns if data.declared and n not in data.numeric}
    learning, asking = data.table(train, True), data.table(test, False)
    out = np.zeros((len(test), len(data.classes)))
    start = time.process_time()
    try:
        model = likely.fit(learning, TARGET, learner, types=kinds, threads=1)
        found = model.posterior(asking)
    except likely.LikelyError as refusal:
        return shares(data, train, test), time.process_time() - start, str(refusal)
    seconds = time.process_time() - start
    out[:, [data.classes.index(name) for name in found.classes]] = found.matrix
    return out, seconds, ""


def our_contestants(known_as: str) -> list[Contestant]:
    out = []
    for title, name, settings in OURS:
        try:
            learner = getattr(likely, name)(**settings)
        except (AttributeError, TypeError) as why:
            say(f"{title} is left out: {why}.")
            continue
        settled = hashlib.sha256(repr(learner).encode()).hexdigest()[:6]

        out.append(Contestant(title, f"{known_as}-{settled}", partial(by_likely, learner)))
    return out


def their_contestants(folder: Path) -> list[Contestant]:
    out = []
    for name in rivals.SCIKIT:

        def ask(data: Set, train: Codes, test: Codes, name: str = name) -> Answer:
            try:
                return *rivals.by_scikit(name, data, train, test), ""
            except ValueError as refusal:
                return shares(data, train, test), 0.0, str(refusal).splitlines()[0]

        out.append(Contestant(name, version("scikit-learn"), ask))
    for name in rivals.BOOSTERS:

        def ask_boosting(data: Set, train: Codes, test: Codes, name: str = name) -> Answer:
            return *rivals.Boosting(folder, name)(data, train, test), ""

        known = next(one for one in rivals.BOOSTING if one.startswith(rivals.BOOSTERS[name]))
        out.append(Contestant(name, known.split("==")[1], ask_boosting))
    for name, trees in rivals.TREES.items():

        def ask_khiops(data: Set, train: Codes, test: Codes, trees: int = trees) -> Answer:
            # Its environment is made only where something is left to measure.
            return *rivals.Khiops(folder, trees)(data, train, test), ""

        out.append(Contestant(name, rivals.KHIOPS[0].split("==")[1], ask_khiops))
    return out


def load_kernels(contestant: Contestant) -> None:
    """Let it learn a small table with numbers and levels, so that compiling is not measured."""
    count = 90
    columns: dict[str, list[str | None]] = {
        "a0": [f"{k % 7 + k / 100:.2f}" for k in range(count)],
        "a1": [f"{k % 11 + k / 50:.2f}" for k in range(count)],
        "a2": [f"level {k % 4}" for k in range(count)],
        "a3": [f"level {k % 3}" for k in range(count)],
    }
    small = Set("small", "", columns, frozenset({"a0", "a1"}), False, ["ca", "cb", "cb"] * (count // 3))
    for train, test in small.folds()[:1]:
        contestant.ask(small, train, test)


# -- measuring ----------------------------------------------------------------------------------------------


def scored(data: Set, test: Codes, answer: Answer) -> Result:
    """Right answers and the sum of log losses. The answer is the most probable class, the first of equals.

    A row without probabilities (impossible under every class) gets equal ones by the clipping.
    """
    matrix, seconds, refused = answer
    matrix = np.nan_to_num(matrix, nan=0.0)
    truth = data.codes[test]
    clipped = np.clip(matrix, CLIP, 1.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    loss = -np.log(clipped[np.arange(len(test)), truth])
    hit = matrix.argmax(axis=1) == truth
    sure = clipped.max(axis=1)
    place = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    said, came = (np.bincount(place, weights, BINS) for weights in (sure, hit))
    gaps = np.stack([said, came]).tolist()
    return Result(len(test), int(hit.sum()), float(loss.sum()), seconds, gaps, refused)


def kept(folder: Path, data: Set, fold: int, contestant: Contestant) -> Path:
    words = (contestant.name, contestant.version, f"protocol {PROTOCOL}", f"fold {fold}")
    return folder / "results" / data.kin / data.name / (re.sub(r"[^\w.+]+", "-", " ".join(words)) + ".json")


def measured(
    folder: Path, data: Set, contestants: Iterable[Contestant], warm: set[str], count: int
) -> dict[str, Result]:
    """The results of all contestants on a set, the first folds together; what is in the folder is kept.

    Whoever is not done within the time that one fold may take has no result.
    """
    out, folds = {}, data.folds()[:count]
    for contestant in contestants:
        parts = []
        for fold, (train, test) in enumerate(folds):
            path = kept(folder, data, fold, contestant)
            if path.exists():
                parts.append(Result(**json.loads(path.read_text())))
                continue
            if contestant.name not in warm:
                load_kernels(contestant)
                warm.add(contestant.name)
            try:
                answer = contestant.ask(data, train, test)
            except rivals.TooSlow as late:
                say(f"  {data.name}, {contestant.name}: {late}")
                parts = []
                break
            result = scored(data, test, answer)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(asdict(result)))
            part.replace(path)
            parts.append(result)
        if not parts:
            continue
        total = out[contestant.name] = Result.together(parts)
        figures = f"accuracy {total.accuracy:.3f}, log loss {total.log_loss:.3f}, {total.seconds:.1f} s"
        say(f"  {data.name}, {contestant.name}: {figures}")
    return out


def chosen(names: list[str] | None, all_of_them: dict[str, Any], what: str) -> list[Any]:
    """Those that were asked for, in the usual order."""
    if not names:
        return list(all_of_them.values())
    unknown = sorted(set(names) - set(all_of_them))
    if unknown:
        sys.exit(f"There is no {what} {', '.join(unknown)}. There are: {', '.join(all_of_them)}.")
    return [one for name, one in all_of_them.items() if name in names]


def main() -> None:
    options = argparse.ArgumentParser(description="Measure the quality of likely; see README.md beside this file.")
    options.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "likely-quality",
        help="folder for downloads, Khiops's environment, and results (default: in the system's temporary folder)",
    )
    options.add_argument("--only", nargs="+", metavar="NAME", help="contestants, or 'rivals', or 'likely'")
    options.add_argument("--sets", nargs="+", metavar="SET", help="sets, or 'KEEL', 'ARFF', 'TABLES'")
    options.add_argument("--folds", type=int, default=FOLDS, help=f"only the first so many of {FOLDS} folds")
    options.add_argument("--out", type=Path, help="where the page goes; QUALITY.md where nothing was left out")
    asked = options.parse_args()
    os.environ["LIKELY_THREADS"] = "1"
    start, known_as = time.perf_counter(), sources()
    ours, theirs = our_contestants(known_as), their_contestants(asked.cache)
    groups = {"likely": [c.name for c in ours], "rivals": [c.name for c in theirs]}
    wanted = [name for given in asked.only or [] for name in groups.get(given, [given])]
    contestants = chosen(wanted, {c.name: c for c in ours + theirs}, "contestant")
    places = all_places(asked.cache)
    kins = {kin: [p.name for p in places if p.kin == kin] for kin in MOST_ROWS}
    named = [name for given in asked.sets or [] for name in kins.get(given, [given])]
    todo = chosen(named, {p.name: p for p in places}, "set")
    sets: list[Set] = []
    results: Results = {}
    warm: set[str] = set()
    with threadpool_limits(limits=1):
        for number, place in enumerate(todo, 1):
            data = place.read()
            say(f"{number} of {len(todo)}: {data.name}, {data.rows:,} rows")
            results[data.name] = measured(asked.cache, data, contestants, warm, asked.folds)
            sets.append(data)
    few = [str(asked.folds)] if asked.folds < FOLDS else None
    told = [("--only", asked.only), ("--sets", asked.sets), ("--folds", few)]
    words = [word for option, given in told if given for word in (option, *map(shlex.quote, given))]
    command = " ".join(["python benchmarks/quality.py", *words])
    text = page(sets, results, known_as, command, time.perf_counter() - start)
    out = asked.out or (None if asked.only or asked.sets else HERE / "QUALITY.md")
    if out is None:
        print(text)
    else:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
