"""Two files of models or specs beside each other: what they assume differently, and what changed in their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from likely.apply.fitting import load_any
from likely.apply.spec import differences, parse_spec, spec_of
from likely.evaluate.drift.changes import CHANCE, Changes, changes
from likely.machinery.toml import read_toml_text
from likely.models.contracts import Model
from likely.sums import state
from likely.sums.summary import Summary


@dataclass(frozen=True)
class Difference:
    """What `likely diff` found."""

    assumptions: tuple[tuple[str, str, str], ...] | None
    """A name and what each of the two says of it; None where one is a summary, which assumes nothing."""
    changes: Changes | None
    """None where one of the two has learned no rows, or both have learned the same."""
    same_sums: bool

    def json(self) -> bytes:
        """The whole record as JSON."""
        rows = [{"of": k, "one": a, "two": b} for k, a, b in self.assumptions or ()]
        return state.as_json(
            {
                "headline": f"{len(rows)} differences" if rows else "Both make the same assumptions.",
                "tables": [{"title": "Assumptions", "rows": rows}] if rows else [],
                "same_sums": self.same_sums,
                "changes": None if self.changes is None else state.plain(self.changes),
            }
        )


def compare_files(one: str, two: str, *, grown: bool = False, chance: float = CHANCE) -> Difference:
    """Two files, each a spec (.toml) or a model (.likely)."""
    held: list[Any] = [load_any(path) if path.endswith(".likely") else None for path in (one, two)]
    specs = [
        parse_spec(read_toml_text(path), path) if h is None else spec_of(h) if isinstance(h, Model) else None
        for path, h in zip((one, two), held, strict=True)
    ]
    assumptions = None if specs[0] is None or specs[1] is None else tuple(differences(specs[0], specs[1]))
    if held[0] is None or held[1] is None:
        return Difference(assumptions, None, False)
    sums: list[Summary] = [h.summary if isinstance(h, Model) else h for h in held]
    if not grown and sums[0].schema == sums[1].schema and sums[0] == sums[1]:
        return Difference(assumptions, None, True)
    if not sums[0].rows or not sums[1].rows:  # a model of knowledge alone
        return Difference(assumptions, None, False)
    return Difference(assumptions, changes(sums[0], sums[1], grown=grown, chance=chance), False)
