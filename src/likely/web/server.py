"""Running the application on this machine: a socket, a server, and an end that leaves nothing half done."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from likely.errors import InputError, SettingError, shown
from likely.models.contracts import Model
from likely.web.guard import App, Limits

HOST = "127.0.0.1"
COLLECTED = (700, 10, 10)
"""When Python collects garbage unless told otherwise."""


def serve(model: Model, page: str, *, port: int, limits: Limits, version: str, ready: Callable[[str], None]) -> None:
    """Serve until the process is interrupted or asked to end; `ready` is told the address first."""
    try:
        import uvicorn  # noqa: F401  to say what lacks before anything is made

        from likely.web.application import application
    except ImportError as error:
        refuse_without_extra("serve", error)
    bound = bind_port(port)
    try:
        run_server(application(model, page, version, limits), bound, ready)
    finally:
        bound.close()


def refuse_without_extra(command: str, error: ImportError) -> NoReturn:
    """Say which extra a command needs."""
    raise SettingError(
        f"`likely {command}` needs {shown(error.name or 'fastapi')}, which is not installed. "
        "Install the extra: pip install 'likely[web]'."
    ) from None


def run_server(app: App, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer requests on a socket until the process is interrupted or asked to end."""
    import uvicorn

    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "lifespan": "off"}
    quiet["proxy_headers"] = False  # who asks is not asked who it is
    config = uvicorn.Config(app, timeout_graceful_shutdown=5, **quiet)
    # A command ends soon, and collects garbage seldom; a server goes on, and what it collects holds bodies of requests.
    # What is there by now stays until the end, so there is no need to look through it again and again.
    gc.set_threshold(*COLLECTED)
    gc.collect()
    gc.freeze()
    ready(f"http://{HOST}:{bound.getsockname()[1]}/")
    with suppress(KeyboardInterrupt):  # the server has ended in order, and passes the signal on
        uvicorn.Server(config).run(sockets=[bound])


def bind_port(port: int) -> socket.socket:
    """A socket on this machine alone; port 0 takes any that is free."""
    # Named as TCP, so that asyncio sends each answer at once: Nagle would let it wait for 40 ms on kept connections.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(128)  # so that who reads the address can connect at once
    except OSError as error:
        bound.close()
        why = error.strerror or str(error)
        raise InputError(f"Port {port} of {HOST} cannot be had: {why}. Choose another one, or --port 0.") from None
    return bound
