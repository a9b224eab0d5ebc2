"""Pages of TOML, names of files made of any text, paths without their folders, and small tables as HTML."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from likely.errors import InputError, shown
from likely.machinery.words import escape_text

# Pages of TOML: read from a file, or refused with a sentence; names as TOML spells them. Knows no contents.


def parse_toml(text: str, name: str, what: str, exact: bool = False) -> dict[str, Any]:
    """What stands on a page; `name` is what to call it in a sentence, `what` it ought to be ("a spec").

    With `exact`, 0.1 is a Decimal, one tenth, and not the float beside it.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal if exact else float)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{shown(name)} is not TOML: {error}. Correct that line.") from None
    except (InvalidOperation, ValueError):  # an exponent beyond what Decimal holds
        raise InputError(f"{shown(name)} has a number too large or too long to be read. Correct it.") from None
    except RecursionError:
        raise InputError(f"{shown(name)} nests brackets too deeply for {what}. Correct it.") from None


def read_toml_text(path: str | Path) -> str:
    """The text of a file, which may begin with a byte order mark as editors on Windows write it."""
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"Cannot read {shown(path)}: {reason}. Give a TOML file.") from None


def toml_key(name: str) -> str:
    """A name as TOML writes keys: bare where it may be.

    >>> toml_key("send-home"), toml_key("send home")
    ('send-home', '"send home"')
    """
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else toml_string(name)


def toml_string(text: str) -> str:
    """Text in quotes: as JSON has it, but for one character that TOML does not allow."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: Any) -> str:
    """A plain value as TOML: strings are JSON's, and floats Python's (inf and nan too).

    >>> toml_value({"k": [1, 2.0], "how": "held-out"})
    '{k = [1, 2.0], how = "held-out"}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return toml_string(value) if isinstance(value, str) else json.dumps(value)


# File names made of any text: safe on every system, and never a path. Knows no files.

MOST_BYTES = 80
MOST_SUFFIX = 8
DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{d}{k}" for d in ("COM", "LPT") for k in range(10))}
"""Names that Windows keeps for itself."""


def safe_file_name(text: str, otherwise: str) -> str:
    """A name with letters, digits, dashes and dots of `text`; a long one is cut before its suffixes.

    >>> safe_file_name("../a b.csv.gz", "table"), safe_file_name("<script>", "table"), safe_file_name("..", "table")
    ('a_b.csv.gz', 'script', 'table')
    >>> safe_file_name("con.csv", "table"), safe_file_name("a[1]*?.csv", "table")
    ('con_.csv', 'a_1.csv')
    """
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in text)
    while "__" in kept:
        kept = kept.replace("__", "_")
    root, suffix = kept.strip("._-"), ""
    for _ in range(2):
        stem, last = os.path.splitext(root)
        if stem and 1 < len(last.encode()) <= MOST_SUFFIX:
            root, suffix = stem, last + suffix
    root = root.rstrip("._-")
    while len((root + suffix).encode()) > MOST_BYTES:
        root = root[:-1]
    device = root.upper().partition(".")[0] in DEVICES
    return f"{root or otherwise}{'_' if device else ''}{suffix}"


# Small tables as HTML, for notebooks: everything from data is escaped. Knows words and numbers, nothing of models.

MOST_LINES = 20


def share_bar(value: float) -> str:
    """A share from 0 to 1 as a bar that needs no style."""
    return f'<progress max="1" value="{min(max(value, 0.0), 1.0):.4f}"></progress>'


def html_table(
    title: str,
    header: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    bars: Collection[int] = (),
    remarks: Sequence[str] = (),
) -> str:
    """A small table with a title above and remarks below. Cells of the columns `bars` are HTML of ours (`share`).

    >>> html_table("t", ("a",), [("<",)])
    '<div class="likely"><p><strong>t</strong></p><table><thead><tr><th>a</th></tr></thead><tbody>...&lt;...</div>'
    """
    rows = list(lines)

    def word_of(text: str) -> str:
        return escape_text(text, 60) if text else ""

    def cell(k: int, word: str) -> str:
        side = ' align="right"' if k in right else ""
        return f"<td{side}>{word if k in bars else word_of(word)}</td>"

    head = "".join(f"<th>{word_of(h)}</th>" for h in header)
    body = "".join(f"<tr>{''.join(cell(k, w) for k, w in enumerate(line))}</tr>" for line in rows[:MOST_LINES])
    below = [*remarks, *([f"{len(rows) - MOST_LINES} more."] if len(rows) > MOST_LINES else [])]
    return (
        f'<div class="likely"><p><strong>{escape_text(title, 200)}</strong></p><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{''.join(f'<p>{escape_text(r, 300)}</p>' for r in below)}</div>"
    )


# Paths, as they may be shown to others.

_FOLDERS = re.compile(r"^(--?[\w-]+=)?(?:~?/|[A-Za-z]:[\\/]).*[\\/](?=[^\\/])")


def without_folder(word: str) -> str:
    """A path of this machine as the name of its file; other words as they are. A page is mailed, and folders are
    nobody's business.

    >>> without_folder("/data/ann/my data.csv"), without_folder("--out=/out/y.html"), without_folder("s3://b/a.csv")
    ('my data.csv', '--out=y.html', 's3://b/a.csv')
    """
    return _FOLDERS.sub(r"\1", word)


def without_folders(command: str) -> str:
    """A command with the names of files alone.

    >>> without_folders("likely look '/data/ann/my data.csv' y --out /out/y.html")
    "likely look 'my data.csv' y --out y.html"
    """
    return shlex.join(map(without_folder, shlex.split(command)))
