"""How a model in JSON and the cells of one row are read, in plain Python: the definition for all exports.

A row is read into cells, one for each attribute:

- "level": the place of the level in `levels`, MISSING or UNSEEN;
- "number" and "date" (seconds since 1970): a float; what is not finite counts as missing;
- "text": the text, or None where it is missing.

A part of a date (its weekday, say) is read from the column of the date, unless the row has it as a cell of its own.

Must give what `likely.table.encode` gives for the same row (tests/portable). Knows no scores.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any, TypeAlias

from likely.errors import FileFormatError, UnseenLevel, shown

Form: TypeAlias = Any
"""A dict of the JSON (`writing`) with its keys as attributes; `form` says which kind it is."""

Cell: TypeAlias = int | float | str | None
"""The code of a level, a number (NaN is missing), or a text (None is missing)."""

MISSING, UNSEEN = -1, -2
"""Codes of cells that are no level: not known, or not known to training."""
BLANKS = " \t\n\v\f\r"
MOST_SECONDS = 1e15
"""Since 1970, to either side: numbers that are farther away are on no day."""
LONGEST_TOKEN = 64
"""Bytes of a text that may still be a token for "missing"."""
_INFINITE = re.compile(r"([+-]?)(?:inf|infinity)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?"
    r"(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?",
)


_KEYS = {"form", "classes", "attributes", "missing", "score", "learner", "target", "refuse_unseen", "version"}
_TEXTS = {"form", "name", "attribute", "attributes", "words", "damping"}
"""Keys within a score whose values are no numbers."""


def portable_of(text: str) -> Form:
    """The model that a JSON text holds, as `writing.text_of` wrote it."""
    try:
        found = json.loads(text)
        if not set(found) >= _KEYS or found["form"] != "Portable":
            raise ValueError("no model")
        score, references = (_revived(found.pop(name, None), True) for name in ("score", "references"))
        return SimpleNamespace(**vars(_revived(found, False)), score=score, references=references)
    except (ValueError, TypeError, AttributeError) as error:
        raise FileFormatError(
            "This is not the portable form of a model, or it was altered. Export it again."
        ) from error


def _revived(value: Any, numbers: bool) -> Any:
    """Lists as tuples, dicts as forms; where numbers belong, "-inf" and the like are numbers."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _revived(v, numbers and key not in _TEXTS) for key, v in value.items()})
    if isinstance(value, list):
        return tuple(_revived(v, numbers) for v in value)
    return float(value) if numbers and value in ("inf", "-inf", "nan") else value


def cells_of(portable: Form, row: Mapping[str, object]) -> dict[str, Cell]:
    """The cells of a row (a dict of values) by attribute; what the row does not have is missing.

    >>> sky = SimpleNamespace(name="sky", kind="level", levels=("rain", "sun"), numeric=False)
    >>> t = SimpleNamespace(name="t", kind="number")
    >>> cells_of(SimpleNamespace(attributes=(sky, t), missing=("", "?"), refuse_unseen=False), {"sky": "sun"})
    {'sky': 1, 't': nan}
    """
    out: dict[str, Cell] = {}
    for attribute in portable.attributes:
        value = row.get(attribute.name)
        if value is None and getattr(attribute, "part", None) is not None:
            value = _part_of_row(attribute, row, portable.missing)
        cell = cell_of(attribute, value, portable.missing)
        if cell == UNSEEN and attribute.kind == "level" and portable.refuse_unseen:
            raise UnseenLevel(
                f"The row has {shown(row.get(attribute.name))} in column {shown(attribute.name)}, a level that "
                "training did not have. Learn with unseen='skip' (--unseen skip) to let it pass."
            )
        out[attribute.name] = cell
    return out


def _part_of_row(attribute: Form, row: Mapping[str, object], missing: tuple[str, ...]) -> float | str | None:
    seconds = cell_of(SimpleNamespace(kind="date"), row.get(attribute.part_of), missing)
    if not isinstance(seconds, float) or not abs(seconds) <= MOST_SECONDS:
        return None
    number = date_part(attribute.part, seconds)
    return attribute.names[int(number)] if attribute.names else float(number)


def date_part(
    part: str, seconds: Any, floor: Callable[[Any], Any] = math.floor, kept: Callable[[Any], Any] = lambda step: step
) -> Any:
    """A part of the date at so many seconds since 1970, in UTC; weekdays (from Monday) and months count from 0.

    Arithmetic alone, for SQL and ONNX too, which bring a `floor` of their own and give steps a name (`kept`). Years
    begin in March, so that the leap day comes last; an era are 400 of them.

    >>> [date_part(part, -3000.0) for part in ("weekday", "month", "day", "day of year", "hour")]
    [2, 11, 31, 365, 23]
    """
    second = kept(floor(seconds))
    days = kept(floor(second / 86400))
    if part == "hour":
        return floor((second - days * 86400) / 3600)
    if part == "weekday":
        return days + 3 - floor((days + 3) / 7) * 7
    era = kept(floor((days + 719468) / 146097))
    of_era = kept(days + 719468 - era * 146097)
    year = kept(floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365))
    of_year = kept(of_era - year * 365 - floor(year / 4) + floor(year / 100))
    month = kept(floor((of_year * 5 + 2) / 153))
    if part == "day":
        return of_year - floor((month * 153 + 2) / 5) + 1
    next_year = kept(floor(month / 10))  # 1 in January and February
    if part == "month":
        return month + 2 - next_year * 12
    before = kept(year + era * 400 + next_year - 1)
    return days + 719163 - before * 365 - floor(before / 4) + floor(before / 100) - floor(before / 400)


def cell_of(attribute: Form, value: object, missing: tuple[str, ...]) -> Cell:
    """One value as a cell of this attribute."""
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if attribute.kind == "level":
        return _level(attribute, value, missing)
    if attribute.kind == "text":
        return _text(value, missing)
    number = _dated(value, missing) if attribute.kind == "date" else number_of(value, missing)
    gone = (_parsed(token.strip(BLANKS)) for token in missing)
    return math.nan if any(number == g for g in gone if math.isfinite(g)) else number


def _level(attribute: Form, value: object, missing: tuple[str, ...]) -> int:
    known = attribute.levels
    if isinstance(value, int) and not isinstance(value, bool):
        text: str | None = str(value)  # exact: two whole numbers may be one double
    elif attribute.numeric:
        number = number_of(value, missing)
        text = number_label(number) if math.isfinite(number) else None
    elif isinstance(value, bool):
        text = "true" if value else "false"
        # A file may have spelled it True or TRUE.
        text = {name.lower(): name for name in known if name.lower() in ("true", "false")}.get(text, text)
    elif isinstance(value, float):
        text = number_label(value) if math.isfinite(value) else None
    else:
        text = None if value is None else str(value)
    if text is None or not text.strip() or text.strip() in missing:
        return MISSING
    return known.index(text) if text in known else UNSEEN


def _text(value: object, missing: tuple[str, ...]) -> str | None:
    if value is None or value != value:
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    tokens = {token.strip(BLANKS) for token in missing}
    if not text or (len(text.encode()) <= LONGEST_TOKEN and text.strip(BLANKS) in tokens):
        return None
    return text


def number_of(value: object, missing: tuple[str, ...] = ()) -> float:
    """A value as a number, not finite where it is none."""
    if isinstance(value, (date, datetime)):
        return _seconds(value)
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    text = "" if value is None else str(value).strip(BLANKS)
    return math.nan if text in {token.strip(BLANKS) for token in missing} else _parsed(text)


def _parsed(text: str) -> float:
    """A number as a file spells it, with or without marks between thousands; NaN where it is none."""
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    return float(text.replace(",", "")) if _NUMBER.fullmatch(text) else math.nan


def _dated(value: object, missing: tuple[str, ...]) -> float:
    if not isinstance(value, str):
        return number_of(value, missing)
    text = value.strip(BLANKS)
    return math.nan if text in {token.strip(BLANKS) for token in missing} else seconds_of(text)


def _seconds(value: date | datetime) -> float:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    apart = value - datetime(1970, 1, 1)
    return (apart.days * 86_400_000_000 + apart.seconds * 1_000_000 + apart.microseconds) / 1e6


def seconds_of(text: str) -> float:
    """Seconds since 1970 of an ISO date, with a time and a zone or not; NaN where it is none.

    >>> seconds_of("1970-01-02"), seconds_of("1970/01/01 00:01:00.5+01:00"), seconds_of("1970-02-30")
    (86400.0, -3539.5, nan)
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return math.nan
    year, month, day = int(found[1]), int(found[3]), int(found[4])
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    days_of = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= month <= 12 or not 1 <= day <= days_of[month - 1]:
        return math.nan
    # Days of the civil calendar, counting years from March so that the leap day comes last.
    y = year - 1 if month <= 2 else year
    of_era = y % 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 146097 * (y // 400) + 365 * of_era + of_era // 4 - of_era // 100 + of_year - 719468
    hour, minute, second = (int(found[k] or 0) for k in (5, 6, 7))
    zone_hour, zone_minute = int(found[10] or 0), int(found[11] or 0)
    if hour > 24 or minute > 59 or second > 60 or zone_hour > 24 or zone_minute > 59:
        return math.nan
    seconds = float(days * 86400) + (3600 * hour + 60 * minute) + second
    digits = (found[8] or "")[:9]
    if digits:
        seconds += float(int(digits)) / 10.0 ** len(digits)
    sign = -1 if found[9] == "+" else 1
    return seconds + sign * (3600 * zone_hour + 60 * zone_minute)


def number_label(value: float) -> str:
    """The one spelling of a number as a level: whole numbers without a point, others as Python writes them."""
    return str(int(value)) if value == int(value) and abs(value) < 2**64 else repr(value)


def words_of(text: str, how: Form) -> list[str]:
    """The words (pairs, runs) of one text, in order.

    >>> words_of("The CAT & the dog", SimpleNamespace(shortest=1, stop=("the",), pairs=True, grams=None))
    ['cat', 'dog', 'cat dog']
    """
    words = [w for w in re.findall(r"\w+", text.lower()) if len(w) >= how.shortest and w not in how.stop]
    if how.grams is not None:
        return [gram for word in words for gram in _grams(f" {word} ", *how.grams)]
    out: list[str] = []
    for k, word in enumerate(words):
        out.append(word)
        if how.pairs and k:
            out.append(f"{words[k - 1]} {word}")
    return out


def _grams(word: str, low: int, high: int) -> list[str]:
    """All runs; a word that is no longer than a run counts as one, once."""
    out = []
    for n in range(low, high + 1):
        out += [word[k : k + n] for k in range(max(len(word) - n, 0) + 1)]
        if len(word) <= n:
            break
    return out
