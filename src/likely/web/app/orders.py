"""What the worker may be told to do, as plain values that go through a pipe. Knows no HTTP and does no work."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

Kind = Literal["read", "learn", "compare", "predict", "decide", "export"]
Costs: TypeAlias = dict[str, dict[str, float]]

MODEL, PAGE, COSTS = "model.likely", "page.html", "costs.toml"
"""Files of a table's folder, once it was learned from."""


@dataclass(frozen=True)
class ReadingOrder:
    """How a table is to be read, as a person says it."""

    types: dict[str, str] = field(default_factory=dict)
    missing: list[str] | None = None
    """Cells that mean "not known"; None: the usual ones."""

    def options(self) -> dict[str, Any]:
        """What `summarize` takes."""
        return {"types": self.types or None, "missing": self.missing}


@dataclass(frozen=True)
class Order:
    """One piece of work."""

    kind: Kind
    data: str
    """The path of the table."""
    name: str
    """What the table is called."""
    folder: str
    """Where files of the answer go."""
    reading: ReadingOrder = field(default_factory=ReadingOrder)
    target: str = ""
    target_bins: int | None = None
    learner: str | None = None
    """None: the one that learns where nobody says."""
    costs: Costs | None = None
    abstain: float | None = None
    keep: bool = True
    """Whether predictions follow the columns of the table."""
    out: str = ""
    """The file to write."""
    language: str = ""
    version: str = ""

    def written(self) -> str:
        """The order as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def parsed(cls, line: str) -> Order:
        """The order that a line holds."""
        tree = json.loads(line)
        return cls(**{**tree, "reading": ReadingOrder(**tree["reading"])})

    def reading_options(self) -> dict[str, Any]:
        """What `summarize` takes, but for progress."""
        return {**self.reading.options(), "target_bins": self.target_bins}

    def command(self, learner: list[str]) -> str:
        """What does the same in a terminal; `learner` are the options that name what learns."""
        out = ["likely", "look", self.name, self.target]
        for column, kind in self.reading.types.items():
            out += ["--type", f"{column}={kind}"]
        for token in self.reading.missing or ():
            out += ["--missing", token] if token else []
        out += [] if self.target_bins is None else ["--target-bins", str(self.target_bins)]
        out += learner
        out += ["--loss", COSTS] if self.costs is not None else []
        return shlex.join(out)
