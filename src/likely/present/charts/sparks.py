"""Drawings as small as words: how the values of an attribute are spread over the classes. Knows counts, no records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.present.charts.drawing import Chart, escape_text

if TYPE_CHECKING:
    pass


WIDE, HIGH = 96, 24
MOST_COLUMNS = 24


def spark(counts: Floats, hues: Sequence[str], label: str) -> Chart:
    """A column for each bin or level, stacked by class: `counts` is (columns, classes)."""
    counts = counts[:MOST_COLUMNS]
    most = float(counts.sum(axis=1).max()) if counts.size else 0.0
    if not most > 0:
        return Chart()
    step = WIDE // len(counts)
    above = np.cumsum(counts, axis=1) / most * HIGH
    # What is rare is still there.
    above = np.where((above[:, -1:] > 0) & (above == above[:, -1:]), np.maximum(above, 1), above)
    body = ""
    for k in range(counts.shape[1] - 1, -1, -1):
        if counts[:, k].any():
            steps = "".join(f"V{HIGH - round(v)}h{step}" for v in above[:, k].tolist())
            body += f'<path class="{hues[k]} fill" d="M0 {HIGH}{steps}V{HIGH}z"/>'
    return Chart(
        f'<svg class="spark" viewBox="0 0 {step * len(counts)} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape_text(label)}">{body}</svg>'
    )
