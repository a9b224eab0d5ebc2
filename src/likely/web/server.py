"""Running the application on this machine: a socket, a server, and an end that leaves nothing half done."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from likely.errors import InputError, SettingError, shown
from likely.models.contracts import Model
from likely.web.guard import NAMES, App, Limits

HOST = "127.0.0.1"
LOCAL = ("127.0.0.1", "localhost", "::1")
COLLECTED = (700, 10, 10)
"""When Python collects garbage unless told otherwise."""


def serve(
    model: Model,
    page: str,
    port: int,
    limits: Limits,
    version: str,
    ready: Callable[[str], None],
    host: str = HOST,
    key: str | None = None,
) -> None:
    """Serve until the process is interrupted or asked to end; `ready` is told the address first. Other machines are
    answered only where there is a key, which everyone must send then."""
    if host not in LOCAL and key is None:
        raise SettingError(
            f"To listen on {shown(host)}, where other machines can ask, a key is needed. Put one into a file for "
            "--key-file, or into the environment variable LIKELY_KEY."
        )
    try:
        import uvicorn  # noqa: F401  to say what lacks before anything is made

        from likely.web.application import application
    except ImportError as error:
        refuse_without_extra("serve", error)
    from likely.web.guard import check_key

    secret, names = None if key is None else check_key(key), NAMES if host in LOCAL else None
    bound = bind_port(port, host)
    try:
        run_server(application(model, page, version, limits, secret, names), bound, ready)
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
    host, at = bound.getsockname()[:2]
    ready(f"http://{f'[{host}]' if ':' in host else host}:{at}/")
    with suppress(KeyboardInterrupt):  # the server has ended in order, and passes the signal on
        uvicorn.Server(config).run(sockets=[bound])


def bind_port(port: int, host: str = HOST) -> socket.socket:
    """A socket on this machine alone, unless another address is named; port 0 takes any that is free."""
    # Named as TCP, so that asyncio sends each answer at once: Nagle would let it wait for 40 ms on kept connections.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)  # so that who reads the address can connect at once
    except OSError as error:
        bound.close()
        why = error.strerror or str(error)
        raise InputError(f"Port {port} of {host} cannot be had: {why}. Choose another one, or --port 0.") from None
    return bound
