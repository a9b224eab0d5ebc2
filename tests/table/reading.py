"""How tests of this room open a table: the one place here that names the module behind what takes a table."""

from __future__ import annotations

from typing import Any

from likely.table.open import open_source as open_source


def rows(data: object, **options: Any) -> list[dict[str, Any]]:
    """The cells of a table, row by row, as its reader gives them."""
    return [row for batch in open_source(data, **options).batches() for row in batch.to_pylist()]
