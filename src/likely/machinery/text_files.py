"""Pages of TOML, names of files made of any text, and paths without their folders."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from likely.errors import InputError, shown

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
