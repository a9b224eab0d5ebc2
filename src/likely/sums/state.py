"""The file format: a tree of plain values and arrays as bytes and back, checked by a digest, written atomically."""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import numpy as np

from likely.errors import FileFormatError, InputError, LikelyError, shown
from likely.table.output.files import MODEL, PartFile, Revision, check_output, kind_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What must be true of a state that a file holds: the few checks that every `from_state` and `restore` is made of.


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


Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0 + 1e-9)]
"""A share as `built` checks it; sums of shares are rounded."""
Positive = Annotated[float, msgspec.Meta(gt=0.0)]


def require_plain(tree: object) -> None:
    """Refuse what no file of ours holds: numbers that are not finite, texts that UTF-8 cannot hold."""
    if isinstance(tree, (list, tuple, dict)):
        for own in tree.values() if isinstance(tree, dict) else tree:
            require_plain(own)
    elif isinstance(tree, str):
        read_text(tree, "a text")
    require(not isinstance(tree, float) or math.isfinite(tree), "numbers are finite")


def read_shares(value: object, count: int, what: str) -> NDArray[np.float64]:
    """So many weights that add up to one, none of them negative."""
    shares = read_finite(value, (count,), what, least=0.0)
    require(abs(float(shares.sum()) - 1.0) < 1e-6, f"{what} add up to one")
    return shares


def is_rising(values: Iterable[Any] | NDArray[Any]) -> bool:
    """Whether every value is above the one before."""
    array = np.asarray(values)
    return bool((array[1:] > array[:-1]).all())


# The file format: a tree of plain values and arrays as bytes and back, checked by a digest, written atomically.

MAGIC = MODEL
VERSION = 2
"""Raised when learners or statistics are renamed or written otherwise; older files are refused with a sentence."""
_HEAD = struct.Struct("<8sIQ")
_DIGEST = 32
_KINDS = ("u1", "i1", "i2", "i4", "i8", "u8", "f8")
_MARKS = ({"array"}, {"dict"})
_UNSOUND = (
    ArithmeticError, AssertionError, AttributeError, LikelyError, LookupError, msgspec.MsgspecError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip
T = TypeVar("T")


def plain(value: Any) -> Any:
    """A settings object or schema as plain values."""
    return msgspec.to_builtins(value)


def built(kind: type[T], value: Any) -> T:
    """The settings object or schema of class `kind` that `plain` took apart; ValueError where it does not fit."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def as_json(value: Any) -> bytes:
    """Plain values as JSON text."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them: a file of counts is mostly small counts."""
    if array.dtype == np.int64:
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        for size, kind in ((7, "<i1"), (15, "<i2"), (31, "<i4")):
            if -(1 << size) <= low and high < 1 << size:
                return array.astype(kind)
    return array.astype(array.dtype.newbyteorder("<"))


def dump(tree: dict[str, Any]) -> bytes:
    """The bytes of a tree of dicts, lists, strings, numbers and arrays."""
    arrays: list[NDArray[Any]] = []

    def reduced(node: Any) -> Any:
        if isinstance(node, np.ndarray):
            arrays.append(_narrow(node))
            return {"array": len(arrays) - 1}
        if isinstance(node, dict):
            own = {key: reduced(node[key]) for key in sorted(node)}
            return {"dict": own} if own.keys() in _MARKS else own  # names are data: one may look like a mark of ours
        if isinstance(node, (list, tuple)):
            return [reduced(item) for item in node]
        return node

    content = reduced(tree)
    table = [[a.dtype.str[1:], list(a.shape)] for a in arrays]
    header = msgspec.json.encode({"content": content, "arrays": table}, order="deterministic")
    body = _HEAD.pack(MAGIC, VERSION, len(header)) + header + b"".join(a.tobytes() for a in arrays)
    return body + hashlib.sha256(body).digest()


def parse(data: bytes, name: str) -> dict[str, Any]:
    """The tree that `dump` wrote; `name` is what to call the file in a sentence."""
    if not data.startswith(MAGIC):
        raise FileFormatError(f"{shown(name)} is not a likely model file. Make one with `likely fit … -o FILE`.")
    if len(data) < _HEAD.size + _DIGEST:
        raise FileFormatError(f"{shown(name)} is cut short. Copy or make it again.")
    _, version, length = _HEAD.unpack_from(data)
    if version == 0:
        raise FileFormatError(f"{shown(name)} is cut short or was altered. Copy or make it again.")
    if version < VERSION:
        raise FileFormatError(
            f"{shown(name)} was written by an older likely (file version {version}, this one reads {VERSION}). "
            "Make it again from its rows."
        )
    if version > VERSION:
        raise FileFormatError(
            f"{shown(name)} was written by a newer likely (file version {version}, this one reads {VERSION}). "
            "Upgrade likely to read it."
        )
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise FileFormatError(
            f"{shown(name)} is cut short or was altered: its checksum is wrong. Copy or make it again."
        )
    try:
        return _restored(data, length, name)
    except _UNSOUND:
        raise FileFormatError(f"{shown(name)} holds something that this version cannot read. Make it again.") from None


def _restored(data: bytes, length: int, name: str) -> dict[str, Any]:
    at = _HEAD.size + length
    header = msgspec.json.decode(data[_HEAD.size : at])
    arrays: list[NDArray[Any]] = []
    for kind, shape in header["arrays"]:
        if kind not in _KINDS:
            raise FileFormatError(f"{shown(name)} holds an array of an unknown kind.")
        require(isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape), "a shape is whole numbers")
        count = prod(shape)
        dtype = np.dtype("<" + kind)
        require(all(n <= len(data) for n in shape) and count <= len(data), "an array is no larger than its file")
        arrays.append(np.frombuffer(data, dtype, count, at).reshape(shape))
        at += count * dtype.itemsize

    def restored(node: Any) -> Any:
        if isinstance(node, dict):
            if node.keys() == {"array"}:
                return arrays[read_whole(node["array"], 0, len(arrays) - 1, "the number of an array")]
            if node.keys() == {"dict"}:
                node = node["dict"]
            return {key: restored(value) for key, value in node.items()}
        return [restored(item) for item in node] if isinstance(node, list) else node

    content = restored(header["content"])
    if not isinstance(content, dict):
        raise TypeError("the content is no dict")
    return content


@contextmanager
def unsound(name: str) -> Iterator[None]:
    """Whatever goes wrong with what a file holds is told as a FileFormatError, in which the file is called `name`.
    Invariants are checked one by one (likely.sums.state); what they let through, and breaks later, ends here too.
    """
    try:
        yield
    except FileFormatError:
        raise
    except _UNSOUND:
        if os.environ.get("LIKELY_DEBUG"):
            raise
        raise FileFormatError(f"{name} holds something that this version cannot read. Make it again.") from None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read and check a file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        remedy = "Give a file that `likely fit … -o` wrote."
        raise InputError(f"Cannot read {shown(path)}: {error.strerror}. {remedy}") from None
    return parse(data, Path(path).name)


def write(path: str | os.PathLike[str], data: bytes, since: Revision | None = None, *, cache: bool = False) -> None:
    """Write so that a kill at any moment leaves the old file or the new one, never a part.

    `since` is what the file held when it was read: where it holds something else by now, it is not written. A file of
    another kind is not replaced, unless it is in a cache of ours, where whatever cannot be read is written anew.
    """
    if not cache:
        check_output(path, kind_of(data))
    try:
        # resolve(): a link keeps pointing at its file, which is the one replaced.
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a pipe or a device takes bytes; it is not there to be replaced
            return
        with PartFile(target, alone=since is not None) as part:
            if since is not None:
                since.check(target)
            with os.fdopen(part.handle, "wb", closefd=False) as file:
                file.write(data)
            part.finish()
    except OSError as error:
        raise InputError(f"Cannot write {shown(path)}: {error.strerror}.") from None
