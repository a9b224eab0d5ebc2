"""What a request must be before anything looks at it: for this machine by name, and not too large. Plain ASGI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias

from likely.web.limits import Limits, late_sentence

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Hosts that a request may be for: a page elsewhere whose name was made to lead here is refused."""
Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


FOREIGN = "This server answers to 127.0.0.1 and localhost only."
BUSY = "The server is working on as many requests as it can. Ask again in a moment."


def host_of(headers: Mapping[bytes, bytes]) -> str:
    """The name of the machine that a request is for, without its port."""
    host = headers.get(b"host", b"").decode("latin-1").rpartition("@")[2]
    return (host if host.endswith("]") else host.rpartition(":")[0] or host).lower()


class Guard:
    """Stands before an application: checks Host, size, time and number of requests; adds headers to answers."""

    def __init__(
        self, app: App, limits: Limits, names: frozenset[str] = NAMES, answered_with: Headers = HEADERS
    ) -> None:
        self.app, self.limits, self.names, self._headers = app, limits, names, answered_with
        self._working: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reply = Reply(send, self._headers)
        headers = dict(scope["headers"])
        if host_of(headers) not in self.names:
            await reply.refuse(421, FOREIGN)
            return
        if len(self._working) >= self.limits.at_once:
            await reply.refuse(503, BUSY)
            return
        # A thread cannot be ended from outside. Who asked is told at once; the work ends at its own next check of the
        # time, and counts as work until then.
        task = asyncio.create_task(self._answer(scope, headers, receive, reply))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        try:
            await asyncio.wait({task}, timeout=self.limits.seconds)
            if task.done():
                task.result()
            else:
                await reply.refuse(503, late_sentence(self.limits))
        finally:
            reply.close()

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, reply: Reply) -> None:
        body = await self._body(headers.get(b"content-length", b"0"), receive, reply)
        if body is None:
            return
        read = False

        async def receiving() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, receiving, reply)

    async def _body(self, said: bytes, receive: Receive, reply: Reply) -> bytes | None:
        """The body of a request, counted as it comes in: it may have said less, or nothing, of its size."""
        largest = self.limits.body
        declared = int(said) if said.isdigit() and len(said) < 20 else largest + 1
        body, more = bytearray(), declared <= largest
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = bool(message.get("more_body", False)) and len(body) <= largest
        if declared <= largest and len(body) <= largest:
            return bytes(body)
        await reply.refuse(
            413,
            f"The request is larger than {largest:,} bytes. Send fewer rows at a time, or start the server with a "
            "larger --largest.",
        )
        return None


class Reply:
    """Where an answer goes, with headers added; nothing more goes once it was refused or closed."""

    def __init__(self, send: Send, headers: Headers = HEADERS) -> None:
        self._send, self._headers, self._started, self._closed = send, headers, False, False

    async def __call__(self, message: Message) -> None:
        if self._closed:
            return
        if message["type"] == "http.response.start":
            self._started = True
            message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
        await self._send(message)

    async def refuse(self, status: int, sentence: str) -> None:
        """Say why there is no answer, unless one has begun."""
        if self._started:
            return
        body = json.dumps({"error": sentence}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})
        self.close()

    def close(self) -> None:
        self._closed = True
