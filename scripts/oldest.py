"""Prints the oldest release of each library that pyproject.toml allows, as constraints for pip: `numpy==2.0`.

Of the libraries that users have (the dependencies and their extras) and of those that tests alone need beside them:
test tools are taken as new as they are.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FACES = ("compile", "sklearn")
"""The extras whose libraries are taken at their oldest; those of the others are services and tools of their own."""
BESIDE = ("pandas",)
"""Frames that users hand over, which are no dependency."""


def oldest() -> dict[str, str]:
    """The least release of each library, by its name."""
    extras = PROJECT["optional-dependencies"]
    beside = [wanted for wanted in extras["test"] if re.split(r"[>=\[]", wanted)[0] in BESIDE]
    wanted = [*PROJECT["dependencies"], *(one for face in FACES for one in extras[face]), *beside]
    return {name: least for name, least in (one.split(">=") for one in wanted)}


if __name__ == "__main__":
    for name, least in oldest().items():
        print(f"{name}=={least}")
