"""How a page holds much in few characters: the model as whole multiples, trees as they grew, letters; all of it packed.

Knows the portable form as JSON has it; `script/packing.js` undoes what is done here.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from likely.machinery.arrays import Floats, distinct

FIRST = 40
"""The letter of code 0: from here on, few letters mean something to JSON or HTML."""
MOST_CODES = 50_000
"""Of more different codes the letters would reach what Unicode keeps for itself."""
DECIMALS = 14
"""Of numbers without a unit of their own; the sums of a page stay within 1e-12."""
NUMBERS = frozenset({"scores", "values", "table", "shares"})
"""Parts of terms and references that are added up, and nothing else."""


LETTERS = np.frombuffer(bytes(c for c in range(33, 127) if chr(c) not in "<&\\"), np.uint8)
"""The 91 letters of packed texts: none of them means anything within a tag of script."""


def packed(text: str) -> str:
    """A text as gzip, 13 bits in two letters, which the page's loader unpacks. Base64 would take a twelfth more.

    >>> len(packed("abc" * 100)) < 40
    True
    """
    bits = np.unpackbits(np.frombuffer(gzip.compress(text.encode(), 9, mtime=0), np.uint8))
    rest = len(bits) % 13
    bits = np.pad(bits, (0, (13 if rest > 6 else 6 if rest else 0) - rest))  # up to six bits are one letter
    whole = len(bits) // 13 * 13
    pairs = bits[:whole].reshape(-1, 13) @ (1 << np.arange(12, -1, -1))
    codes = np.stack([pairs // 91, pairs % 91], axis=1).ravel()
    if len(bits) > whole:
        codes = np.append(codes, bits[whole:] @ (1 << np.arange(5, -1, -1)))
    return str(LETTERS[codes].tobytes(), "ascii")


def shorten_model(text: str) -> str:
    """What the what-if works with, in fewer characters; answers stay equal to 1e-12."""
    told = json.loads(text)
    form = told["portable"]
    form["score"] = _shortened(form["score"])
    if form["references"] is not None:
        rows = base64.b64decode(form["references"]["rows"])
        form["references"] = {**_shortened(form["references"]), "rows": _letters(rows)}
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _letters(codes: Iterable[int]) -> str:
    return "".join(chr(FIRST + code) for code in codes)


def _shortened(form: Any) -> Any:
    if isinstance(form, list):
        return [_shortened(own) for own in form]
    if not isinstance(form, dict):
        return form
    if form["form"] == "TreesTerm":
        form = _in_order_of_growth(form)
    numbers = {"shares"} if form["form"] == "References" else NUMBERS
    return {name: _multiples(own) if name in numbers else _shortened(own) for name, own in form.items()}


def _in_order_of_growth(term: dict[str, Any]) -> dict[str, Any]:
    """Nodes with all that is below them before the next: a letter each says how it parts; nothing where below is."""
    order: list[int] = []
    for root in term["roots"]:
        pending = [root]
        while pending:
            node = pending.pop()
            order.append(node)
            if term["axis"][node] >= 0:
                pending += [term["below"][node] + 1, term["below"][node]]
    parted = [(term["axis"][node], tuple(term["turns"][node])) for node in order]
    splits = {split: k for k, (split, _) in enumerate(Counter(parted).most_common())}
    if len(splits) > MOST_CODES or len(order) != len(term["axis"]):
        return term
    kept = {name: own for name, own in term.items() if name not in ("roots", "axis", "below", "turns")}
    grown = _letters(splits[split] for split in parted)
    return {**kept, "splits": list(splits), "grown": grown, "values": [[c[k] for k in order] for c in term["values"]]}


def _multiples(values: list[Any]) -> Any:
    """Numbers as whole multiples of a unit: which there are, each less the one before, and a letter for each place.
    Lists of one length are one long list with that width. What is infinite, large or ragged stays as it is."""
    if len(values) and all(isinstance(own, list) and own and isinstance(own[0], list) for own in values):
        return [_multiples(own) for own in values]
    try:
        table = np.array(values, np.float64)
    except ValueError:
        return values
    if table.size < 8 or not np.abs(table).max() < 10.0 ** (15 - DECIMALS) * 9:
        return values
    unit = _unit_of(table)
    levels, codes = np.unique(np.round(table / unit).astype(np.int64), return_inverse=True)
    if len(levels) > MOST_CODES:
        return values
    width = table.shape[1] if table.ndim == 2 else 0
    steps = np.diff(levels, prepend=0).tolist()
    return {
        "form": "Multiples",
        "unit": unit,
        "steps": steps,
        "codes": _letters(codes.ravel().tolist()),
        "width": width,
    }


def _unit_of(table: Floats) -> float:
    """What all numbers are whole multiples of, but for their last bits; where there is no such unit, 1e-14."""
    sizes = distinct(np.abs(table))
    gaps = np.diff(sizes, prepend=0.0)
    gaps = gaps[gaps > 1e-9]
    if len(gaps):
        times = np.round(sizes / gaps.min())
        unit = float(sizes @ times / (times @ times))
        if np.abs(times * unit - sizes).max() <= 4e-16 * max(1.0, float(sizes.max())):
            return unit
    return 10.0**-DECIMALS
