"""likely look writes a page: where, under which name, when not, and what it says of it."""

from __future__ import annotations

import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PAGES = True


def test_the_page_lands_in_this_folder_and_says_so(run, examples, tmp_path) -> None:
    ran = run("look", examples / "weather.csv", "play").done()
    assert ran.err == "The page is in 'play.html': open it in a browser.\n"
    text = (tmp_path / "play.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    for section in (
        "answer",
        "whatif",
        "bits",
        "attributes",
        "confusion",
        "learning",
        "comparison",
        "graph",
        "reproduce",
    ):
        assert f'<section id="{section}"' in text, section
    assert "weather.csv play" in text  # how it was asked for


def test_no_page_is_written_where_none_is_wanted(run, examples, tmp_path) -> None:
    for options in (["--no-page"], ["--json"], ["--md"]):
        assert run("look", examples / "weather.csv", "play", *options).done().err == ""
    assert not list(tmp_path.iterdir())
    run("look", examples / "weather.csv", "play", "--json", "-o", "here.html").done()
    assert [p.name for p in tmp_path.iterdir()] == ["here.html"]


def test_a_file_that_is_not_ours_is_left_alone(run, examples, tmp_path) -> None:
    mine = tmp_path / "play.html"
    mine.write_text("<p>my own</p>")
    assert "'play.likely.html'" in run("look", examples / "weather.csv", "play").done().err
    assert mine.read_text() == "<p>my own</p>"
    mine.unlink()
    run("look", examples / "weather.csv", "play").done()
    assert "'play.html'" in run("look", examples / "weather.csv", "play").done().err  # ours is replaced
    run("look", examples / "weather.csv", "play", "--out", mine).done()


def test_bad_places_are_refused_before_the_work(run, examples, tmp_path) -> None:
    run("look", examples / "weather.csv", "play", "-o", "no/where.html").refused("there is no folder")
    run("look", examples / "weather.csv", "play", "-o", tmp_path).refused("folder")
    run("look", examples / "weather.csv", "play", "-o", "a.html", "--no-page").refused("--no-page")
    run("look", examples / "weather.csv", "play", "--md", "--json").refused("--md")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(run, examples, tmp_path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "was not written" in run("look", examples / "weather.csv", "play").done().err
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("a/b", "a_b.html"),
        ("..", "page.html"),
        ("../../etc/passwd", "etc_passwd.html"),
        ("C:\\x", "C_x.html"),
        ("nul", "nul_.html"),
        ("größe in m²", "größe_in_m².html"),
        ("\x00\n", "page.html"),
        ("<script>alert(1)</script>", "script_alert_1_script.html"),
        (".hidden", "hidden.html"),
    ],
)
def test_names_of_targets_become_safe_names_of_files(run, tmp_path, target, name) -> None:
    assert page_of(run, tmp_path, target) == name


def test_a_long_name_fits_a_file_system(run, tmp_path) -> None:
    assert len(page_of(run, tmp_path, "ü" * 500).encode()) <= 90


def page_of(run, tmp_path, target: str) -> str:
    """The name of the page that a look at this target writes."""
    pq.write_table(pa.table({"x": ["u", "v"] * 5, target: ["a", "b"] * 5}), tmp_path / "t.parquet")
    run("look", "t.parquet", target).done()
    (page,) = tmp_path.glob("*.html")
    return page.name


def test_ugly_names_end_to_end(run, write, tmp_path) -> None:
    rows = "\n".join(f'"{a}",{k % 7},"{b}"' for k, (a, b) in enumerate([("<i>", "x=1"), ("[red]", ""), ("'", "ü")] * 9))
    write("ugly.csv", f'"</script>","a ""b"" = c","<img src=x onerror=y>"\n{rows}\n')
    ran = run("look", "ugly.csv", "<img src=x onerror=y>").done()
    assert "'img_src_x_onerror_y.html'" in ran.err
    assert "<img" not in (tmp_path / "img_src_x_onerror_y.html").read_text(encoding="utf-8")


def test_a_table_from_standard_input_has_a_page(run, examples, tmp_path) -> None:
    run("look", "-", "play", stdin=(examples / "weather.csv").read_bytes()).done()
    assert '<section id="answer"' in (tmp_path / "play.html").read_text(encoding="utf-8")


def test_a_table_that_is_not_small_is_studied_only_when_asked(run, write, tmp_path) -> None:
    names = ",".join(f"c{k}" for k in range(60))
    lines = "\n".join(",".join(str((k * j) % 3) for j in range(60)) + f",{'pq'[k % 2]}" for k in range(45))
    write("wide.csv", f"{names},y\n{lines}\n")
    for options, there in (([], False), (["--study"], True)):
        run("look", "wide.csv", "y", "--learner", "NaiveBayes", "--folds", "2", *options).done()
        assert ('<section id="comparison"' in (tmp_path / "y.html").read_text(encoding="utf-8")) == there


def test_markdown_is_markdown(run, examples) -> None:
    out = run("look", examples / "iris.csv", "species", "--md", "--all").done().out
    assert out.startswith("# species in iris.csv: 150 rows")
    lines = out.splitlines()
    table = lines[lines.index("## Classes") + 2 :]
    assert table[0].startswith("| class | rows | share |") and table[1].startswith("| :--- | ---: | ---: |")
    assert table[2].startswith("| Iris-setosa | 50 | 33.3 % |")


def test_json_has_reliability_but_no_model(run, examples) -> None:
    found = json.loads(run("look", examples / "iris.csv", "species", "--json").done().out)
    assert found["calibration"][0]["bins"] and not {"model", "plane"} & found.keys()


def test_the_template_engine_is_loaded_only_for_a_page(process, examples, tmp_path) -> None:
    program = "import sys; from likely.cli import run; run(sys.argv[1:]); sys.exit('jinja2' in sys.modules)"
    import subprocess

    for options, loaded in ((["--no-page"], 0), ([], 1)):
        words = [sys.executable, "-c", program, "look", str(examples / "weather.csv"), "play", *options]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        assert subprocess.run(words, cwd=tmp_path, capture_output=True, env=env).returncode == loaded


def test_the_page_is_opened_where_that_is_asked_for(process, run, tmp_path, examples) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/shown"\n')
    browser.chmod(0o755)
    ran = process("look", examples / "weather.csv", "play", "--open", "--json", BROWSER=f"{browser} %s")
    out, err = ran.communicate(timeout=120)
    assert ran.returncode == 0, err
    assert (tmp_path / "shown").read_text().strip() == (tmp_path / "play.html").as_uri()
    assert out.startswith(b"{") and b"play.html" in err
    run("look", examples / "weather.csv", "play", "--open", "--no-page").refused("--open", "--no-page")
