"""What must be true of a state that a file holds: the few checks that every `from_state` and `restore` is made of.

A file may have been altered by someone who means harm, and its checksum with it. Whoever reads a state checks its
invariants here before anything is computed from it. Knows plain values and arrays, no statistic and no file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class UnsoundState(ValueError):
    """A state that `state()` cannot have given. Who knows the file's name makes a FileFormatError of it."""


def require(sound: object, what: str) -> None:
    """Refuse a state of which this is not true.

    >>> require(2 > 1, "two is more than one")
    """
    if not sound:
        raise UnsoundState(f"This is not sound: {what}.")


def read_whole(value: object, low: int, high: int, what: str) -> int:
    """A whole number from `low` to `high`."""
    require(type(value) is int and low <= value <= high, f"{what} is a whole number from {low:,} to {high:,}")
    assert isinstance(value, int)
    return value


def read_number(value: object, low: float, high: float, what: str) -> float:
    """A finite number from `low` to `high`."""
    require(type(value) in (int, float), f"{what} is a number")
    number = float(value)  # type: ignore[arg-type]
    require(math.isfinite(number) and low <= number <= high, f"{what} is a number from {low} to {high}")
    return number


def read_text(value: object, what: str) -> str:
    """A text that can be written as UTF-8."""
    require(isinstance(value, str), f"{what} is a text")
    assert isinstance(value, str)
    value.encode()  # a lone surrogate is a UnicodeEncodeError, which is a ValueError
    return value


def read_texts(values: object, what: str) -> list[str]:
    """A list of texts."""
    require(isinstance(values, (list, tuple)), f"{what} are a list")
    assert isinstance(values, (list, tuple))
    return [read_text(value, what) for value in values]


def read_names(values: object, what: str) -> list[str]:
    """A list of texts, no two of them equal."""
    names = read_texts(values, what)
    require(len({*names}) == len(names), f"{what} differ from each other")
    return names


def read_mapping(value: object, what: str) -> Mapping[str, Any]:
    """Values by name."""
    require(isinstance(value, dict), f"{what} is a dict")
    assert isinstance(value, dict)
    return value


def read_array(value: object, kinds: str, dimensions: int, what: str) -> NDArray[Any]:
    """An array of so many dimensions whose type is one of `kinds`: i (whole), u (whole, not negative), f (numbers)."""
    require(isinstance(value, np.ndarray), f"{what} is an array")
    assert isinstance(value, np.ndarray)
    require(value.dtype.kind in kinds and value.ndim == dimensions, f"{what} has {dimensions} dimensions of {kinds}")
    return value


def read_wholes(value: object, dimensions: int, what: str) -> NDArray[np.int64]:
    """An array of whole numbers."""
    array = read_array(value, "iu", dimensions, what)
    require(array.dtype != np.uint64 or not (array >> np.uint64(63)).any(), f"{what} are below 2**63")
    return array.astype(np.int64)


def read_bytes(value: object, what: str) -> NDArray[np.uint8]:
    """An array of bytes."""
    array = read_array(value, "u", 1, what)
    require(array.dtype == np.uint8, f"{what} are bytes")
    return np.ascontiguousarray(array, np.uint8)


def read_finite(
    value: object, shape: tuple[int, ...], what: str, *, least: float = -math.inf, most: float = math.inf
) -> NDArray[np.float64]:
    """An array of finite numbers of this shape, none of them below `least` or above `most`."""
    array = read_array(value, "iuf", len(shape), what).astype(np.float64)
    require(array.shape == shape, f"{what} has the shape {shape}")
    require(np.isfinite(array).all(), f"{what} are finite numbers")
    require(((array >= least) & (array <= most)).all(), f"{what} are numbers from {least} to {most}")
    return array


def read_shares(value: object, count: int, what: str) -> NDArray[np.float64]:
    """So many weights that add up to one, none of them negative."""
    shares = read_finite(value, (count,), what, least=0.0)
    require(abs(float(shares.sum()) - 1.0) < 1e-6, f"{what} add up to one")
    return shares


def is_rising(values: Iterable[Any] | NDArray[Any]) -> bool:
    """Whether every value is above the one before."""
    array = np.asarray(values)
    return bool((array[1:] > array[:-1]).all())
