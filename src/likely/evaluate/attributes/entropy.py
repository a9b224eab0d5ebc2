"""One piece of evidence, as a first look shows it. Knows neither sums nor rows."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_ROWS = 5
"""A cell with fewer rows is no strong evidence, whatever their classes."""


@dataclass(frozen=True)
class Piece:
    """One piece of evidence: how much a cell speaks for a class, in bits of its likelihood ratio against the rest."""

    attribute: str
    cell: str
    label: str
    bits: float
    least: float
    """What remains of it after an allowance for chance (1.64 standard errors)."""
    rows: float
