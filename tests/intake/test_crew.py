"""How many threads sweep a table: small ones are not worth a second."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from likely.intake.engine import crew_for
from likely.table.formats.memory import SMALL, TableSource


def test_only_few_bytes_are_left_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKELY_THREADS", "3")
    small = TableSource(pa.table({"x": np.zeros(1000)}))
    long = TableSource(pa.table({"x": ["a rather long text " * 1000] * (SMALL // 10_000)}))  # few rows, many bytes
    many = TableSource(pa.table({"x": np.zeros(SMALL // 8)}))
    assert [crew_for(source, None) for source in (small, long, many)] == [1, 3, 3]
    assert [crew_for(source, 2) for source in (small, long, many)] == [2, 2, 2]
