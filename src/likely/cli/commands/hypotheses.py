"""likely hypotheses: a page of hypotheses worked out: belief, MAP, Bayes-optimal, Gibbs, likelihood ratios."""

from __future__ import annotations

import json

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.options import json_option, pair, pairs
from likely.errors import SettingError, shown


@command(short_help="Hypotheses in a TOML file: MAP, Bayes-optimal, Gibbs, likelihood ratios.")
@click.argument("page", metavar="PAGE.toml")
@click.argument("row", nargs=-1, metavar="[ATTRIBUTE=VALUE]...")
@click.option(
    "--prior",
    multiple=True,
    metavar="HYPOTHESIS=P",
    help="Replaces the prior in the file; for all hypotheses or all but one.",
)
@click.option(
    "--try-prior",
    "tries",
    multiple=True,
    metavar="HYPOTHESIS=P",
    help="For two hypotheses: also use this prior, to compare ML with MAP. May be repeated.",
)
@click.option("--draws", type=click.IntRange(0, 10_000_000), default=0, help="Also draw truth and predictions N times.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the draws.")
@json_option
def hypotheses(
    page: str,
    row: tuple[str, ...],
    prior: tuple[str, ...],
    tries: tuple[str, ...],
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Work out the hypotheses in a TOML file, exactly: the posterior of each, and what they predict together.

    ATTRIBUTE=VALUE gives the observed row, instead of the one in the file. docs/probability.md describes the file.

    likely hypotheses examples/three_hypotheses.toml --draws 10000
    """
    from dataclasses import replace

    from likely.probability.pages.hypotheses_board import record, working
    from likely.probability.pages.hypotheses_page import read_hypotheses

    held = read_hypotheses(page)
    if row:
        seen: dict[str, str] = {}
        for entry in row:
            name, value = pair(entry, "The row", "ATTRIBUTE=VALUE", first=True)
            if name in seen:
                raise SettingError(f"The row names {shown(name)} twice. Name it once.")
            seen[name] = value
        held = held.with_row(seen)
    if prior:
        held = held.with_prior(pairs(prior, "--prior", "HYPOTHESIS=P"))
    if tries:
        others = tuple(held.with_prior(dict([pair(t, "--try-prior", "HYPOTHESIS=P")])).prior for t in tries)
        held = replace(held, priors=(*held.priors, *others))
    if draws and not held.predicts:
        raise SettingError("--draws is for hypotheses that predict, but the file has no [predicts]. Leave it out.")
    if as_json:
        terminal.write(json.dumps(record(held, draws, seed), ensure_ascii=False, indent=2))
    else:
        terminal.write(working(held, draws, seed))
