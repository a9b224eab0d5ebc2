"""Text on the command line: what is chosen is said, options reach the model, and what is wrong is a sentence."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import likely

NAME = 'the "body"=[red]'


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    """Four hundred mails; the text column has a nasty name, some texts are empty, one class is."""
    rng = np.random.default_rng(5)
    words = {"spam": ["win", "free", "cash [bold]"], "=ham": ["lunch", "report", "équipe"], "": ["?"]}
    path = tmp_path / "mails.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([NAME, "n", "label"])
        for k in range(400):
            label = ["spam", "=ham"][int(rng.integers(2))]
            text = [rng.choice(words[label] if rng.random() < 0.4 else ["the", "a", "to"]) for _ in range(12)]
            out.writerow(["" if k % 13 == 0 else " ".join(text) + f" nr {k}", k % 7, label if k % 50 else ""])
    return path


def test_fit_says_what_it_chose_and_show_writes_it_down(mails: Path, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("fit", mails, "label", "--learner", "NaiveBayes", "-o", tmp_path / "m.likely")
    assert done.code == 0 and "chosen by log loss on held-out rows" in done.err
    done = run("show", tmp_path / "m.likely", "--spec")
    assert "[learner.text]" in done.out
    (tmp_path / "spec.toml").write_text(done.out)
    assert run("fit", mails, "label", "-o", tmp_path / "n.likely", "--spec", tmp_path / "spec.toml").code == 0
    assert run("diff", tmp_path / "m.likely", tmp_path / "n.likely").out.startswith("Both make the same assumptions")
    new = tmp_path / "new.csv"
    with new.open("w", newline="") as file:
        csv.writer(file).writerows([[NAME, "n"], ["win win zebra", "1"], ["", "2"]])
    done = run("predict", tmp_path / "m.likely", new)
    assert done.code == 0 and "1 of 3 words of" in done.err and len(done.out.splitlines()) == 3


def test_options_reach_the_model(mails: Path, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    stop = tmp_path / "stop.txt"
    stop.write_text("the\nA to")
    done = run(
        "fit", mails, "label", "-o", tmp_path / "m.likely", "--text", "complement", "--damping", "log", "--most-words",
        "50", "--least-documents", "2", "--word-pairs", "--stop-words", stop, "--shortest-word", "2",
    )  # fmt: skip
    assert done.code == 0
    model = likely.load(tmp_path / "m.likely")
    how = model.chosen[NAME]
    assert (how.model, how.damping, how.most_words, how.least_documents) == ("complement", "log", 50, 2)
    assert model.schema[NAME].tokens == likely.Tokens(2, True, ("a", "the", "to"))
    (tmp_path / "spec.toml").write_text(run("show", tmp_path / "m.likely", "--spec").done().out, encoding="utf-8")
    run("fit", mails, "--spec", tmp_path / "spec.toml", "-o", tmp_path / "again.likely").done()
    assert likely.load(tmp_path / "again.likely").schema[NAME].tokens == model.schema[NAME].tokens
    done = run("fit", mails, "label", "-o", tmp_path / "g.likely", "--char-grams", "2,3", "--vocabulary", "100")
    assert done.code == 0
    assert likely.load(tmp_path / "g.likely").schema[NAME].tokens == likely.Tokens(grams=(2, 3), vocabulary=100)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--char-grams", "x"], "neither a number nor two"),
        (["--char-grams", "3,2"], "the smaller one first"),
        (["--char-grams", "2", "--word-pairs"], "Use one of the two"),
        (["--stop-words", "nowhere.txt"], "Give a file with the words to ignore"),
        (["--vocabulary", "0"], "is impossible"),
        (["--most-words", "0"], "whole number"),
        (["--text", "bernoulli", "--damping", "log"], "have no place"),
        (["--learner", "TreeAugmented", "--text", "bernoulli"], "TreeAugmented has no setting 'text'"),
        (["--set", "text={modell='complement'}"], "Did you mean 'model'"),
        (["--set", "text=poisson"], "must be one of"),
    ],
)
def test_what_is_wrong_is_a_sentence(mails: Path, run, tmp_path: Path, options: list[str], sentence: str) -> None:  # type: ignore[no-untyped-def]
    done = run("fit", mails, "label", "-o", tmp_path / "m.likely", *options)
    assert done.code == 2 and sentence in " ".join(done.err.split()), done.err


def test_other_learners_say_that_text_is_left_out(mails: Path, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("fit", mails, "label", "-o", tmp_path / "t.likely", "--learner", "TreeAugmented")
    assert done.code == 0 and "only NaiveBayes and TextLogistic can use; it is left out" in " ".join(done.err.split())


def test_what_is_not_sound_utf_8_is_refused_or_replaced(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [b"win cash now \xff " + str(k).encode() for k in range(60)]
    cells = pa.array(texts, pa.binary()).view(pa.string())
    table = pa.table({"t": cells, "y": pa.array(["a", "b"] * 30)})
    pq.write_table(table, tmp_path / "t.parquet")
    common = ("fit", tmp_path / "t.parquet", "y", "--type", "t=text", "-o", tmp_path / "m.likely")
    assert run(*common).code == 2
    assert run(*common, "--replace-invalid").code == 0
    assert run("predict", tmp_path / "m.likely", tmp_path / "t.parquet").code == 2
    assert run("predict", tmp_path / "m.likely", tmp_path / "t.parquet", "--replace-invalid").code == 0
