"""The page of the app as one text: style and scripts put in, and a policy that lets it talk to its own server alone."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from likely.portable.languages.javascript import join_scripts, read_scripts
from likely.present.charts.drawing import STYLE
from likely.present.page.writing import HERE as PAGES
from likely.present.page.writing import digest

HERE = Path(__file__).parent
ELEMENTS = "elements.js"
"""Of the scripts of the page of a table, the one that makes elements."""


@cache
def app_page() -> str:
    """The page. Nothing of any table is in it: the script asks for that."""
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; connect-src 'self'; "
        "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = (HERE / "app.html").read_text("utf-8")
    for mark, put in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        text = text.replace(f"<!--{mark}-->", put)
    return text


def _style() -> str:
    """The styles of the pages of tables, and those of the app."""
    whole = "\n".join(path.read_text("utf-8") for path in (STYLE, PAGES / "style.css", HERE / "app.css"))
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL))


def _script() -> str:
    """The scripts of the app, joined as those of the page are (docs/decisions/0070)."""
    shared = read_scripts(PAGES.parent / "script")
    return join_scripts({ELEMENTS: shared[ELEMENTS], **read_scripts(HERE / "script")})
