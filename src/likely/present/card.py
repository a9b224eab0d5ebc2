"""`card`: a model card in Markdown or HTML, to a file or not."""

from __future__ import annotations

import os

from likely.evaluate.judging import installed_version
from likely.models.contracts import Model
from likely.present.document import to_markdown
from likely.present.page.writing import page_of_document
from likely.present.report.card import present_card
from likely.sums import state


def card(model: Model, path: str | os.PathLike[str] | None = None) -> str:
    """The card of a model: what it predicts and from what, how good it is and for whom, what drives it, and its limits.

    What only people know, such as what it is for, is left to be filled in. The text is Markdown, or HTML where `path`
    ends in .html; it is also written to `path`, where one is given.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play")
    >>> print(card(model).splitlines()[0])
    # Model card: play
    """
    found = present_card(model)
    html = path is not None and os.fspath(path).lower().endswith((".html", ".htm"))
    text = page_of_document(found, installed_version()) if html else to_markdown(found)
    if path is not None:
        state.write(path, text.encode("utf-8", "replace"))
    return text
