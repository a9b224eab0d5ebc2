"""What a request must be before anything looks at it: for this machine by name, and not too large. Plain ASGI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Hosts that a request may be for: a page elsewhere whose name was made to lead here is refused."""
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


class Guard:
    """Stands before an application: checks Host and size, and adds headers to every answer."""

    def __init__(self, app: App, largest: int, names: frozenset[str] = NAMES) -> None:
        self.app, self.largest, self.names = app, largest, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        host = headers.get(b"host", b"").decode("latin-1").rpartition("@")[2]
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name.lower() not in self.names:
            await refuse(sending, 421, "This server answers to 127.0.0.1 and localhost only.")
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.largest:
            await refuse(sending, 413, self._sentence())
            return
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = bool(message.get("more_body", False))
            if len(body) > self.largest:  # it may have said less, or nothing, of its size
                await refuse(sending, 413, self._sentence())
                return
        read = False

        async def receiving() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, receiving, sending)

    def _sentence(self) -> str:
        return (
            f"The request is larger than {self.largest:,} bytes. Send fewer rows at a time, or start the server with a "
            "larger --largest."
        )


async def refuse(send: Send, status: int, sentence: str) -> None:
    """An answer that says why there is none."""
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
