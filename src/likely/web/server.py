"""Running the application on this machine: a socket, a server, and an end that leaves nothing half done."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from likely.errors import InputError, SettingError, shown
from likely.models.contracts import Model
from likely.web.limits import Limits

HOST = "127.0.0.1"


def serve(model: Model, page: str, *, port: int, limits: Limits, version: str, ready: Callable[[str], None]) -> None:
    """Serve until the process is interrupted or asked to end; `ready` is told the address first."""
    try:
        import uvicorn

        from likely.web.application import application
    except ImportError as error:
        raise SettingError(
            f"`likely serve` needs {shown(error.name or 'fastapi')}, which is not installed. "
            "Install the extra: pip install 'likely[web]'."
        ) from None
    bound = _bind(port)
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "lifespan": "off"}
    config = uvicorn.Config(application(model, page, version, limits), timeout_graceful_shutdown=5, **quiet)
    ready(f"http://{HOST}:{bound.getsockname()[1]}/")
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # the server has ended in order, and passes the signal on
    finally:
        bound.close()


def _bind(port: int) -> socket.socket:
    """A socket on this machine alone; port 0 takes any that is free."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(128)  # so that who reads the address can connect at once
    except OSError as error:
        bound.close()
        why = error.strerror or str(error)
        raise InputError(f"Port {port} of {HOST} cannot be had: {why}. Choose another one, or --port 0.") from None
    return bound
