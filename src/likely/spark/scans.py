"""DataFrames that are nothing but Parquet files: tasks can then read these themselves, in a third of the time.

On its way through Spark each row is taken apart by Java and put together again as Arrow. Knows Spark's plans and what a
file may hold so that both ways see the same cells; where it is not sure, the rows go through Spark.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from likely.errors import LikelyError
from likely.table.arrow import are_plain_alike
from likely.table.fragments import BYTES, CutFiles, TextOptions, cut_listed

LEAST = 1 << 20
"""Bytes of the smallest fragments: there should be work for every task slot, but not only starts of tasks."""


def cut_scanned(frame: Any, schema: Any) -> CutFiles | None:
    """The fragments of the files that a DataFrame is all rows and columns of; None where it is anything else, or where
    cells might not be the same."""
    paths = _scanned_files(frame)
    if not paths:
        return None
    slots = max(1, int(frame.sparkSession.sparkContext.defaultParallelism))
    try:
        total = sum(os.path.getsize(path) for path in paths)
        size = min(BYTES, max(LEAST, total // (2 * slots)))
        found = cut_listed([(path, path) for path in paths], "the DataFrame", TextOptions(), size)
    except (OSError, LikelyError):
        return None  # Spark says what is wrong
    return found if are_plain_alike(found.title.schema, schema) else None


def _scanned_files(frame: Any) -> list[str]:
    """The paths of the Parquet files that Spark would do nothing but read; none where it would do more."""
    if not hasattr(frame, "_jdf"):  # Spark Connect keeps its plans to itself
        return []
    try:
        plan = frame._jdf.queryExecution().analyzed()
        relation = plan.relation() if _name_of(plan) == "LogicalRelation" else None
        if relation is None or _name_of(relation) != "HadoopFsRelation":
            return []
        if _name_of(relation.fileFormat()) != "ParquetFileFormat" or relation.partitionSchema().length():
            return []
        kept = frame.storageLevel  # what was cached is what counts, whatever the files hold by now
        if kept.useMemory or kept.useDisk:
            return []
        files = [urlsplit(address) for address in frame.inputFiles()]
    except Exception:  # another Spark may call these otherwise: then rows go through it
        return []
    return sorted(unquote(file.path) for file in files) if all(file.scheme == "file" for file in files) else []


def _name_of(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())
