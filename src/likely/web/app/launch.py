"""Running the app: a session, a server, and an end that leaves nothing behind, however it comes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence

from likely.web.limits import Limits
from likely.web.server import bind_port, refuse_without_extra, run_server

BODY = 4 << 20
"""Bytes of a request that is no file: how columns are read, costs."""


def run_app(paths: Sequence[str], *, port: int, largest: int, version: str, ready: Callable[[str], None]) -> None:
    """Run the app with these tables open until the process is interrupted or asked to end; `ready` is told the address.

    `largest` is how many bytes of a file are copied.
    """
    try:
        import uvicorn  # noqa: F401  to say what lacks before a session begins

        from likely.web.app.application import app_application
    except ImportError as error:
        refuse_without_extra("app", error)
    from likely.web.app.gate import make_key
    from likely.web.app.session import Session

    bound, key = bind_port(port), make_key()
    if hasattr(signal, "SIGHUP"):  # the terminal's window was closed: an end like any other
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        session = Session()
        try:
            for path in paths:
                session.open_table(path=path)
            served = app_application(session, key, version, Limits(body=BODY), largest)
            run_server(served, bound, lambda address: ready(f"{address}{key}/"))
        finally:
            session.close()
    finally:
        bound.close()
