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
from newsgroups import Split, postings, splits
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB

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
    "log tf-idf, LogisticRegression": (_log_tf_idf, lambda: LogisticRegression(C=10, max_iter=200)),
}
"""What is made of the counts of words, and what learns from it."""
AIMS = {"random third, headers kept": 0.915, "by date, headers kept": 0.84}


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def verdict(met: bool) -> str:
    return "met" if met else "missed"


# -- how well -----------------------------------------------------------------------------------------------


def judged(truth: list[str], classes: Any, chances: Any) -> tuple[float, float]:
    """Accuracy, and log loss in nats."""
    names = np.asarray(classes)
    loss = log_loss(truth, np.clip(chances, 1e-300, None), labels=names)
    return float(np.mean(names[np.argmax(chances, 1)] == np.asarray(truth))), float(loss)


def ours_on(split: Split, learner: Any) -> tuple[float, float, Any]:
    model = likely.fit(split.train, "group", learner, types={"text": "text"})
    return *judged(split.test["group"].to_pylist(), model.classes, model.posterior(split.test).matrix), model


def peers(texts: Any, truth: Any, new: Any, with_regression: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each peer by name, its classes, and its probabilities of new texts."""
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(texts), vectorizer.transform(new)
    for name, (weigh, learner) in PEERS.items():
        if "Logistic" in name and not with_regression:
            continue
        old, later = counts
        if weigh is not None:
            weighed = weigh().fit(old)
            old, later = weighed.transform(old), weighed.transform(later)
        peer = learner().fit(old, truth)
        yield name, peer.classes_, peer.predict_proba(later)


def quality(whole: pa.Table, with_regression: bool) -> list[str]:
    """A table of accuracies and log losses, a column for each split."""
    parts = splits(whole)
    rows: dict[str, list[tuple[float, float]]] = {}
    told = []
    for split in parts:
        *found, model = ours_on(split, likely.NaiveBayes())
        rows.setdefault("**likely, by itself**", []).append((found[0], found[1]))
        told.append(f"- {split.name}: {'; '.join(str(n) for n in model.notes) or 'nothing to tell'}")
        say(f"{split.name}: likely {found[0]:.4f} {found[1]:.3f}")
        truth = split.test["group"].to_pylist()
        texts = split.train["text"].to_pylist(), split.test["text"].to_pylist()
        for name, classes, chances in peers(texts[0], split.train["group"].to_pylist(), texts[1], with_regression):
            rows.setdefault(name, []).append(judged(truth, classes, chances))
            say(f"  {name}: {rows[name][-1][0]:.4f} {rows[name][-1][1]:.3f}")
    lines = ["| accuracy (log loss in nats) | " + " | ".join(s.name for s in parts) + " |", "|---" * 5 + "|"]
    for name, cells in rows.items():
        lines.append(f"| {name} | " + " | ".join(f"{a:.4f} ({x:.3f})" for a, x in cells) + " |")
    best = [max(c[k][0] for n, c in rows.items() if "NB" in n) for k in range(len(parts))]
    own = [c[0] for c in rows["**likely, by itself**"]]
    ahead = [f"ahead: {verdict(o > b)}" for o, b in zip(own, best, strict=True)]
    for k, (split, accuracy) in enumerate(zip(parts, own, strict=True)):
        if split.name in AIMS:
            ahead[k] = f"≥ {AIMS[split.name]:g}: {verdict(accuracy >= AIMS[split.name])}; {ahead[k]}"
    lines.append("| aim (ahead: of every naive Bayes here) | " + " | ".join(ahead) + " |")
    return [*lines, "", "What `NaiveBayes()` chose from the training part:", "", *told, ""]


def spam(folder: Path, with_regression: bool) -> list[str]:
    """Ten folds of the SMS spam collection."""
    table = pq.read_table(folder / "sms_spam.parquet", columns=["label", "text"])
    truth, texts = np.asarray(table["label"].to_pylist()), np.asarray(table["text"].to_pylist(), object)
    lines = ["| SMS spam, ten folds | accuracy | precision | recall | log loss in nats |", "|---|---|---|---|---|"]
    folds = [*StratifiedKFold(10, shuffle=True, random_state=0).split(texts, truth)]
    found: dict[str, Any] = {}
    for train, test in folds:
        model = likely.fit(table.take(train), "label", likely.NaiveBayes(), types={"text": "text"})
        answers = [("**likely, by itself**", model.classes, model.posterior(table.take(test)).matrix)]
        answers += peers(texts[train], truth[train], texts[test], with_regression)
        for name, classes, chances in answers:
            assert [*classes] == ["ham", "spam"]
            found.setdefault(name, np.zeros((len(truth), 2)))[test] = chances
    for name, chances in found.items():
        accuracy, loss = judged(truth.tolist(), ["ham", "spam"], chances)
        named = np.asarray(["ham", "spam"])[np.argmax(chances, 1)]
        exact = precision_score(truth, named, pos_label="spam"), recall_score(truth, named, pos_label="spam")
        lines.append(f"| {name} | {accuracy:.4f} | {exact[0]:.4f} | {exact[1]:.4f} | {loss:.3f} |")
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
    lines.append(against("from Parquet to predictions", *guesses, 10))
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
    ((chosen, busy),) = turns(1, lambda: likely.fit(path, "group", likely.NaiveBayes()))
    lines.append(
        f"| the same, settings of text chosen (`NaiveBayes()`) | {chosen:.2f} s | | {busy:.2f} s of the processor |"
    )
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


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--out", type=Path, default=HERE / "TEXT.md")
    options.add_argument("--without-regression", action="store_true", help="leave the slowest contestant out")
    options.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = options.parse_args()
    warnings.filterwarnings("ignore")
    if asked.child:
        return child(*asked.child)
    load, less = os.getloadavg()[0], " --without-regression" if asked.without_regression else ""
    whole = postings(asked.data)
    with tempfile.TemporaryDirectory() as folder:
        fast = speed(whole, Path(folder), asked.turns)
    well = quality(whole, not asked.without_regression)
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
        "## How well: 20 Newsgroups",
        "",
        *well,
        "## How well: SMS spam",
        "",
        *sms,
    ]
    asked.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
