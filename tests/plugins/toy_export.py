"""A language of one's own: a model as a page of text. Writers read the portable form, never models."""

from __future__ import annotations

from likely.portable.describe import Portable


def to_outline(form: Portable) -> str:
    """The target, its classes and the attributes, a line each."""
    return (
        "\n".join([f"{form.target}: {', '.join(form.classes)}", *(f"- {one.name}" for one in form.attributes)]) + "\n"
    )
