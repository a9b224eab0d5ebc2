"""likely fit: learn a model from a table and write it to a file. likely regress: a number by least squares."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command, named_output, out_option
from likely.cli.learning import Learning, learning_options
from likely.cli.options import (
    Values,
    data_argument,
    json_option,
    loss_option,
    reading_option,
    reading_options,
    require_target,
    target_argument,
)

if TYPE_CHECKING:
    from likely.models.contracts import Model
    from likely.sums.summary import Summary


@command(short_help="Fit a model and save it to a file.")
@data_argument(required=False)
@target_argument
@out_option("FILE.likely", "Where to write the model; TARGET.likely otherwise.", "model")
@reading_option("keep")
@reading_option("push")
@click.option(
    "--every",
    type=click.IntRange(1),
    metavar="ROWS",
    help="For standard input: save the model after every N rows.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    help="What reads the files: this machine, or Spark tasks.",
)
@click.option(
    "--master", metavar="ADDRESS", help="For Spark: local[2], spark://host:7077 …; by default all local cores."
)
@click.option(
    "--judge",
    is_flag=True,
    help="Hold rows out for learners of sums alone too: the model knows its scores, intervals and sets.",
)
@loss_option
@learning_options
def fit(
    data: object,
    how: Learning,
    out: str | None,
    keep: str | None,
    every: int | None,
    push: bool,
    engine: str,
    master: str | None,
    judge: bool,
) -> None:
    """Learn to predict TARGET from the other columns of DATA, and write the model to a file.

    Without a target (--learner Density) the model says how probable whole rows are. Without DATA it is made of the
    knowledge in the spec alone; `likely learn` goes on from there.

    With --keep a growing folder is read once: `likely fit 'logs/*.parquet' y --keep sums -o y.likely` reads only files
    that are new or have changed since, and forgets those that are gone.

    With --engine spark the tasks of a cluster read the files, each its own part: `likely fit 'logs/*.parquet' y
    --engine spark --master spark://host:7077 -o y.likely`. The model is the same to the last bit.
    """
    from likely.machinery.text_files import safe_file_name
    from likely.models.contracts import has_trait, setting_of

    if data is None and not setting_of(how.learner, "knowledge", ()):
        raise click.UsageError("Missing argument 'DATA': a table to learn from (none where a spec has knowledge).")
    if not has_trait(how.learner, "density"):
        require_target(how.target, data, " (none for --learner Density)")
    if master is not None and engine != "spark":
        raise click.UsageError("--master is for Spark: give --engine spark as well.")
    if engine == "spark" and (data is None or every is not None or how.reading["threads"] is not None):
        raise click.UsageError("--engine spark takes files, without --every and --threads.")
    if judge and (engine == "spark" or every is not None or push):
        raise click.UsageError("--judge reads rows again here: give it without --engine spark, --every and --push.")
    if every is not None and (data != "-" or keep is not None):
        raise click.UsageError("--every is for streams: DATA must be -, without --keep.")
    out = out or named_output(safe_file_name(how.target or "density", "model") + ".likely", "model")
    if every is not None:
        model = _follow(out, every, how)
    else:
        model = _signed(_fit(data, how, engine, master, {"keep": keep, "push": push, "judge": judge}), data)
        model.save(out)
    for line in _lines(model, out):
        terminal.say(line)
    once = "--keep" if keep is not None else "--push" if push else "--every" if every is not None else ""
    if once and how.learner is None:
        terminal.say(
            f"Naive Bayes learned, because with {once} rows are not read again. To compare learners on held-out rows, "
            f"as likely does otherwise, fit without {once}."
        )


def _fit(data: object, how: Learning, engine: str, master: str | None, more: Values) -> Model:
    """The model of a table, swept here or by Spark."""
    if engine == "spark":
        from likely.spark import fit as fit_there

        del more["judge"]
        return fit_there(data, how.target, how.learner, loss=how.loss, master=master, **more, **how.reading)
    from likely.evaluate.judging import fit as fit_here

    with terminal.counting(data) as progress:
        return fit_here(data, how.target, how.learner, loss=how.loss, progress=progress, **more, **how.reading)


def _signed(model: Model, data: object) -> Model:
    """The model, whose judgement says what it is from: the table, the day and the command, but no path.

    With SOURCE_DATE_EPOCH, as for builds that can be repeated, it is that day and no more, so that the same rows make
    the same file. Models of sums, which were not judged, say nothing of it and always make the same file.
    """
    if model.judge is None:
        return model
    from likely.evaluate.judging import sign
    from likely.models.judgement import Origin

    def base(text: str) -> str:
        return text.rpartition("@")[2].partition("?")[0].rstrip("/\\").replace("\\", "/").rpartition("/")[2]

    def without_path(argument: str) -> str:
        return name if argument == data else f"…/{base(argument)}" if {*"/\\"} & {*argument} else argument

    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(given) if given.isdigit() and len(given) < 12 else None
    day = datetime.fromtimestamp(time.time() if seconds is None else seconds, UTC).date().isoformat()
    if seconds is not None:
        return sign(model, Origin("", day, ""))
    name = "standard input" if data == "-" else base(str(getattr(data, "name", data)))
    command = shlex.join(["likely", *map(without_path, click.get_current_context().obj or ())])
    return sign(model, Origin(name, day, command))


def _lines(model: Model, out: str) -> Iterator[str]:
    """What was learned, and by whom."""
    from likely.machinery.words import clean, percent, plural, weighed_rows
    from likely.portable.abilities import abilities_sentence

    summary = model.summary
    classes = "" if model.schema.target is None else f" {plural(len(model.classes), 'class')},"
    used = plural(len(model.schema.attributes), "attribute" if classes else "column")
    yield f"{clean(out)}: {weighed_rows(summary.rows, float(summary.total.floats().sum()))},{classes} {used}."
    judged = model.judgement
    if judged is not None and judged.accuracy.value is not None and judged.log_loss.value is not None:
        rows = "held-out rows" if model.schema.weight else plural(round(judged.rows), "held-out row")
        yield f"On {rows}: accuracy {percent(judged.accuracy.value)}, log loss {judged.log_loss.value:z.3f} bits."
    if model.schema.target is not None:
        yield abilities_sentence(model)
    yield from model.remarks[:10]


def _follow(out: str, every: int, how: Learning) -> Model:
    """The model of standard input, written again and again; an end by Ctrl-C says what the file holds."""
    from likely.apply.fitting import load_model
    from likely.apply.streams import follow
    from likely.cli import INTERRUPTED
    from likely.machinery.words import clean, plural

    written: list[Summary] = []

    def write(model: Model) -> None:
        written[:] = [*written[-1:], model.summary]
        model.save(out)

    more: Values = {"every": every, "write": write, "loss": how.loss, "name": "standard input"}
    try:
        with terminal.counting() as progress:
            return follow(sys.stdin, how.target, how.learner, progress=progress, **more, **how.reading)
    except KeyboardInterrupt:
        # The file says itself how far it came: the end may have come in the middle of writing it.
        rows = load_model(out).summary.rows if written and os.path.isfile(out) else -1
        if rows not in [summary.rows for summary in written]:
            raise
        terminal.say(f"Interrupted; {clean(out)} holds the first {plural(rows, 'row')}.")
        click.get_current_context().exit(INTERRUPTED)


@command(short_help="Linear regression: a number as a weighted sum of the other columns.")
@data_argument()
@click.argument("target")
@click.argument("given", nargs=-1, metavar="[COLUMN=VALUE]...")
@click.option("--ridge", type=float, default=0.0, help="Ridge penalty on the weights; 0 is plain least squares.")
@click.option("--held-out", metavar="FILE", help="Also the squared error and likelihood of these rows.")
@click.option("--working", is_flag=True, help="Show the normal equations.")
@reading_options
@json_option
def regress(
    data: object,
    target: str,
    given: tuple[str, ...],
    ridge: float,
    held_out: str | None,
    working: bool,
    reading: Values,
    as_json: bool,
) -> None:
    """Fit the number TARGET by least squares on the other columns of DATA; print the weights and the squared error.

    COLUMN=VALUE gives a row to predict: likely regress data.csv price size=70 rooms=3
    """
    from likely.apply.explain.row import parse_assignments
    from likely.classroom.regression import present_regression, regression_json
    from likely.classroom.regression import regress as fit_number

    with terminal.counting(data) as progress:
        record = fit_number(data, target, ridge=ridge, progress=progress, **reading)
    row = parse_assignments(given, record.schema.names) if given else None
    judged = None if held_out is None else record.judge(held_out)
    terminal.answer(
        as_json,
        lambda: regression_json(record, row, judged),
        lambda: present_regression(record, working, row, judged),
    )
