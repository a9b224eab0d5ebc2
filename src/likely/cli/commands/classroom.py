"""Commands of the classroom: bayes, hypotheses, joint."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from likely.cli import terminal
from likely.cli.command import command, out_option
from likely.cli.options import (
    Values,
    data_argument,
    json_option,
    packed,
    pair,
    pairs,
    read_text_options,
    reading_option,
    sql_options,
)
from likely.errors import SettingError, nearest, shown

if TYPE_CHECKING:
    from likely.models.loss import Loss


def loss_options(decorated: Any) -> Any:
    """--loss and --abstain: what actions cost, in a file or cost by cost."""
    each = "Costs of actions: a TOML file, or one cost at a time."
    named = click.option("--loss", multiple=True, metavar="FILE.toml|HYPOTHESIS:ACTION=COST", help=each)
    unknown = 'The cost of the action "don\'t know", whatever is true.'
    return named(click.option("--abstain", metavar="COST", help=unknown)(decorated))


# likely bayes: Bayes' rule on a table of hypotheses, worked out as on a blackboard.


@command(short_help="Bayes' rule for given numbers, worked out step by step.")
@click.option(
    "--prior", multiple=True, metavar="HYPOTHESIS=P", help="P(hypothesis) before the evidence; once for each."
)
@click.option(
    "--likelihood",
    multiple=True,
    metavar="HYPOTHESIS=P",
    help="P(evidence | hypothesis), once for each. Naming a hypothesis again starts the next piece of evidence.",
)
@click.option("--evidence", multiple=True, metavar="NAME", help="Names of the pieces of evidence, in order.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="SENSITIVITY,SPECIFICITY",
    help="A test for the first hypothesis, instead of --likelihood: P(positive | it), P(negative | not it).",
)
@click.option(
    "--result",
    "results",
    multiple=True,
    type=click.Choice(["positive", "negative"]),
    help="Results of the tests, in order; positive if not given.",
)
@loss_options
@click.option("--density", is_flag=True, help="Likelihoods are densities, which may be above 1.")
@json_option
def bayes(
    prior: tuple[str, ...],
    likelihood: tuple[str, ...],
    evidence: tuple[str, ...],
    tests: tuple[str, ...],
    results: tuple[str, ...],
    loss: tuple[str, ...],
    abstain: str | None,
    density: bool,
    as_json: bool,
) -> None:
    """Work out P(hypothesis | evidence) from a prior and likelihoods, exactly, and print the working.

    One hypothesis may be left out of the prior: it gets the rest. Numbers are exact: 0.008, 1/3, 0.8%.

    likely bayes --prior cancer=0.008 --likelihood cancer=0.98 --likelihood "no cancer=0.03"
    """
    from likely.classroom.belief import record_board, write_board
    from likely.classroom.hypotheses import bayes as apply_rule

    before = pairs(prior, "--prior", "HYPOTHESIS=P")
    if not before:
        raise SettingError("There is no prior. Give --prior HYPOTHESIS=P, for all hypotheses or all but one.")
    if tests and (likelihood or evidence):
        raise SettingError("--test replaces --likelihood and --evidence. Give one or the other.")
    pieces = _tested(before, tests, results) if tests or results else _pieces(likelihood, evidence)
    first = pieces[0] if pieces else (None, None)
    belief = apply_rule(before, first[1], first[0], density=density)
    for name, likelihoods in pieces[1:]:
        belief = belief.update(likelihoods, name)
    costs = _loss(loss, abstain, [str(h) for h in belief.hypotheses])
    if as_json:
        import json

        terminal.write(json.dumps(record_board(belief, costs), ensure_ascii=False, indent=2))
    else:
        terminal.write(write_board(belief, costs))


def _pieces(likelihood: tuple[str, ...], evidence: tuple[str, ...]) -> list[tuple[str | None, dict[str, str]]]:
    """The pieces of evidence: a hypothesis that is named again begins the next one."""
    held: list[dict[str, str]] = []
    for entry in likelihood:
        name, value = pair(entry, "--likelihood", "HYPOTHESIS=P")
        if not held or name in held[-1]:
            held.append({})
        held[-1][name] = value
    if len(evidence) > len(held):
        raise SettingError(
            f"--evidence names {len(evidence)} pieces of evidence, but --likelihood gives {len(held)}. "
            "Give the likelihood of every hypothesis for each piece."
        )
    names = [*evidence, *[None] * (len(held) - len(evidence))]
    return list(zip(names, held, strict=True))


def _tested(
    prior: dict[str, str], tests: tuple[str, ...], results: tuple[str, ...]
) -> list[tuple[str | None, dict[str, str]]]:
    from likely.classroom.hypotheses import result

    if len(prior) > 2:
        raise SettingError("--test is for a hypothesis and its opposite, but --prior names more. Use --likelihood.")
    if len(results) > len(tests):
        raise SettingError(
            f"There are {len(results)} --result options for {len(tests)} --test options. Give a --test for each."
        )
    names = [*prior, *[f"no {n}" for n in prior]][:2]
    out: list[tuple[str | None, dict[str, str]]] = []
    for k, test in enumerate(tests):
        numbers = test.split(",")
        if len(numbers) != 2:
            raise SettingError(f"--test {shown(test)} is not SENSITIVITY,SPECIFICITY. Write it like --test 0.98,0.97.")
        shows = results[k] if k < len(results) else "positive"
        title = shows if len(tests) == 1 else f"test {k + 1} {shows}"
        seen = result(numbers[0], numbers[1], (names[0], names[1]), shows == "positive")
        out.append((title, seen))  # type: ignore[arg-type]
    return out


def _loss(entries: tuple[str, ...], abstain: str | None, hypotheses: list[str]) -> Loss | None:
    """The loss in a file, or of costs given one by one."""
    from likely.models.loss import Loss, read_loss

    if not entries:
        if abstain is not None:
            raise SettingError("--abstain needs the costs of --loss. Give --loss as well.")
        return None
    if len(entries) == 1 and ("=" not in entries[0] or entries[0].endswith(".toml")):
        read = read_loss(entries[0])
        return read if abstain is None else Loss(read.costs, abstain)  # type: ignore[arg-type]
    costs: dict[str, dict[str, str]] = {}
    for entry in entries:
        name, cost = pair(entry, "--loss", "HYPOTHESIS:ACTION=COST")
        places = [k for k, c in enumerate(name) if c == ":"]
        whole = [k for k in places if name[:k] in hypotheses]  # names may hold colons themselves
        if not places:
            raise SettingError(f"--loss {shown(entry)} has no colon. Write it as --loss HYPOTHESIS:ACTION=COST.")
        if not whole:
            first = name[: places[0]]
            raise SettingError(f"--loss names {shown(first)}, which is not a hypothesis. {nearest(first, hypotheses)}")
        costs.setdefault(name[: whole[-1]], {})[name[whole[-1] + 1 :]] = cost
    return Loss(costs, abstain)  # type: ignore[arg-type]


# likely hypotheses: a page of hypotheses worked out: belief, MAP, Bayes-optimal, Gibbs, likelihood ratios.


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
@loss_options
@click.option("--draws", type=click.IntRange(0, 10_000_000), default=0, help="Also draw truth and predictions N times.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the draws.")
@json_option
def hypotheses(
    page: str,
    row: tuple[str, ...],
    prior: tuple[str, ...],
    tries: tuple[str, ...],
    loss: tuple[str, ...],
    abstain: str | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Work out the hypotheses in a TOML file, exactly: the posterior of each, and what they predict together.

    ATTRIBUTE=VALUE gives the observed row, instead of the one in the file. docs/probability.md describes the file.
    With --loss it also says what to do in each case, and what the best action costs over all of them.

    likely hypotheses examples/three_hypotheses.toml --draws 10000
    """
    from dataclasses import replace

    from likely.classroom.hypotheses_board import record_page, write_page
    from likely.classroom.pages import read_hypotheses

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
    costs = _loss(loss, abstain, list(held.prior))
    if as_json:
        terminal.write(json.dumps(record_page(held, draws, seed, costs), ensure_ascii=False, indent=2))
    else:
        terminal.write(write_page(held, draws, seed, costs))


# likely joint: the joint table of some columns, or one typed by hand, and every question of it.


@command(short_help="A joint table with its margins, and any P(a, b | c) of it.")
@data_argument()
@click.argument("columns", nargs=-1)
@click.option(
    "--query",
    "queries",
    multiple=True,
    metavar="P(…)",
    help="Ask for a probability: 'P(a=x, b=y | c=z)', 'P(a=x or b=y)', 'P(a | c)'. May be repeated.",
)
@click.option("--given", metavar="EVENT", help="Condition on this: 'c=z', 'c=y or z, d=x'.")
@click.option(
    "--independent",
    multiple=True,
    metavar="'A, B | C'",
    help="Test whether A and B are independent (given C); by default every pair.",
)
@click.option(
    "--target", metavar="COLUMN", help="Show the best rule for predicting this variable, and the Bayes error."
)
@click.option("--probability", metavar="COLUMN", help="DATA is a table of probabilities: this column holds them.")
@reading_option("weight", "Column with the weight of each row, or how often it occurs.")
@click.option(
    "--edges", multiple=True, metavar="COLUMN=EDGES", help="Cut the numbers of a column at these edges: age=20,40."
)
@click.option(
    "--closed",
    type=click.Choice(["left", "right"]),
    default="left",
    help="An edge belongs to the bin above it (left) or below it (right).",
)
@click.option("--pseudo-count", default="0", metavar="N", help="Added to the count of every cell.")
@click.option("--across", metavar="COLUMN", help="Put the values of this variable side by side; by default the last.")
@click.option("--fractions", is_flag=True, help="Print fractions over one denominator.")
@click.option("--all", "everything", is_flag=True, help="Show every line of a large table.")
@reading_option(
    "missing", "A cell that means missing; replaces the usual ones ('?', 'NA', 'null' …). The empty cell always is."
)
@out_option("FILE.html", "Also write an interactive HTML page.", "page")
@packed("reading", read_text_options, *sql_options)
@json_option
def joint(
    data: object,
    columns: tuple[str, ...],
    queries: tuple[str, ...],
    given: str | None,
    independent: tuple[str, ...],
    target: str | None,
    probability: str | None,
    weight: str | None,
    edges: tuple[str, ...],
    closed: str,
    pseudo_count: str,
    across: str | None,
    fractions: bool,
    everything: bool,
    missing: tuple[str, ...],
    out: str | None,
    reading: Values,
    as_json: bool,
) -> None:
    """Count the joint table of COLUMNS of DATA, and answer questions about it, exactly.

    It prints counts, probabilities and margins, and whether variables are independent. DATA may also be a table typed
    by hand: a TOML file, or any table with --probability COLUMN.

    Names and values in queries stand bare or in quotes; a quote inside is doubled. Quotes are needed where a bare word
    could be misread: 'P("a|b"=x)', "P(name='it''s')".

    likely joint examples/weather.csv outlook play --query "P(play=yes | outlook=sunny)"
    """
    from likely.classroom.joint_table import joint as count_joint
    from likely.classroom.joint_table import joint_json, present_joint, study_joint

    with terminal.counting(data) as progress:
        table = count_joint(
            data,
            list(columns) or None,
            probability=probability,
            edges={name: _edges(text, name) for name, text in pairs(edges, "--edges", "COLUMN=20,40").items()},
            closed=closed,  # type: ignore[arg-type]
            pseudo_count=pseudo_count if pseudo_count != "0" else 0,
            weight=weight,
            missing=list(missing) or None,
            progress=progress,
            **reading,
        )
    source = os.path.basename(data) if isinstance(data, str) and data != "-" else "the table"
    study = study_joint(
        table,
        source or "the table",
        queries=queries,
        given=given,
        independent=independent,
        target=target,
        fractions=fractions,
    )
    if across is not None:
        study.joint._place(across)
    if out is not None:
        from likely import __version__
        from likely.classroom.joint_page import joint_page
        from likely.sums import state

        command = shlex.join(["likely", *(click.get_current_context().obj or ())])
        made = joint_page(study, across=across, command=command, version=__version__)
        state.write(out, made.encode("utf-8", "replace"))
    terminal.answer(
        as_json,
        lambda: joint_json(study),
        lambda: present_joint(study, across=across, everything=everything),
    )
    if out is not None:
        terminal.say(f"The page is in {shown(out, 200)}: open it in a browser.")


def _edges(text: str, name: str) -> list[float]:
    try:
        return [float(e) for e in text.split(",")]
    except ValueError:
        raise SettingError(
            f"--edges {shown(f'{name}={text}')} has an edge that is not a number. Write 20,40."
        ) from None
