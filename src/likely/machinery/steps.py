"""Which step of a long piece of work is being done, for whoever wants to be told. Knows nothing of tables or models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Teller = Callable[[str], None]

_listening: ContextVar[Teller | None] = ContextVar("listening", default=None)


def _silent(step: str) -> None:
    """Nobody listens."""


def teller() -> Teller:
    """Whom to tell what is being done; asked for before work is given to threads, which do not know who listens."""
    return _listening.get() or _silent


@contextmanager
def listening(listener: Teller) -> Iterator[None]:
    """Be told each step until the block ends."""
    token = _listening.set(listener)
    try:
        yield
    finally:
        _listening.reset(token)
