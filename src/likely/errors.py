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
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class LikelyError(Exception):
    """A problem that the user can mend; its text is one or two sentences for people.

    >>> import likely
    >>> try:
    ...     likely.fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, target="pay")
    ... except likely.LikelyError as error:
    ...     print(error)
    the table has no column 'pay'. Did you mean 'play'?
    """


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
