"""What learners ask for beyond the first order: a statistic by name, of all columns or of some. Knows no statistic.

Of some columns, a statistic is shown a narrower table: whatever holds for it holds for blocks without further code.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from likely.errors import SettingError, nearest, shown


def request(name: str, columns: Iterable[str] | None = None) -> str:
    """One spelling for each wish, so that equal ones are swept once and a file can keep them.

    >>> request("cells", ["outlook", "windy"]), request("cells")
    ('cells["outlook","windy"]', 'cells')
    """
    if columns is None:
        return name
    return name + json.dumps([*columns], ensure_ascii=False, separators=(",", ":"))


def parse_request(wish: str, known: Collection[str]) -> tuple[str, tuple[str, ...] | None]:
    """The statistic that a request names, and its columns; None where it is of all of them.

    >>> parse_request('cells["outlook","windy"]', ["cells"])
    ('cells', ('outlook', 'windy'))
    """
    name, bracket, rest = wish.partition("[")
    if name not in known:
        raise SettingError(f"There is no statistic {shown(name)} to be kept of rows. {nearest(name, known)}")
    if not bracket:
        return name, None
    try:
        columns = json.loads(bracket + rest)
    except ValueError:
        columns = []
    if not columns or not all(isinstance(c, str) for c in columns) or len({*columns}) < len(columns):
        raise SettingError(f'{shown(wish)} is not a list of columns. Write it like this: {name}["age","income"].')
    return name, tuple(columns)
