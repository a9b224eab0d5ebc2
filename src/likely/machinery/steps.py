"""Which step of a long piece of work is being done, for whoever wants to be told. Knows nothing of tables or models.

Steps also go to the logger `likely`, at level INFO: `logging.basicConfig(level="INFO")` shows them in any program.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Teller = Callable[[str], None]

LOG = logging.getLogger("likely")
LOG.addHandler(logging.NullHandler())
_listening: ContextVar[Teller | None] = ContextVar("listening", default=None)


def teller() -> Teller:
    """Whom to tell what is being done; asked for before work is given to threads, which do not know who listens."""
    listener = _listening.get()

    def tell(step: str) -> None:
        LOG.info("%s", step)
        if listener is not None:
            listener(step)

    return tell


@contextmanager
def listening(listener: Teller) -> Iterator[None]:
    """Be told each step until the block ends."""
    token = _listening.set(listener)
    try:
        yield
    finally:
        _listening.reset(token)
