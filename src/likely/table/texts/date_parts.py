"""Parts of dates as cells of their own: weekday, month, day of the month, hour. Knows seconds since 1970, in UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likely.table.arrow import label_array, number_array
from likely.table.texts.numbers import parse_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowArray
    from likely.table.columns import TextArray

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
LEVELS: dict[str, tuple[str, ...]] = {"weekday": WEEKDAYS, "month": MONTHS}
"""Parts that have names; the others are numbers."""
PARTS = ("weekday", "month", "day", "hour")
_DAY = 86400


def take_part(array: TextArray, part: str, missing: NDArray[np.uint64]) -> ArrowArray:
    """A part of the date in each cell; null where there is none.

    >>> import pyarrow as pa
    >>> dates = pa.array(["1969-12-31 23:10", "2024-02-29", "soon"])
    >>> for part in PARTS: print(take_part(dates, part, np.empty(0, np.uint64)).to_pylist())
    ['Wednesday', 'Thursday', None]
    ['December', 'February', None]
    [31.0, 29.0, None]
    [23.0, 0.0, None]
    """
    seconds, _ = parse_numbers(array, missing, dates=True)
    known = np.isfinite(seconds)
    whole = np.floor(np.where(known, seconds, 0.0)).astype(np.int64)
    days = whole // _DAY
    if part == "weekday":
        return _names((days + 3) % 7, known, WEEKDAYS)  # the first of January 1970 was a Thursday
    if part == "hour":
        return _numbers((whole - days * _DAY) // 3600, known)
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if part == "month":
        return _names(months.astype(np.int64) % 12, known, MONTHS)
    return _numbers((dates - months.astype("datetime64[D]")).astype(np.int64) + 1, known)


def _names(codes: NDArray[np.int64], known: NDArray[np.bool_], names: tuple[str, ...]) -> ArrowArray:
    if known.all():
        return label_array(codes.astype(np.int32), list(names))
    places: Any = pa.array(codes.astype(np.int32), mask=~known)
    return pa.DictionaryArray.from_arrays(places, list(names))


def _numbers(values: NDArray[np.int64], known: NDArray[np.bool_]) -> ArrowArray:
    return number_array(np.where(known, values, np.nan)) if known.all() else pa.array(values * 1.0, mask=~known)
