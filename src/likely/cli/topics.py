"""likely how: where a concept of the textbooks is: the command, the Python and the chapter of the course.

Knows no concept but by what is declared: settings of learners, options of commands, chapters; and a few synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from likely.cli import terminal
from likely.cli.command import HelpfulCommand, command
from likely.cli.options import json_option
from likely.errors import SettingError, shown

MOST = 5
"""So many places are named."""
WORDS = re.compile(r"[a-z0-9]+")
SYNONYMS = {
    "alpha": "pseudo count",
    "bag of words": "multinomial text",
    "bernoulli": "bernoulli text",
    "bias": "constant weights",
    "conditional independence": "independent joint",
    "discretization": "bins",
    "gamma": "pseudo count",
    "kde": "kernels bandwidth",
    "knn": "neighbours",
    "laplace": "pseudo count",
    "lidstone": "pseudo count",
    "log odds": "logistic regression",
    "maximum likelihood": "ml",
    "nearest": "neighbours",
    "odds": "odds ledger explain",
    "outlier": "lowest density score",
    "parzen": "kernels bandwidth",
    "resubstitution": "training errors",
    "softmax": "logistic",
    "training error": "training errors learned",
    "virtual examples": "m estimate rows prior share",
    "weights of levels": "level weights",
    "word model": "multinomial bernoulli text",
    "zero rule": "prior learner frequencies",
}
"""What books call it, and the words in which settings and options are declared here."""


@dataclass(frozen=True)
class Place:
    """Where something is: what it is called, what it does, and how it is asked for."""

    title: str
    meaning: str
    command: str
    python: str = ""


def find_places(topic: str) -> list[Place]:
    """The settings, options and commands that a topic names, those that fit it best first.

    >>> find_places("m-estimate")[0].python
    'likely.NaiveBayes(m_estimate=…)'
    """
    asked = _words(topic)
    if not asked:
        raise SettingError(f"{shown(topic)} has no word to look for. Name a concept, such as likely how m-estimate.")
    text = " ".join(WORDS.findall(topic.lower()))
    wishes = [asked, *(_words(own) for name, own in SYNONYMS.items() if name in text)]
    found = [(score, place) for place in _places() if (score := max(_score(place, wish) for wish in wishes)) > 0]
    found.sort(key=lambda pair: -pair[0])  # of equals the first declared
    return [place for _, place in found[:MOST]]


def _words(text: str) -> set[str]:
    """The words of a text, without case, spelling of names or plurals."""
    words = WORDS.findall(text.lower())
    return {w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in words} - {
        "of",
        "the",
        "a",
    }


def _score(place: Place, wish: set[str]) -> float:
    """How well a place fits: words in its title count most; one without half of the words does not fit."""
    title, text = _words(place.title), _words(place.meaning)
    hits = sum(3.0 if word in title else 1.0 if word in text else 0.0 for word in wish)
    known = sum(word in title or word in text for word in wish)
    return 0.0 if 2 * known <= len(wish) and known < len(wish) else hits - 0.01 * len(title - wish)


def _places() -> Iterator[Place]:
    """All that is declared: settings of learners, then commands and their options."""
    from likely.cli.listing import COMMANDS, commands
    from likely.models.registry import LEARNERS, spoken_name
    from likely.models.settings import declared
    from likely.models.text.settings import Text

    context = click.Context(commands)
    fit = commands.get_command(context, "fit")
    assert fit is not None
    flags = {p.name: p.opts[-1] for p in fit.params if isinstance(p, click.Option)}
    seen = set()
    for name in (*LEARNERS, "Text"):
        learner = Text if name == "Text" else LEARNERS[name]
        if name != "Text":
            what = (learner.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            yield Place(
                f"{name}, {spoken_name(name)}", what, f"likely fit DATA TARGET --learner {name}", f"likely.{name}()"
            )
        for setting, _, about in declared(learner):
            if (setting, about.meaning) in seen:  # several learners share it
                continue
            seen.add((setting, about.meaning))
            flag = flags.get({"missing": "missing_as"}.get(setting, setting))
            if name == "Text":
                asked, python = f"--text … --set 'text={{{setting}=…}}'", f"likely.Text({setting}=…)"
                asked = (
                    f"{flag} …"
                    if flag and setting != "pseudo_count"
                    else "--text KIND"
                    if setting == "model"
                    else asked
                )
            else:
                asked = f"{flag} …" if flag else f"--set {setting}=…"
                asked, python = f"--learner {name} {asked}", f"likely.{name}({setting}=…)"
            yield Place(f"{setting} of {name}", about.meaning, f"likely fit DATA TARGET {asked}", python)
    for name in COMMANDS:
        own = commands.get_command(context, name)
        assert isinstance(own, HelpfulCommand)
        yield Place(f"likely {name}", own.short_help or "", f"likely {name} --help")
        shared = {p.name for p in fit.params} if name != "fit" else flags.keys() & {setting for setting, _ in seen}
        for option in own.params:
            if isinstance(option, click.Option) and option.name not in shared and option.help:
                yield Place(f"{option.opts[-1]} of likely {name}", option.help, f"likely {name} … {option.opts[-1]}")


def chapter_about(topic: str) -> str:
    """The chapter of the course that speaks most of a topic, as a sentence; empty where none does."""
    from likely.classroom.course.chapters import read_chapters

    wanted = " ".join(WORDS.findall(topic.lower()))
    names = [wanted, *(own for name, own in SYNONYMS.items() if name in wanted)]

    def count(text: str) -> int:
        return max(" ".join(WORDS.findall(text.lower())).count(name) for name in names)

    best = max(read_chapters(), key=lambda chapter: count(chapter.text))
    if not count(best.text):
        return ""
    return f"The course has it in chapter {best.number}, {best.title}: likely course {best.number}"


@command(short_help="Where a concept of the textbooks is: command, Python, chapter.")
@click.argument("topic", nargs=-1, required=True)
@json_option
def how(topic: tuple[str, ...], as_json: bool) -> None:
    """Say how likely is asked for TOPIC, a concept as textbooks call it: the command, the Python and the chapter.

    likely how m-estimate
    """
    from likely.sums import state

    text = " ".join(topic)
    places, chapter = find_places(text), chapter_about(text)
    if as_json:
        terminal.write_bytes(state.as_json({"places": [asdict(place) for place in places], "chapter": chapter}))
        return
    if not places and not chapter:
        raise SettingError(f"Nothing is declared that speaks of {shown(text)}. Try another word, or likely --help.")
    for place in places:
        terminal.write(f"{place.title}: {place.meaning}\n  {place.command}")
        if place.python:
            terminal.write(f"  {place.python}")
    if chapter:
        terminal.write(chapter)
