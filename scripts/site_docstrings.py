"""What the site does to docstrings before they are shown: examples at a prompt become blocks of code."""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """A docstring with its examples (from `>>>` to the next blank line) as fenced blocks."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        prompt = line.lstrip().startswith(">>>")
        if prompt and not inside:
            out += ["", "```python"]
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


class Examples(griffe.Extension):
    """Told of every object that has a docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
