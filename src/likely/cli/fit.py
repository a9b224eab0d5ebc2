"""likely fit: learn a model from a table and write it to a file."""

from __future__ import annotations

import math
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import loss_option, out_option, reading_options
from likely.cli.settings import assumed, learning_options


@click.command(short_help="Learn a model and write it to a file.")
@click.argument("data", required=False)
@click.argument("target", required=False)
@out_option("FILE.likely", "Where to write the model.")
@loss_option
@reading_options
@learning_options
def fit(data: str | None, target: str | None, out: str, loss_file: str | None, **options: Any) -> None:
    """Learn to predict TARGET from the other columns of DATA, and write the model to a file.

    Without a target (--learner Density) the model says how probable whole rows are. Without DATA it is made of the
    knowledge in the spec alone; `likely learn` goes on from there.
    """
    from likely.drafting import remarks
    from likely.fitting import fit as learn
    from likely.report.words import clean, percent, plural

    how = assumed(options, target, loss_file)
    if data is None and not getattr(how.learner, "knowledge", ()):
        raise click.UsageError("Missing argument 'DATA': a table to learn from (none where a spec has knowledge).")
    if how.target is None and type(how.learner).__name__ != "Density":
        raise click.UsageError("Missing argument 'TARGET': the column to predict (none for --learner Density).")
    with terminal.counting() as progress:
        model = learn(data, how.target, how.learner, loss=how.loss, progress=progress, **how.reading)
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
    if (trial := getattr(model, "trial", None)) is not None and trial.rows:
        terminal.say(
            f"On {plural(trial.rows, 'row')} held out in turn: accuracy {percent(trial.hits)}, "
            f"log loss {-trial.kept / math.log(2):.3f} bits."
        )
    for note in (*remarks(model.schema), *model.notes)[:10]:
        terminal.say(note)
