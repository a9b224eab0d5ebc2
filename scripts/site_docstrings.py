"""What the site does to docstrings before they are shown: examples become blocks of code, settings a table."""

from __future__ import annotations

import ast
from typing import Any

import griffe


def fenced(text: str) -> str:
    """A docstring with its examples (from `>>>` to the next blank line) as fenced blocks."""
    if "```python\n" in text:
        return text
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


def settings_table(members: Any) -> str:
    """The settings of a learner as a table: name, default, meaning; empty where it has none."""
    rows = []
    for name, member in members.items():
        said = meaning(member.value) if member.is_attribute else None
        if said is not None:
            default = str(member.value.arguments[0])
            shown = "must be given" if default in ("...", "MISSING") else f"`{default}`"
            rows.append(f"| `{name}` | {shown} | {said.replace('|', chr(92) + '|')} |")
    return "\n".join(["| parameter | default | meaning |", "|---|---|---|", *rows]) if rows else ""


class Examples(griffe.Extension):
    """Told of every object that has a docstring, and of every class that is loaded with its settings."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_class_members(self, *, cls: Any, **_: Any) -> None:
        table = settings_table(cls.members)
        if table and cls.docstring is not None:
            cls.docstring.value = f"{cls.docstring.value}\n\n{table}\n"
