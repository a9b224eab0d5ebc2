"""A joint table as one page to click through: cells, rows, columns and margins, with exact answers. Knows the record.

Everything from data goes in as escaped text or as JSON; the policy lets nothing else in.
"""

from __future__ import annotations

import json
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from likely.classroom.joint_table import JointStudy, present_joint
from likely.errors import SettingError
from likely.models.fractions import spell
from likely.portable.languages.javascript import join_scripts, read_scripts
from likely.present.charts.drawing import STYLE
from likely.present.page.writing import HERE, digest, embedded, template

MOST_CELLS = 2_000
"""Cells of a table that a page holds: more could not be seen through."""
PAGE = Path(__file__).parent / "page"
STYLES = (STYLE, HERE / "style.css", PAGE / "joint.css")


def joint_page(study: JointStudy, *, across: str | None = None, command: str = "", version: str = "") -> str:
    """The page as HTML. `command` is how it was asked for."""
    joint = study.joint
    size = prod(len(v) for v in joint.levels.values())
    if size > MOST_CELLS:
        raise SettingError(
            f"The table has {size:,} cells, more than a page can show ({MOST_CELLS:,}). Name fewer variables."
        )
    report = present_joint(study, across=across, everything=True)
    order = list(joint.variables)
    side = order[-1] if across is None else across
    order = [*(v for v in order if v != side), side]
    about: dict[str, Any] = {
        "variables": order,
        "levels": [[spell(v) for v in joint.levels[name]] for name in order],
        "cells": _cells(study, order),
        "total": str(joint.total) if joint.exact else joint.total,
        "exact": joint.exact,
        "sample": joint.counts is not None,
        "given": study.given,
        "across": across is not None or len(order) > 1,
    }
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return template(PAGE / "joint.html").render(  # type: ignore[no-any-return]
        title=", ".join(joint.variables),
        headline=report.headline,
        remarks=report.remarks,
        command=command,
        version=version,
        policy=policy,
        style=style,
        script=script,
        table=embedded(json.dumps(about, ensure_ascii=False, allow_nan=False, separators=(",", ":"))),
    )


def _cells(study: JointStudy, order: list[str]) -> list[Any]:
    """Each possible cell: the places of its levels, and its weight, as text where it is a whole number."""
    joint = study.joint.reordered(order)
    places = [{v: k for k, v in enumerate(joint.levels[name])} for name in order]
    return [
        [[at[v] for at, v in zip(places, cell, strict=True)], str(w) if joint.exact else w]
        for cell, w in joint.weights.items()
    ]


@cache
def _style() -> str:
    return "\n".join(path.read_text("utf-8") for path in STYLES)


@cache
def _script() -> str:
    """The scripts of this page as one text, which no `</script` closes early."""
    scripts = {"elements.js": read_scripts(HERE.parent / "script")["elements.js"], **read_scripts(PAGE)}
    return join_scripts(scripts).replace("</script", "<\\/script").replace("<!--", "<\\!--")
