"""How much one request may ask for, and the sentences that refuse more. Knows numbers only, no HTTP and no model."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from likely.errors import TooLarge

MOST_ROWS = 10_000
"""Rows in one request of JSON; /openapi.json says so too."""


@dataclass(frozen=True)
class Limits:
    """What one request may have and take."""

    body: int = 16 << 20
    """Bytes of a request as it arrives: --largest."""
    unpacked: int = 256 << 20
    """Bytes of a table after decompression: --unpacked."""
    seconds: float = 60.0
    """Seconds until an answer: --seconds."""
    table_rows: int = 1_000_000
    """Rows of a table."""
    cells: int = 1_000_000
    """Cells of the rows of JSON (a row has one for each attribute), and of the answer to them."""
    table_cells: int = 50_000_000
    """Cells of a table, and of the answer to it."""
    actions: int = 1_000
    """Actions of a loss in a request."""
    at_once: int = 16
    """Requests that are worked on at the same time."""
    waiting: int = 1_000
    """Requests that wait for their turn; more are refused."""
    arriving: int = 256
    """Bodies that arrive at the same time; of more, the oldest are given up."""
    arrival: float = 20.0
    """Seconds in which a body must have arrived."""

    def check_actions(self, count: int) -> None:
        if count > self.actions:
            raise TooLarge(f"The loss names {count:,} actions; a request may name {self.actions:,}. Name fewer.")

    def check_cells(self, rows: int, columns: int, what: str) -> None:
        if rows * columns > self.cells:
            raise TooLarge(
                f"{rows:,} rows of {columns:,} {what} are more than the {self.cells:,} cells of a request. "
                "Send fewer rows at a time."
            )


@dataclass
class TableCheck:
    """Watches a table as it is answered, batch after batch: its rows, its cells, and the time."""

    limits: Limits
    start: float = field(default_factory=time.monotonic)
    rows: int = 0

    def add(self, rows: int, columns: int) -> None:
        self.rows += rows
        if self.rows > self.limits.table_rows:
            raise TooLarge(
                f"The table has more than {self.limits.table_rows:,} rows. Send fewer at a time, or use "
                "`likely predict`."
            )
        if self.rows * columns > self.limits.table_cells:
            raise TooLarge(
                f"The table, with its answers, has more than {self.limits.table_cells:,} cells. "
                "Send fewer rows at a time, or use `likely predict`."
            )
        if time.monotonic() - self.start > self.limits.seconds:
            raise TooLarge(late_sentence(self.limits))


def late_sentence(limits: Limits) -> str:
    return (
        f"There was no answer within {limits.seconds:g} seconds. Send fewer rows at a time, or start the server with "
        "more --seconds."
    )
