"""What the site does to docstrings before they are shown: examples at a prompt become blocks of code."""

from __future__ import annotations

import ast
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


def meaning(value: Any) -> str | None:
    """What a setting means, where a field is declared by `setting(default, meaning, …)`; texts side by side are one."""
    if getattr(getattr(value, "function", None), "name", "") != "setting" or len(value.arguments) < 2:
        return None
    try:
        said = ast.literal_eval(str(value.arguments[1]))
    except (SyntaxError, ValueError):
        return None
    return said if isinstance(said, str) else None


class Examples(griffe.Extension):
    """Told of every object that has a docstring, and of every setting, whose meaning is in its declaration."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        said = meaning(obj.value) if obj.is_attribute else None
        if said is not None and obj.docstring is None:
            obj.docstring = griffe.Docstring(said, parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
