"""likely bayes: Bayes' rule on a table of hypotheses, worked out as on a blackboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.options import json_option, pair, pairs
from likely.errors import SettingError, nearest, shown

if TYPE_CHECKING:
    from likely.probability.loss import Loss


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
@click.option(
    "--loss",
    multiple=True,
    metavar="FILE.toml|HYPOTHESIS:ACTION=COST",
    help="Costs of actions: a TOML file, or one cost at a time.",
)
@click.option("--abstain", metavar="COST", help='The cost of the action "don\'t know", whatever is true.')
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
    from likely.probability.board import record, working
    from likely.probability.rule import bayes as apply_rule

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

        terminal.write(json.dumps(record(belief, costs), ensure_ascii=False, indent=2))
    else:
        terminal.write(working(belief, costs))


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
    from likely.probability.rule import result

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
    from likely.probability.loss import Loss, read_loss

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
