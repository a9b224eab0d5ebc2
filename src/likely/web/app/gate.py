"""What a request must be before the app looks at it: for this machine, from the app's own page, with the session's key.

Plain ASGI. The key is the first part of every path (docs/decisions/0145), so that it needs no cookie, which every other
server on this machine would be sent, and no header, which a download cannot have.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from html import escape

from likely.web.guard import BUSY, FOREIGN, HEADERS, NAMES, App, Guard, Headers, Receive, Reply, Scope, Send, host_of
from likely.web.limits import Limits

STREAMED = ("/files",)
"""Addresses whose bodies go to a file as they come, counted there."""
FRAMED = re.compile(r"/tables/\d+/page")
"""What the app shows inside its own page."""
ALWAYS: Headers = [*HEADERS, (b"cache-control", b"no-store"), (b"cross-origin-opener-policy", b"same-origin")]
IN_FRAME: Headers = [(name, b"SAMEORIGIN" if name == b"x-frame-options" else value) for name, value in ALWAYS]

NO_KEY = "This address lacks the key of the session. Open the whole address that `likely app` printed in its terminal."
OTHER_PAGE = "This request came from another page, so it is refused. Use the app in its own window."


def make_key() -> str:
    """A key that nobody can guess."""
    return secrets.token_urlsafe(24)


class Gate:
    """Stands before the app; what is not streamed passes a `Guard` as well."""

    def __init__(self, app: App, key: str, limits: Limits) -> None:
        self._app, self._key, self._limits = app, key, limits
        self._guarded = Guard(app, limits, answered_with=ALWAYS)
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        path, method = scope["path"], scope["method"]
        given, _, rest = path.removeprefix("/").partition("/")
        inside = f"/{rest}"
        reply = Reply(send, IN_FRAME if FRAMED.fullmatch(inside) else ALWAYS)
        if host_of(headers) not in NAMES:
            await reply.refuse(421, FOREIGN)
        elif not secrets.compare_digest(given.encode("utf-8", "replace"), self._key.encode()):
            await _refuse(reply, headers, NO_KEY)
        elif not _is_own(headers, method, inside):
            await _refuse(reply, headers, OTHER_PAGE)
        elif path == f"/{self._key}":  # without the last slash, what the page asks for would be elsewhere
            await reply({"type": "http.response.start", "status": 307, "headers": [(b"location", f"{path}/".encode())]})
            await reply({"type": "http.response.body", "body": b""})
        else:
            within = {**scope, "path": inside, "raw_path": inside.encode(), "root_path": ""}
            if method not in ("GET", "HEAD") and inside not in STREAMED:
                await self._guarded(within, receive, send)
            elif self._open >= self._limits.at_once:
                await reply.refuse(503, BUSY)
            else:
                self._open += 1
                try:
                    await self._app(within, receive, reply)
                finally:
                    self._open -= 1


def _is_own(headers: Mapping[bytes, bytes], method: str, path: str) -> bool:
    """Whether a request comes from the app's own page, from the address bar, or from a program that is no browser.

    A link elsewhere (a terminal that is a page, say) may open the app itself, and nothing else.
    """
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site", b"none")
    if origin is not None and origin != b"http://" + headers.get(b"host", b""):
        return False
    opens = method == "GET" and path == "/" and headers.get(b"sec-fetch-mode") == b"navigate"
    return site in (b"none", b"same-origin") or opens


async def _refuse(reply: Reply, headers: Mapping[bytes, bytes], sentence: str) -> None:
    """Refuse in the one form; to a person who looks at it in a browser, as a sentence."""
    if b"text/html" not in headers.get(b"accept", b""):
        await reply.refuse(403, sentence)
        return
    text = f"<!doctype html><html lang=en><meta charset=utf-8><title>likely</title><p>{escape(sentence)}</p></html>"
    start = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", b"default-src 'none'")]
    await reply({"type": "http.response.start", "status": 403, "headers": start})
    await reply({"type": "http.response.body", "body": text.encode()})
