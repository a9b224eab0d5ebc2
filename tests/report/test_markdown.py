"""Markdown of a page of words: whatever the words are, a reader of Markdown shows them and takes none for markup."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from likely.present.document import Document, Table, marked, to_markdown


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=30))
def test_a_cell_stays_one_cell(words: str) -> None:
    text = to_markdown(Document("h", (Table("t", ("a", "b"), ((words, "1"),), frozenset({1})),)))
    line = text.splitlines()[6]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3


@given(st.text(max_size=30))
def test_nothing_is_markup_and_nothing_is_lost(words: str) -> None:
    found = marked(words)
    assert "\n" not in found
    assert re.sub(r"\\([\\`*_{}\[\]<>#|~$&!])", r"\1", found) == words.replace("\n", " ")
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>&\[\]*_`]", found)
