"""Blanks around the cells of a text file, which are no part of them: taken off where the file is read, and counted.

What is typed already (frames, Parquet, JSON, databases) never comes here. Knows cells as bytes, not what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from likely.errors import shown
from likely.machinery.arrays import Bytes, Longs, Whole
from likely.machinery.jit import kernel
from likely.table.arrow import ArrowArray, ArrowBatch
from likely.table.texts.grammar import is_blank
from likely.table.views import text_cells

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Python's `strip` takes off."""
_LISTED = 4


def trim_batch(batch: ArrowBatch, counts: dict[str, int]) -> ArrowBatch:
    """The batch without blanks around its texts; adds to `counts` how many cells of which column had some."""
    arrays = [*batch.columns]
    for k, name in enumerate(batch.schema.names):
        trimmed, count = _trim(arrays[k]) if pa.types.is_string(arrays[k].type) else (arrays[k], 0)
        if count:
            arrays[k] = trimmed
            counts[name] = counts.get(name, 0) + count
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names) if counts else batch


def _trim(array: ArrowArray) -> tuple[ArrowArray, int]:
    texts = text_cells(array)
    if not count_edges(texts.data, texts.starts, texts.ends):
        return array, 0
    import pyarrow.compute

    compute: Any = pyarrow.compute
    trimmed = compute.utf8_trim(array, characters=SPACES)
    now = text_cells(trimmed)
    return trimmed, int(np.count_nonzero(now.ends - now.starts != texts.ends - texts.starts))


@kernel("u1[], i8[], i8[]", returns=1)
def count_edges(data: Bytes, starts: Longs, ends: Longs) -> Whole:
    """How many cells begin or end with a blank, or with a byte that may be of one beyond ASCII."""
    count: Whole = 0
    for i in range(starts.size):
        a, b = starts[i], ends[i]
        if a < b:
            first, last = data[a], data[b - 1]
            edge = is_blank(first) | is_blank(last) | np.int64(first >= 128) | np.int64(last >= 128)
            edge |= (np.int64(first >= 28) & np.int64(first < 32)) | (np.int64(last >= 28) & np.int64(last < 32))
            count += edge
    return count


def trim_note(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The sentence that says what was trimmed, if anything was.

    >>> trim_note({"sky": 3, "wind": 1})
    ("Blanks around cells were trimmed: in 3 cells of 'sky', 1 of 'wind'.",)
    """
    if not counts:
        return ()
    first = [f"{count:,} of {shown(name, 40)}" for name, count in counts.items()][:_LISTED]
    cells = "cell" if next(iter(counts.values())) == 1 else "cells"
    first[0] = first[0].replace(" of ", f" {cells} of ", 1)
    more = len(counts) - len(first)
    rest = f" and in {more:,} more column{'s' if more > 1 else ''}" if more else ""
    return (f"Blanks around cells were trimmed: in {', '.join(first)}{rest}.",)
