"""`likely predict --remarks`: a column on what training did not have."""

from __future__ import annotations

import csv

import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predictions_with_remarks(run, examples, tmp_path, ending: str) -> None:
    (tmp_path / "new.csv").write_text("species,island,body_mass_g\nAdelie,Dream,3700\n=Emperor,Biscoe,50000\n")
    model, new, out = tmp_path / "m.likely", tmp_path / "new.csv", tmp_path / f"out.{ending}"
    run("fit", examples / "penguins.csv", "sex", "-o", model).done()
    run("predict", model, new, "--remarks", "--keep", "-o", out).done()
    if ending == "csv":
        with out.open(newline="") as file:
            found = [row["remarks"] for row in csv.DictReader(file)]
    else:
        found = [text or "" for text in pq.read_table(out)["remarks"].to_pylist()]
    beyond = "body_mass_g is beyond training (2700 to 6300)"
    assert found == ["", f"{beyond}; species has a level that training did not have"]
    run("predict", model, new, "-o", tmp_path / "plain.csv").done()
    assert "remarks" not in (tmp_path / "plain.csv").read_text()


def test_explain_says_what_is_beyond(run, examples, tmp_path) -> None:
    model = tmp_path / "m.likely"
    run("fit", examples / "penguins.csv", "sex", "-o", model).done()
    out = run("explain", model, "species=Gentoo", "body_mass_g=50000").done().out
    assert "body_mass_g=50000 is beyond all values of training (2700 to 6300)." in out
    out = run("explain", model, "species=Gentoo", "body_mass_g=3000").done().out
    assert "These values hardly occurred together in training: take this answer with care." in out
