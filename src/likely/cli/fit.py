"""likely fit: learn a model from a table and write it to a file."""

from __future__ import annotations

from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import (
    check_said_once,
    learner_of,
    learning_options,
    out_option,
    reading_of,
    reading_options,
)


@click.command(short_help="Learn a model and write it to a file.")
@click.argument("data")
@click.argument("target", required=False)
@click.option("--spec", "spec_file", metavar="FILE.toml", help="Assumptions as `likely show --spec` writes them.")
@out_option("FILE.likely", "Where to write the model.")
@reading_options
@learning_options
def fit(data: str, target: str | None, spec_file: str | None, out: str, **options: Any) -> None:
    """Learn to predict TARGET from the other columns of DATA, and write the model to a file.

    Without a target (--learner Density) the model says how probable whole rows are.
    """
    from likely.drafting import remarks
    from likely.fitting import fit as learn
    from likely.report.words import clean, plural

    said: dict[str, Any] = {}
    if spec_file is not None:
        from likely.spec import read_spec

        spec = read_spec(spec_file)
        said = {k: v for k, v in spec.reading().items() if v is not None}
        check_said_once(spec_file, said)
        target = target or spec.target
    reading, learner = reading_of(options) | said, learner_of(options)
    if spec_file is not None:
        learner = spec.learner
    if target is None and type(learner).__name__ != "Density":
        raise click.UsageError("Missing argument 'TARGET': the column to predict (none for --learner Density).")
    try:
        model = learn(data, target, learner, progress=terminal.progress(), **reading)
    finally:
        terminal.clear_progress()
    model.save(out)
    summary = model.summary
    classes = "" if model.schema.target is None else f" {plural(len(model.classes), 'class')},"
    used = plural(len(model.schema.attributes), "attribute" if classes else "column")
    terminal.say(f"{clean(out)}: {plural(summary.rows, 'row')},{classes} {used}.")
    if len(model.classes) == 1 and classes:
        terminal.say(f"Every row has the class {clean(model.classes[0])}; the model can say nothing else.")
    if summary.left_out:
        terminal.say(f"{plural(summary.left_out, 'row')} without a class or weight are left out.")
    for note in (*remarks(model.schema), *model.notes)[:10]:
        terminal.say(note)
