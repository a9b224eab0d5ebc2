"""A tab for tests of the page, and everything that it complained of. The browser is that of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


class Watched:
    """A tab, and everything that it complained of or asked the network for."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.complaints: list[str] = []
        self.requests: list[str] = []
        tab.on("console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda asked: self.requests.append(asked.url))

    def is_quiet(self) -> None:
        """No complaint, and nothing but the file itself was asked for."""
        assert not self.complaints, self.complaints
        assert all(url.startswith("file:") for url in self.requests), self.requests


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    """A tab of its own for one test."""
    context = browser.new_context()
    yield Watched(context.new_page())
    context.close()
