"""File names made of any text: safe on every system, and never a path. Knows no files."""

from __future__ import annotations

import os

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
