"""Every exception of likely, as one tree. Each message says what was wrong, where, and what to do.

LikelyError                 anything that is a person's to mend; the command line prints it and exits 2
├── InputError              the data cannot be read: missing file, ragged row, bad encoding
│   ├── EncodingError       the bytes are not text in the encoding that was tried
│   └── TooLarge            more rows, cells or bytes than a server takes in one request
├── ColumnError             a column that is missing, doubled, or unfit for its role
├── SchemaMismatch          two summaries (or a file and a schema) read a column differently
├── NotLearned              rows to unlearn that were never learned
├── SettingError            a setting outside its range, or two that contradict each other
├── UnseenLevel             a level that training did not have, where the model was told to refuse
└── FileFormatError         a model file that is truncated, altered, foreign or newer than this version
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

_writes_options: ContextVar[bool] = ContextVar("writes_options", default=False)


@contextmanager
def writing_options() -> Iterator[None]:
    """Within this, sentences name options as the command line has them; else they are keyword arguments."""
    token = _writes_options.set(True)
    try:
        yield
    finally:
        _writes_options.reset(token)


_ARGUMENTS = {"for": "for_", "missing-as": "missing", "replace-invalid": "encoding_errors='replace'"}
_VALUED = (
    "block|dates|dialect|encoding|for|header-row|learner|missing|missing-as|numbers|sheet|target-bins|temperature|text"
    "|time|unseen"
)
_COMMANDS = {
    r"(; )?--all shows[^.\n]*": "",
    r"`likely (fit|regress|score)`": r"`likely.\1`",
    r"`likely show`": "`print(model)`",
    r"likely curve shows": "likely.curve shows",
    r"likely look DATA (.+) --learner (\w+)": r"likely.look(data, '\1', likely.\2())",
}
"""What is said of commands, and how Python says it."""
_TYPE = r"--type ('[^']*'|[^\s'()]*[^\s'().,;:])"
_OPTION = re.compile(
    rf"likely [a-z]+ --[^.;,)]*|(?:{_TYPE} ?)+(?<! )|--({_VALUED}) ('[^']*'|[\w.,-]*\w)|--([a-z][a-z-]+)"
)


def write_arguments(sentence: str) -> str:
    """A sentence with keyword arguments where it names options of the command line.

    >>> write_arguments("Cut it, e.g. --target-bins 4, or say --type mass=nominal --type 'a b=date'.")
    "Cut it, e.g. target_bins=4, or say types={'mass': 'nominal', 'a b': 'date'}."
    >>> write_arguments("Ask for it: --learner Auto. Leave --keep out; --all shows more.")
    'Ask for it: learner=likely.Auto(). Leave keep out.'
    >>> write_arguments("See likely look --time. Or a number: `likely regress`.")
    'See likely.look(…, time=…). Or a number: `likely.regress`.'
    >>> write_arguments("To judge it: likely look DATA play --learner Prior")
    "To judge it: likely.look(data, 'play', likely.Prior())"
    """

    def argument(found: re.Match[str]) -> str:
        if found[0].startswith("likely"):
            _, command, option = found[0].split(" ", 2)
            if command not in ("compare", "curve", "fit", "look"):
                return found[0]  # a command that is no function stays one
            said = write_arguments(option)
            return f"likely.{command}(…, {said}{'' if '=' in said else '=…'})"
        if found[1] is not None:
            pairs = (word.strip("'").rpartition("=") for word in re.findall(_TYPE, found[0]))
            return f"types={ {column: kind for column, _, kind in pairs} }"
        name = _ARGUMENTS.get(found[2] or found[4] or "", (found[2] or found[4]).replace("-", "_"))
        if found[3] is None:
            return name
        value = found[3]
        if name == "learner":
            return f"learner=likely.{value}()"
        if re.fullmatch(r"[\d.,]+", value):
            return f"{name}={f'[{value}]' if ',' in value else value}".replace(",", ", ")
        return f"{name}={value.strip(chr(39))!r}"

    for command, python in _COMMANDS.items():
        sentence = re.sub(command, python, sentence)
    return _OPTION.sub(argument, sentence)


class LikelyError(Exception):
    """A problem that the user can mend; its text is one or two sentences for people.

    >>> import likely
    >>> try:
    ...     likely.fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="pay")
    ... except likely.LikelyError as error:
    ...     print(error)
    the table has no column 'pay'. Did you mean 'play'?
    """

    def __str__(self) -> str:
        words = super().__str__()
        return words if _writes_options.get() else write_arguments(words)


class InputError(LikelyError):
    """The data cannot be read."""


class EncodingError(InputError):
    """The bytes are not text in the encoding that was tried."""


class TooLarge(InputError):
    """More rows, cells or bytes than a server takes in one request."""


class ColumnError(LikelyError):
    """A column is missing, doubled, or unfit for its role."""


class SchemaMismatch(LikelyError):
    """Two tables read the same column differently."""


class NotLearned(LikelyError):
    """Rows to unlearn that were never learned."""


class SettingError(LikelyError):
    """A setting outside its range."""


class UnseenLevel(LikelyError):
    """A level that training did not have."""


class FileFormatError(LikelyError):
    """A model file that cannot be trusted."""


def shown(text: object, limit: int = 60) -> str:
    """A piece of data as it may appear in a sentence: quoted, one line, no control characters, cut to `limit`.

    >>> shown("a\\nb")
    "'a\\\\nb'"
    """
    whole = str(text)
    quoted = repr(whole if len(whole) <= limit else whole[: limit - 1] + "…")
    return "".join(c if c.isprintable() else "?" for c in quoted)


def masked(sentence: str) -> str:
    """A sentence in which no address shows a user, a password or options: the last net before a sentence is shown.

    >>> masked("No such file: postgresql://me:secret@host/db?sslpassword=x.")
    'No such file: postgresql://…@host/db?….'
    """
    without = re.sub(r"(?<=://).*@", "…@", sentence)
    return re.sub(r"(://[^\s?]*\?)[^\s'\"]*[^\s'\".,;]", r"\1…", without)


_LONG_NAME, _COMPARED = 200, 10_000
"""Names that are longer, or come after so many others, are not compared."""


def nearest(name: str, names: Iterable[str], most: int = 8) -> str:
    """The end of a sentence that suggests the nearest existing name, or lists the names where there are few."""
    known = list(names)
    # Comparing takes the product of the lengths: a name of a megabyte, or a million names, would take minutes.
    near = [k for k in known[:_COMPARED] if len(k) <= _LONG_NAME] if len(name) <= _LONG_NAME else []
    close = get_close_matches(name, near, n=1, cutoff=0.6) or _longer_names(name, near)
    if close:
        return f"Did you mean {shown(close[0])}?"
    return list_names(known, most)


def list_names(names: Sequence[str], most: int = 8) -> str:
    """The end of a sentence that says which names there are."""
    if not names:
        return "There are no columns."
    listed = ", ".join(shown(k, 30) for k in names[:most])
    return f"There are: {listed}{' …' if len(names) > most else ''}."


def _longer_names(name: str, known: list[str]) -> list[str]:
    """The one name that begins like this, whatever its case; none where several do."""
    start = name.casefold()
    longer = [k for k in known if len(start) >= 3 and k.casefold().startswith(start)]
    return [k for k in known if k.casefold() == start] or (longer if len(longer) == 1 else [])
