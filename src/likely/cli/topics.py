"""likely how: where a concept of the textbooks is: the command, the Python and the chapter of the course.

Knows no concept but by what is declared: settings of learners, options of commands, chapters; and a few synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from likely.cli import terminal
from likely.cli.command import command
from likely.cli.options import json_option
from likely.errors import SettingError, shown

MOST = 5
"""So many places are named."""
SYNONYMS = {
    "pseudo count": ("alpha", "gamma", "laplace", "lidstone"),
    "neighbours": ("knn", "nearest"),
    "kernels bandwidth": ("kde", "parzen"),
    "multinomial bernoulli text": ("word model", "bag of words"),
    "lowest density score": ("outlier",),
    "training errors learned": ("training error", "resubstitution"),
    "logistic regression": ("log odds", "softmax", "sigmoid"),
    "m estimate rows prior share": ("virtual examples",),
    "bins": ("discretization", "discretisation"),
}
"""The words in which settings and options are declared here, and what books call it."""


@dataclass(frozen=True)
class Topic:
    """Something that can be asked for: what it is called, what it does, and how it is asked for."""

    title: str
    meaning: str
    command: str
    python: str = ""


def find_topics(text: str) -> list[Topic]:
    """The settings, options and commands that a text names, those that fit it best first; of equals the first declared.

    >>> find_topics("m-estimate")[0].python
    'likely.NaiveBayes(m_estimate=…)'
    """
    wishes = [_words(name) for name in _names_of(text)]
    found = [(max(_fit(topic, wish) for wish in wishes), topic) for topic in _topics()]
    return [topic for score, topic in sorted(found, key=lambda pair: -pair[0]) if score > 0][:MOST]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _words(text: str) -> set[str]:
    """The words of a text, without case, spelling of names or plurals."""
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in _plain(text).split()}


def _names_of(text: str) -> list[str]:
    """A text, and what it is called here."""
    own = _plain(text)
    if not own:
        raise SettingError(f"{shown(text)} has no word to look for. Name a concept, such as likely how m-estimate.")
    return [own, *(name for name, others in SYNONYMS.items() if any(other in own for other in others))]


def _fit(topic: Topic, wish: set[str]) -> float:
    """How well a topic fits: words in its title count most; one without more than half of the words does not fit."""
    title, text = _words(topic.title), _words(topic.meaning)
    known = len(wish & (title | text))
    short = 0.01 * len(title - wish)
    return known + 2.0 * len(wish & title) - short if 2 * known > len(wish) or known == len(wish) else 0.0


def _topics() -> Iterator[Topic]:
    """All that is declared: learners and their settings, then commands and their options."""
    from likely.cli.listing import COMMANDS, commands
    from likely.models.registry import LEARNERS, spoken_name
    from likely.models.settings import declared
    from likely.models.text.settings import Text

    context = click.Context(commands)
    every = {name: commands.get_command(context, name) for name in COMMANDS}
    options = {name: [p for p in own.params if isinstance(p, click.Option)] for name, own in every.items() if own}
    flags = {p.name: p.opts[-1] for p in options["fit"]}
    seen = set()
    for name, learner in (*LEARNERS.items(), ("Text", Text)):
        fit = "likely fit DATA TARGET " + (f"--learner {name}" if name in LEARNERS else "--text KIND")
        what = " ".join((learner.__doc__ or "").split("\n\n")[0].split())
        yield Topic(f"{name}, {spoken_name(name)}", what, fit, f"likely.{name}()")
        for setting, _, about in declared(learner):
            if about.meaning in seen:  # several learners share it
                continue
            seen.add(about.meaning)
            flag = flags.get({"missing": "missing_as"}.get(setting, setting)) if name in LEARNERS else None
            asked = f"{flag} …" if flag else f"--set {setting}=…" if name in LEARNERS else ""
            yield Topic(f"{setting} of {name}", about.meaning, f"{fit} {asked}".strip(), f"likely.{name}({setting}=…)")
    for name, own in every.items():
        yield Topic(f"likely {name}", (own and own.short_help) or "", f"likely {name} --help")
        for p in options[name]:
            if p.help and not (p.name in flags and name != "fit") and not any(p.help.startswith(m) for m in seen):
                yield Topic(f"{p.opts[-1]} of likely {name}", p.help, f"likely {name} … {p.opts[-1]}")


def find_chapter_about(text: str) -> str:
    """The chapter of the course that speaks most of a topic, as a sentence; empty where none does."""
    from likely.classroom.course.chapters import read_chapters

    counts = {c: max(_plain(c.text).count(name) for name in _names_of(text)) for c in read_chapters()}
    best = max(counts, key=counts.__getitem__)
    return (
        f"The course has it in chapter {best.number}, {best.title}: likely course {best.number}" if counts[best] else ""
    )


@command(short_help="Where a concept of the textbooks is: command, Python, chapter.")
@click.argument("topic", nargs=-1, required=True)
@json_option
def how(topic: tuple[str, ...], as_json: bool) -> None:
    """Say how likely is asked for TOPIC, a concept as textbooks call it: the command, the Python and the chapter.

    likely how m-estimate
    """
    from likely.sums import state

    text = " ".join(topic)
    found, chapter = find_topics(text), find_chapter_about(text)
    if as_json:
        terminal.write_bytes(state.as_json({"topics": [asdict(one) for one in found], "chapter": chapter}))
        return
    if not found and not chapter:
        raise SettingError(f"Nothing is declared that speaks of {shown(text)}. Try another word, or likely --help.")
    lines = [f"{one.title}: {one.meaning}\n  {one.command}\n  {one.python}".rstrip() for one in found]
    terminal.write("\n".join([*lines, *([chapter] if chapter else [])]))
