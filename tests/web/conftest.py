"""What tests of the app share: a session, which ends with its tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def session() -> Iterator[object]:
    pytest.importorskip("fastapi")
    from likely.web.app.session import Session

    held = Session()
    yield held
    held.close()
