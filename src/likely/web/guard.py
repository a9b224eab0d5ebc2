"""What a request must be before anything looks at it, how much it may ask for, and one form for what is refused."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from likely.errors import LikelyError, SettingError, TooLarge, shown

# How much one request may ask for, and the sentences that refuse more. Knows numbers only, no HTTP and no model.

MOST_ROWS = 10_000
"""Rows in one request of JSON; /openapi.json says so too."""


@dataclass(frozen=True)
class Limits:
    """What one request may have and take."""

    body: int = 16 << 20
    """Bytes of a request as it arrives: --largest."""
    unpacked: int = 256 << 20
    """Bytes of a table after decompression: --unpacked."""
    seconds: float = 60.0
    """Seconds until an answer: --seconds."""
    table_rows: int = 1_000_000
    """Rows of a table."""
    cells: int = 1_000_000
    """Cells of the rows of JSON (a row has one for each attribute), and of the answer to them."""
    table_cells: int = 50_000_000
    """Cells of a table, and of the answer to it."""
    actions: int = 1_000
    """Actions of a loss in a request."""
    at_once: int = 16
    """Requests that are worked on at the same time."""
    waiting: int = 1_000
    """Requests that wait for their turn; more are refused."""
    arriving: int = 256
    """Bodies that arrive at the same time; of more, the oldest are given up."""
    arrival: float = 20.0
    """Seconds in which a body must have arrived."""

    def check_actions(self, count: int) -> None:
        if count > self.actions:
            raise TooLarge(f"The loss names {count:,} actions; a request may name {self.actions:,}. Name fewer.")

    def check_cells(self, rows: int, columns: int, what: str) -> None:
        if rows * columns > self.cells:
            raise TooLarge(
                f"{rows:,} rows of {columns:,} {what} are more than the {self.cells:,} cells of a request. "
                "Send fewer rows at a time."
            )


@dataclass
class TableCheck:
    """Watches a table as it is answered, batch after batch: its rows, its cells, and the time."""

    limits: Limits
    start: float = field(default_factory=time.monotonic)
    rows: int = 0

    def add(self, rows: int, columns: int) -> None:
        self.rows += rows
        if self.rows > self.limits.table_rows:
            raise TooLarge(
                f"The table has more than {self.limits.table_rows:,} rows. Send fewer at a time, or use "
                "`likely predict`."
            )
        if self.rows * columns > self.limits.table_cells:
            raise TooLarge(
                f"The table, with its answers, has more than {self.limits.table_cells:,} cells. "
                "Send fewer rows at a time, or use `likely predict`."
            )
        if time.monotonic() - self.start > self.limits.seconds:
            raise TooLarge(late_sentence(self.limits))


def late_sentence(limits: Limits) -> str:
    return (
        f"There was no answer within {limits.seconds:g} seconds. Send fewer rows at a time, or start the server with "
        "more --seconds."
    )


# What a request must be before anything looks at it: for this machine by name, and not too large. Plain ASGI.

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
Quick: TypeAlias = Callable[[Scope, Mapping[bytes, bytes], bytearray], bytes | None]
"""What a small request is answered at once, as JSON; None where an application must answer."""

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
KEYLESS = "This server asks for its key. Send it as: Authorization: Bearer KEY (or as the password of HTTP Basic)."
ASKS_FOR_KEY: Headers = [(b"www-authenticate", b'Basic realm="likely"')]
LEAST_KEY = 16
"""Characters of a key at least."""
BUSY = "The server is working on as many requests as it can. Ask again in a moment."


def host_of(headers: Mapping[bytes, bytes]) -> str:
    """The name of the machine that a request is for, without its port."""
    host = headers.get(b"host", b"").decode("latin-1").rpartition("@")[2]
    return (host if host.endswith("]") else host.rpartition(":")[0] or host).lower()


def check_key(key: str) -> bytes:
    """A key as it is compared; one that is short, or cannot be sent in a header, is refused."""
    if len(key) < LEAST_KEY or not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingError(
            f"The key must have at least {LEAST_KEY} characters of ASCII without blanks. To make one: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return key.encode()


def has_key(headers: Mapping[bytes, bytes], key: bytes) -> bool:
    """Whether a request carries the key; the comparison takes the same time wherever a wrong one differs."""
    kind, _, said = headers.get(b"authorization", b"").strip().partition(b" ")
    if kind.lower() == b"basic":
        try:
            said = base64.b64decode(said.strip(), validate=True).partition(b":")[2]
        except ValueError:
            return False
    return kind.lower() in (b"bearer", b"basic") and hmac.compare_digest(said.strip(), key)


class Counters:
    """What was asked and how it was answered, for Prometheus: numbers by address, nothing of any request."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        self._facts, self._start = facts, time.time()
        self.paths: frozenset[str] = frozenset()
        """The addresses that are told apart; whoever asks for others cannot make the list grow."""
        self._answers: dict[tuple[str, int], tuple[int, float]] = {}

    def add(self, path: str, status: int, seconds: float) -> None:
        """A request that was answered."""
        key = path if path in self.paths else "other", status
        count, total = self._answers.get(key, (0, 0.0))
        self._answers[key] = count + 1, total + seconds

    def text(self) -> str:
        """The text format of Prometheus."""
        about = ",".join(f"{name}={json.dumps(words, ensure_ascii=False)}" for name, words in self._facts.items())
        lines = ["# TYPE likely_model_info gauge", f"likely_model_info{{{about}}} 1"]
        lines += ["# TYPE likely_start_time_seconds gauge", f"likely_start_time_seconds {self._start:.3f}"]
        lines += ["# TYPE likely_request_seconds summary"]
        for (path, status), (count, seconds) in sorted(self._answers.items()):
            said = f'{{path="{path}",status="{status}"}}'
            lines += [f"likely_request_seconds_count{said} {count}", f"likely_request_seconds_sum{said} {seconds:.6f}"]
        return "\n".join(lines) + "\n"


class Guard:
    """Stands before an application: checks Host, key, size, time and number of requests; adds headers to answers.

    A body is read before its request takes one of the places for work, so who sends slowly keeps nobody waiting. All
    clients are on this machine and cannot be told apart: where too many bodies arrive at once, the oldest, the slowest,
    makes room. `quick` may answer small requests where they arrive; it gives None for all others.
    """

    def __init__(
        self,
        app: App,
        limits: Limits,
        names: frozenset[str] | None = NAMES,
        answered_with: Headers = HEADERS,
        quick: Quick | None = None,
        key: bytes | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.app, self.limits, self.names, self._headers = app, limits, names, answered_with
        self._quick, self._key, self._counters = quick, key, counters
        self._arriving: dict[asyncio.Timeout, None] = {}
        self._held = 0  # bytes of bodies
        self._places, self._waiting = asyncio.Semaphore(limits.at_once), 0
        self._working: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reply = Reply(send, self._headers)
        headers = dict(scope["headers"])
        body, start = bytearray(), time.perf_counter()
        try:
            if self.names is not None and host_of(headers) not in self.names:
                await reply.refuse(421, FOREIGN)
                return
            if self._key is not None and not has_key(headers, self._key):
                await reply.refuse(401, KEYLESS, ASKS_FOR_KEY)
                return
            if await self._arrive(headers.get(b"content-length", b"0"), body, receive, reply):
                answer = None if self._quick is None else self._quick(scope, headers, body)
                if answer is not None:
                    await reply.answer(200, answer)
                else:
                    await self._work(scope, bytes(body), receive, reply)
        finally:
            self._held -= len(body)
            reply.close()
            if self._counters is not None:
                self._counters.add(scope["path"], reply.status, time.perf_counter() - start)

    async def _arrive(self, said: bytes, body: bytearray, receive: Receive, reply: Reply) -> bool:
        """Read a body, counted as it comes in: it may have said less, or nothing, of its size. False where it did not
        come, or was refused.
        """
        largest = self.limits.body
        declared = int(said) if said.isdigit() and len(said) < 20 else largest + 1
        more = declared <= largest
        deadline = asyncio.timeout(self.limits.arrival)
        try:
            async with deadline:
                self._arriving[deadline] = None
                self._make_room()
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return False
                    part = message.get("body", b"")
                    body += part
                    self._held += len(part)
                    more = bool(message.get("more_body", False)) and len(body) <= largest
                    if more:
                        self._make_room()
        except TimeoutError:
            await reply.refuse(
                408, f"The request did not arrive within {self.limits.arrival:g} seconds. Send it again."
            )
            return False
        finally:
            self._arriving.pop(deadline, None)
        if declared <= largest and len(body) <= largest:
            return True
        await reply.refuse(
            413,
            f"The request is larger than {largest:,} bytes. Send fewer rows at a time, or start the server with a "
            "larger --largest.",
        )
        return False

    def _make_room(self) -> None:
        """Give up the body that has been arriving for longest, where there are too many or they hold too much."""
        most = self.limits.at_once * self.limits.body
        if len(self._arriving) > self.limits.arriving or (self._held > most and len(self._arriving) > 1):
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.reschedule(0)

    async def _work(self, scope: Scope, body: bytes, receive: Receive, reply: Reply) -> None:
        """Let the application answer, when there is a place for it."""
        end = time.monotonic() + self.limits.seconds
        if self._places.locked() and self._waiting >= self.limits.waiting:
            await reply.refuse(503, BUSY)
            return
        self._waiting += 1
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.seconds)
        except TimeoutError:
            await reply.refuse(503, BUSY)
            return
        finally:
            self._waiting -= 1
        # A thread cannot be ended from outside. Who asked is told at once; the work ends at its own next check of the
        # time, and counts as work until then.
        task = asyncio.ensure_future(self.app(scope, _replay(body, receive), reply))
        self._working.add(task)
        task.add_done_callback(self._end)
        await asyncio.wait({task}, timeout=max(end - time.monotonic(), 0))
        if task.done():
            task.result()
        else:
            await reply.refuse(503, late_sentence(self.limits))

    def _end(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        self._places.release()


def _replay(body: bytes, receive: Receive) -> Receive:
    """A body that has been read, for an application to read."""
    read = False

    async def receiving() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


class Reply:
    """Where an answer goes, with headers added; nothing more goes once it was refused or closed."""

    def __init__(self, send: Send, headers: Headers = HEADERS) -> None:
        self._send, self._headers, self._started, self._closed = send, headers, False, False
        self.status = 499
        """Of the answer; where there was none, who asked had gone."""

    async def __call__(self, message: Message) -> None:
        if self._closed:
            return
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
        await self._send(message)

    async def refuse(self, status: int, sentence: str, more: Headers = ()) -> None:
        """Say why there is no answer, unless one has begun."""
        if self._started:
            return
        await self.answer(status, json.dumps({"error": sentence}).encode(), more)

    async def answer(self, status: int, body: bytes, more: Headers = ()) -> None:
        """Answer by JSON, and no more."""
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})
        self.close()

    def close(self) -> None:
        self._closed = True


# One form for everything that is refused: a status, and {"error": a sentence}. Shows no more of a request than a
# few escaped characters, and knows no model.

SENTENCES = {
    404: "There is nothing at this address. /openapi.json lists what there is.",
    405: "This address does not take that method. /openapi.json lists what there is.",
    400: "The body is not JSON that can be read: UTF-8, no number of thousands of digits, no thousand brackets.",
}
FAILED = "likely failed on this request. That is a defect of likely; please report it with what the server printed."


def add_refusals(app: FastAPI) -> None:
    """Let the application answer every failure in the one form."""

    @app.exception_handler(LikelyError)
    async def refuse(_: Request, error: Exception) -> JSONResponse:
        return refusal(413 if isinstance(error, TooLarge) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def refuse_form(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        try:
            return refusal(422, describe_invalid(error.errors()))
        finally:
            # The frames that made the error hold it, and it them, with the body in between: a circle of megabytes.
            error.__traceback__ = error.body = None
            error.__cause__ = error.__context__ = None

    @app.exception_handler(HTTPException)
    async def refuse_address(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        sentence = SENTENCES.get(error.status_code, "The request cannot be answered.")
        return refusal(error.status_code, sentence, dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def fail(_: Request, __: Exception) -> JSONResponse:
        return refusal(500, FAILED)  # the server prints the traceback


def refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An answer that says why there is none; what cannot be sent as UTF-8 is replaced."""
    plain = sentence.encode("utf-8", "replace").decode()
    return JSONResponse({"error": plain}, status, headers)


def describe_invalid(problems: Sequence[dict[str, object]]) -> str:
    """The first thing in a request that is not as the description of the API says, where it is, and what is wanted."""
    first = problems[0]
    place = first["loc"]
    assert isinstance(place, Sequence)
    if first["type"] == "json_invalid":
        return f"The body is not JSON (near character {place[-1]}). Send it as application/json."
    kind, *steps = place
    if kind == "body" and not steps:
        if first["type"] != "missing":  # a list, a text, a number
            return 'The body is not a JSON object. Send {"rows": [{"column": value}]}; /openapi.json describes it.'
        return "The request has no body of JSON. Send one as application/json; /openapi.json describes it."
    where = "".join(f"[{s}]" if isinstance(s, int) else f".{shown(s, 40)}" for s in steps).lstrip(".")
    if len(steps) > 1 and steps[0] in ("rows", "row"):
        return _describe_row(steps)
    wanted = "text that UTF-8 cannot hold" if first["type"] == "value_error" else str(first["msg"])[:200]
    return f"The {'body' if kind == 'body' else 'query'}, at {where}: {wanted[:1].lower()}{wanted[1:]}."


def _describe_row(steps: Sequence[object]) -> str:
    """What is wrong in a row; what follows the name of a cell in a place is which of the types was tried."""
    row, names = (f"rows[{steps[1]}]", steps[2:]) if steps[0] == "rows" else ("row", steps[1:])
    if not names:
        return f'{row} is not an object. Give a row as {{"column": value}}.'
    if "[key]" in names:
        return f"{row} names the column {shown(names[0], 40)}, which is not text that UTF-8 can hold."
    return f"In {row}, the cell of {shown(names[0], 40)} is neither a text nor a finite number, true, false or null."
