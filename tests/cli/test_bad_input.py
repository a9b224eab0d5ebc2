"""Every bad table or setting is refused by a sentence that names the place and the remedy, with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

GOOD = "a,b,c\n1.5,x,y\n2.5,z,n\n3.5,x,y\n4.5,z,n\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["t.csv is empty", "header line"]),
        ("\n \n\n", ["t.csv is empty"]),
        ("a,b,c\n", ["no rows", "below its header"]),
        ("a,b,c\n1,2,y\n", ["same class 'y'", "another target"]),
        ("a,b,c\n1,2,y\n2,3,y\n", ["same class 'y'"]),
        ("a,b,a,c\n1,2,3,y\n", ["more than once", "'a'"]),
        ("a,b,c\n1,2,y\n1,2\n", ["Line 3", "2 cells", "header has 3"]),
        ("a,b,c\n1,2,y\n1,2,n,4\n", ["Line 3", "4 cells"]),
        (b"a,b,c\n1,2,y\n1,\x002,n\n", ["Line 3", "NUL", "--encoding"]),
        ('a,b,c\n1,2,y\n"1,2,n\n3,4,y\n', ["quote"]),
        ("a,b,d\n1,2,y\n2,3,n\n", ["no column 'c'", "There are: 'a', 'b', 'd'"]),
        ("a,b,C\n1,2,y\n2,3,n\n", ["no column 'c'", "Did you mean 'C'"]),
        ("a,b,c\n" + "".join(f"{k},x,{k / 7}\n" for k in range(100)), ["many values", "--target-bins 4"]),
        ("a,b,c\n" + "".join(f"{k},x,v{k}\n" for k in range(1500)), ["1,500 different values", "Choose another"]),
        ("a,b,c\n1,2,\n2,3,?\n", ["None of the 2 rows", "class in column 'c'"]),
        (",".join(f"c{k}" for k in range(60_000)) + ",c\n" + "1," * 60_000 + "y\n", ["60,001 columns", "50,000"]),
        (b"PK\x03\x04" + bytes(100), ["zip archive"]),
        (b"\x89likely\n" + bytes(100), ["model file, not a table"]),
    ],
)
@pytest.mark.parametrize("command", ["look", "fit"])
def test_a_bad_table_is_refused(command, content, words, run, write, tmp_path) -> None:
    write("t.csv", content)
    out = ["-o", "m.likely"] if command == "fit" else []
    if command == "fit" and "same class" in words[0]:
        assert "can predict nothing else" in run(command, "t.csv", "c", *out).done().err
        return
    run(command, "t.csv", "c", *out).refused(*words)
    assert not Path(tmp_path / "m.likely").exists()


def test_what_is_not_there_is_named_with_what_is_near(run, write, tmp_path) -> None:
    write("weather.csv", GOOD)
    run("look", "wether.csv", "c").refused("wether.csv", "Did you mean 'weather.csv'")
    run("look", "no/where.csv", "c").refused("no folder 'no'")
    run("look", "*.parquet", "c").refused("No file matches")
    (tmp_path / "folder").mkdir()
    run("look", "folder", "c").refused("holds no table")
    run("look", "-", "c").refused("standard input is empty")
    run("look", "weather.csv", "").refused("no column ''")


def test_a_line_of_a_gigabyte_takes_no_gigabyte(run, write) -> None:
    # The limits are on the row, so two hundred megabytes tell the same as a thousand.
    write("long.csv", b"a,c\n1,y\n2,n\n" + b"z" * (200 << 20))
    run("look", "long.csv", "c").refused("Row 3 of long.csv is longer than 64 MB")


@pytest.mark.parametrize("more", [100_000, 300_000])
def test_a_column_that_changes_its_type_after_a_million_rows_is_told(more, run, write) -> None:
    rows = "".join(f"{k % 977},{'yn'[k % 2]}\n" for k in range(1000)) * 500
    write("t.csv", "a,c\n" + rows + "foo,y\nbar,n\n" * (more // 2))
    err = run("fit", "t.csv", "c", "--learner", "NaiveBayes", "-o", "m.likely").done().err
    assert (
        f"'a' is mixed: {'numbers' if more == 100_000 else '979 levels, mostly numbers'}; {more:,} other cells" in err
    )
    assert f"--type a={'nominal' if more == 100_000 else 'number'}" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--type", "b"], ["'b' has no equals sign", "COLUMN=KIND"]),
        (
            ["--type", "b=numeric"],
            ["'b'", "'numeric'", "nominal of numbers, number, date, date in parts, text, ignore"],
        ),
        (["--type", "zz=number"], ["no column 'zz'"]),
        (["--type", "c=text"], ["target 'c'", "nominal"]),
        (["--type", "b=number"], ["4 of 4 cells", "'b'", "--type b=nominal"]),
        (["--weight", "b"], ["row 1", "'b'", "'x'", "Weights must be"]),
        (["--weight", "zz"], ["no column 'zz'"]),
        (["--weight", "c"], ["both the target and the weight"]),
        (["--target-bins", "3"], ["'c' cannot be cut into bins"]),
        (["--target-bins", "1"], ["at least 2 bins"]),
        (["--target-bins", "99999"], ["1,000 at most"]),
        (["--target-bins", "nan"], ["finite numbers that increase"]),
        (["--target-bins", "1e999"], ["finite numbers that increase"]),
        (["--target-bins", "3,2"], ["finite numbers that increase"]),
        (["--target-bins", "few"], ["'few'", "10,20,30"]),
        (["--prior", "y=0.5"], ["'n'", "Give every class"]),
        (["--prior", "y=1", "--prior", "q=0"], ["'q'", "not a class"]),
        (["--prior", "y=half", "--prior", "n=0.5"], ["'half'", "0.25"]),
        (["--pseudo-count", "-1"], ["pseudo_count", "zero or more"]),
        (["--variance-floor", "nan"], ["variance_floor"]),
        (["--encoding", "klingon"], ["'klingon'", "latin-1"]),
        (["--delimiter", "ab"], ["one plain character"]),
        (["--schema", "none.likely"], ["none.likely"]),
        (["--schema", "t.csv"], ["'t.csv' is not a likely model file"]),
        (["--threads", "0"], ["--threads", "likely look --help"]),
        (["--folds", "1"], ["--folds", "likely look --help"]),
        (["--fold", "1"], ["--fold", "--folds", "likely look --help"]),
        (["--missing-as", "gone"], ["'gone'", "'skip', 'level'"]),
        (["-dash"], ["goes after --"]),
    ],
)
def test_a_bad_option_is_refused(options, words, run, write) -> None:
    write("t.csv", GOOD)
    run("look", "t.csv", "c", *options).refused(*words)


def test_weights_must_be_numbers_not_below_zero(run, write) -> None:
    for weight, row in (("-1", 3), ("heavy", 3), ("", 3), ("nan", 3), ("inf", 3)):
        write("t.csv", f"a,w,c\n1,1,y\n2,0.5,n\n3,{weight},y\n")
        run("fit", "t.csv", "c", "--weight", "w", "-o", "m.likely").refused(f"row {row}", "'w'", "zero or more")


def test_usage_is_told_in_a_sentence(run) -> None:
    run("lok", "t.csv").refused("no command 'lok'", "Did you mean 'look'")
    run("look").refused("DATA", "likely look --help")
    run("look", "t.csv").refused("TARGET")
    run("merge", "-o", "m.likely").refused("MODELS")
    told = run()
    assert told.code == 2 and "Commands:" in told.err


def test_a_place_that_cannot_be_written_is_told_before_the_work(run, write, tmp_path) -> None:
    write("t.csv", GOOD)
    run("fit", "t.csv", "c", "-o", "m.likely").done()
    (tmp_path / "folder").mkdir()
    for args in (("fit", "t.csv", "c"), ("predict", "m.likely", "t.csv"), ("merge", "m.likely"),
                 ("unlearn", "m.likely", "t.csv")):  # fmt: skip
        run(*args, "-o", "none/x").refused("no folder", "none'")
        run(*args, "-o", "folder").refused("a folder")
        run(*args, "-o", "").refused("a folder")
    run("predict", "m.likely", "t.csv", "-o", "x.xlsx").refused("x.xlsx", ".csv")
    run("predict", "m.likely", "t.csv", "-o", "x.parquet.gz").refused(".parquet")


def test_a_model_file_that_is_broken_is_refused(run, write, tmp_path) -> None:
    write("t.csv", GOOD)
    run("fit", "t.csv", "c", "-o", "m.likely").done()
    whole = (tmp_path / "m.likely").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for name, content, words in (
        ("cut.likely", whole[: len(whole) // 2], ["cut short or was altered"]),
        ("flip.likely", bytes(flipped), ["cut short or was altered"]),
        ("none.likely", b"", ["not a likely model file"]),
        ("foreign.likely", b"hello, this is no model" * 9, ["not a likely model file"]),
    ):
        write(name, content)
        for args in (("show", name), ("predict", name, "t.csv"), ("merge", "m.likely", name, "-o", "x.likely"),
                     ("unlearn", "m.likely", name, "-o", "x.likely")):  # fmt: skip
            run(*args).refused(name, *words)
    assert not (tmp_path / "x.likely").exists()
