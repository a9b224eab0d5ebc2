"""likely fit: learn a model from a table and write it to a file."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import data_argument, loss_option, out_option, reading_options
from likely.cli.settings import Assumed, assumed, learning_options


@click.command(short_help="Learn a model and write it to a file.")
@data_argument(required=False)
@click.argument("target", required=False)
@out_option("FILE.likely", "Where to write the model.")
@click.option("--keep", metavar="FOLDER", help="Keep the sums of each file there, and read only new and changed files.")
@click.option("--push", is_flag=True, help="Of a database: let it count for itself where counts are enough.")
@click.option(
    "--every",
    type=click.IntRange(1),
    metavar="ROWS",
    help="Of standard input: write the model after every so many rows.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Who sweeps the files: this machine, or Spark, whose tasks open them.",
)
@click.option("--master", metavar="ADDRESS", help="Of Spark: local[2], spark://host:7077 …; all cores here otherwise.")
@loss_option
@reading_options
@learning_options
def fit(
    data: str | None,
    target: str | None,
    out: str,
    loss_file: str | None,
    keep: str | None,
    every: int | None,
    push: bool,
    engine: str,
    master: str | None,
    **options: Any,
) -> None:
    """Learn to predict TARGET from the other columns of DATA, and write the model to a file.

    Without a target (--learner Density) the model says how probable whole rows are. Without DATA it is made of the
    knowledge in the spec alone; `likely learn` goes on from there.

    With --keep a growing folder is read once: `likely fit 'logs/*.parquet' y --keep sums -o y.likely` reads only files
    that are new or have changed since, and forgets those that are gone.

    With --engine spark the tasks of a cluster read the files, each its own part: `likely fit 'logs/*.parquet' y
    --engine spark --master spark://host:7077 -o y.likely`. The model is the same to the last bit.
    """
    from likely.apply.fitting import fit as learn
    from likely.intake.schema import remarks
    from likely.models.contracts import has_trait, setting_of
    from likely.models.default import MOST_ROWS, default_learner
    from likely.present.words import clean, percent, plural

    how = assumed(options, target, loss_file)
    if data is None and not setting_of(how.learner, "knowledge", ()):
        raise click.UsageError("Missing argument 'DATA': a table to learn from (none where a spec has knowledge).")
    if how.target is None and not has_trait(how.learner, "density"):
        raise click.UsageError("Missing argument 'TARGET': the column to predict (none for --learner Density).")
    if master is not None and engine != "spark":
        raise click.UsageError("--master is of Spark: say --engine spark as well.")
    if engine == "spark":
        if data is None or every is not None or how.reading["threads"] is not None:
            raise click.UsageError("--engine spark takes files, without --every and --threads.")
        from likely.spark import fit as learn_there

        reading = {"keep": keep, "push": push, **how.reading}
        model = learn_there(data, how.target, how.learner, loss=how.loss, master=master, **reading)
        model.save(out)
    elif every is not None:
        model = _followed(data, out, every, keep, how)
    else:
        with terminal.counting() as progress:
            reading = {"progress": progress, "keep": keep, "push": push, **how.reading}
            model = learn(data, how.target, how.learner, loss=how.loss, **reading)
        model.save(out)
    summary = model.summary
    classes = "" if model.schema.target is None else f" {plural(len(model.classes), 'class')},"
    used = plural(len(model.schema.attributes), "attribute" if classes else "column")
    terminal.say(f"{clean(out)}: {plural(summary.rows, 'row')},{classes} {used}.")
    if len(model.classes) == 1 and classes and data is not None:
        terminal.say(f"Every row has the class {clean(model.classes[0])}; the model can say nothing else.")
    if summary.left_out:
        which = "is" if summary.left_out == 1 else "are"
        terminal.say(f"{plural(summary.left_out, 'row')} without a class or weight {which} left out.")
    if (trial := model.held_out) is not None:
        terminal.say(
            f"On {plural(trial.rows, 'row')} held out in turn: accuracy {percent(trial.hits)}, "
            f"log loss {-trial.score / math.log(2):.3f} bits."
        )
    if how.learner is None and default_learner("fit", summary).reason == "many rows":
        terminal.say(
            f"Naive Bayes learned, as there are more than {MOST_ROWS:,} rows. --learner Auto chooses all the same."
        )
    for note in (*remarks(model.schema), *model.notes)[:10]:
        terminal.say(note)


def _followed(data: str | None, out: str, every: int, keep: str | None, how: Assumed) -> Any:
    """The model of standard input, written again and again; an end by Ctrl-C says what the file holds."""
    from likely.apply.fitting import load
    from likely.apply.streams.follow import follow
    from likely.cli import INTERRUPTED
    from likely.present.words import clean, plural

    if data != "-" or keep is not None:
        raise click.UsageError("--every is for rows that keep coming: DATA must be -, without --keep.")
    begun: list[Any] = []

    def write(model: Any) -> None:
        begun[:] = [*begun[-1:], model.summary]
        model.save(out)

    try:
        with terminal.counting() as progress:
            return follow(
                sys.stdin,
                how.target,
                how.learner,
                every=every,
                write=write,
                loss=how.loss,
                name="standard input",
                progress=progress,
                **how.reading,
            )
    except KeyboardInterrupt:
        # The file says itself how far it came: the end may have come in the middle of writing it.
        rows = load(out).summary.rows if begun and os.path.isfile(out) else -1
        if rows not in [summary.rows for summary in begun]:
            raise
        terminal.say(f"Interrupted; {clean(out)} holds the first {plural(rows, 'row')}.")
        click.get_current_context().exit(INTERRUPTED)
