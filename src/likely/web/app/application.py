"""The addresses of the app, what a request must be before it is looked at, and an end that leaves nothing behind."""

from __future__ import annotations

import os
import re
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Annotated, Any, Literal, NoReturn

from fastapi import FastAPI, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from pydantic import Field, FiniteFloat, create_model
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount

from likely.apply.fitting import load_model
from likely.errors import InputError, SettingError, TooLarge, shown
from likely.intake.options import Reading, options_of
from likely.machinery.text_files import safe_file_name
from likely.models.default import field_of
from likely.models.settings import declared
from likely.table.schema import MISSING
from likely.web.app.hands import COSTS, MODEL, PAGE, Order
from likely.web.app.session import SAMPLE, Session, SessionTable, app_page, require_learned
from likely.web.application import REFUSED, Asked, Text, application
from likely.web.guard import (
    BUSY,
    FOREIGN,
    HEADERS,
    NAMES,
    App,
    Guard,
    Headers,
    Limits,
    Receive,
    Reply,
    Scope,
    Send,
    add_refusals,
    host_of,
)
from likely.web.server import bind_port, refuse_without_extra, run_server

# What a request must be before the app looks at it: for this machine, from the app's own page, with the session's
# key.

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


# The addresses of the app: each takes a few plain values, gives the session an order, and says how things stand.

SANDBOX = "sandbox allow-scripts allow-downloads allow-popups"
"""The page of a table runs as an origin of its own: its scripts could not use the session, whatever they were."""
ENDINGS = {"sql": "sql", "onnx": "onnx", "pmml": "pmml", "python": "py", "javascript": "mjs", "json": "json"}
PREDICTIONS, DECISIONS = "predictions.csv", "decisions.csv"
Kinds = Literal["nominal", "nominal of numbers", "number", "date", "text", "ignore"]
Language = Literal["sql", "onnx", "pmml", "python", "javascript", "json"]


class Where(Asked):
    """Where rows are: a file that came in, or a path of this machine, which is read where it lies."""

    file: Text | None = None
    path: Text | None = Field(None, max_length=4096)


class ToOpen(Where):
    """A table to open: where it is, or the sample."""

    sample: bool = False


class ColumnsAsked(Asked):
    """What columns mean, and which cells mean nothing."""

    types: dict[Text, Kinds] = Field(default_factory=dict, max_length=100_000)
    missing: list[Text] | None = Field(None, max_length=1000, description="None: the usual ones.")
    sheet: Text | None = Field(None, description="Of a workbook; None: the first that holds rows.")

    def order(self) -> dict[str, Any]:
        """What is said, as `summarize` takes it; what it would refuse is refused at once."""
        said = {name: getattr(self, called, None) for name, called in options_of("app").items()}
        options = {name: value for name, value in said.items() if value not in (None, {})}
        Reading(**options)
        return options


def _declared_fields() -> dict[str, Any]:
    """The options of reading that are a number, a word or a switch."""
    out: dict[str, Any] = {}
    for _, default, about in declared(Reading):
        if "app" in about.faces and (about.choices or about.is_number):
            kind: Any = Literal[about.choices] if about.choices else int if about.whole else float
            kind = kind if default is not None else kind | None
            out[about.faces["app"]] = (kind, Field(default, description=about.meaning))
    return out


class HowToRead(create_model("_Declared", __base__=ColumnsAsked, **_declared_fields())):  # type: ignore[misc]
    """How columns are to be read."""


class ToPredict(HowToRead):
    """What is to be predicted."""

    target: Text
    target_bins: int | None = Field(None, ge=2, le=1000)


class ToLearn(ToPredict):
    """What learns, and what decisions cost."""

    learner: Text | None = Field(None, description="None: the one that learns where nobody says.")
    costs: dict[Text, dict[Text, FiniteFloat]] | None = None
    abstain: FiniteFloat | None = None


class ToAnswer(Where):
    """Another table, to be answered by the model."""

    keep: bool = True


class ToExport(Asked):
    """The language of an export."""

    language: Language


def app_application(session: Session, key: str, version: str, limits: Limits, largest: int) -> Gate:
    """The app for one session."""
    app = FastAPI(
        title="likely app",
        version=version or "0",
        description="Tables of one session on this machine: opened, learned from, downloaded, forgotten.",
        docs_url=None,  # those pages would fetch scripts from elsewhere
        redoc_url=None,
    )
    add_refusals(app)
    whole = app_page()

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page_of_app() -> HTMLResponse:
        return HTMLResponse(whole)

    @app.get("/session", responses=REFUSED)
    def about_session() -> dict[str, Any]:
        """The tables that are open, and what the app can do."""
        return {
            "version": app.version,
            "tables": [{"id": t.id, "name": t.name} for t in session.tables.values()],
            "largest": largest,
            "folder": os.getcwd(),
            "missing": list(MISSING),
            "learners": [name for name in field_of(0)[0] if name != "Auto"],  # which "automatic" is
        }

    @app.post("/files", responses=REFUSED, status_code=201)
    async def receive_file(request: Request, name: Annotated[str, Query(max_length=1000)] = "") -> dict[str, str]:
        """Take in a file, as it is, for a table or for predictions."""
        upload, path = await run_in_threadpool(session.claim_upload, name)
        try:
            await _save_body(request, path, largest)
        except BaseException:
            await run_in_threadpool(session.drop_upload, upload)
            raise
        return {"file": upload}

    _add_tables(app, session, version)
    _add_downloads(app, session)
    app.router.routes.append(Mount("/tables/{number:int}/api", app=ModelDoor(session, version, limits)))
    return Gate(app, key, limits)


def _add_tables(app: FastAPI, session: Session, version: str) -> None:
    """What is done with tables. Each answer is how the table stands; work goes on after it."""

    @app.post("/tables", responses=REFUSED, status_code=201)
    def open_table(asked: ToOpen) -> dict[str, Any]:
        """Open a table, and begin to read it."""
        return session.open_table(asked.file, SAMPLE if asked.sample else asked.path).describe()

    @app.get("/tables/{number}", responses=REFUSED)
    def show_table(number: int, known: int = -1) -> dict[str, Any]:
        """How a table stands; its job alone, where nothing but that has changed since version `known`."""
        state = session.find_table(number).describe()
        return {"version": known, "job": state["job"]} if state["version"] == known else state

    @app.delete("/tables/{number}", responses=REFUSED)
    def close_table(number: int) -> dict[str, Any]:
        """Close a table and forget all that came of it."""
        session.close_table(session.find_table(number))
        return {}

    @app.post("/tables/{number}/read", responses=REFUSED, status_code=202)
    def read(number: int, asked: HowToRead) -> dict[str, Any]:
        """Read the columns otherwise."""
        table = session.find_table(number)
        session.read(table, asked.order())
        return table.describe()

    @app.post("/tables/{number}/learn", responses=REFUSED, status_code=202)
    def learn(number: int, asked: ToLearn) -> dict[str, Any]:
        """Learn to predict a column, and make the page."""
        table = session.find_table(number)
        if asked.abstain is not None and asked.costs is None:
            raise SettingError("It is said what it costs not to know, but not what mistakes cost. Say both.")
        more = {"learner": asked.learner, "costs": asked.costs, "abstain": asked.abstain, "version": version}
        session.learn(table, _order(table, "learn", asked, **more))
        return table.describe()

    @app.post("/tables/{number}/compare", responses=REFUSED, status_code=202)
    def compare(number: int, asked: ToPredict) -> dict[str, Any]:
        """Compare learners side by side."""
        table = session.find_table(number)
        session.compare(table, _order(table, "compare", asked))
        return table.describe()

    @app.post("/tables/{number}/predict", responses=REFUSED, status_code=202)
    def predict(number: int, asked: ToAnswer) -> dict[str, Any]:
        """Predict the class of every row of another table."""
        return _answer(session, number, asked, "predict", PREDICTIONS)

    @app.post("/tables/{number}/decide", responses=REFUSED, status_code=202)
    def decide(number: int, asked: ToAnswer) -> dict[str, Any]:
        """Decide about every row of another table, by the costs."""
        return _answer(session, number, asked, "decide", DECISIONS)

    @app.post("/tables/{number}/export", responses=REFUSED, status_code=202)
    def export(number: int, asked: ToExport) -> dict[str, Any]:
        """Write the model in another language."""
        table = session.find_table(number)
        place, out = require_learned(table).folder, f"model.{ENDINGS[asked.language]}"
        session.write(table, Order("export", table.data, table.name, place, language=asked.language, out=out))
        return table.describe()

    @app.post("/tables/{number}/cancel", responses=REFUSED)
    def cancel(number: int) -> dict[str, Any]:
        """End what is being done with a table."""
        table = session.find_table(number)
        session.cancel(table)
        return table.describe()


def _order(table: SessionTable, kind: Literal["learn", "compare"], asked: ToPredict, **more: Any) -> Order:
    return Order(
        kind,
        table.data,
        table.name,
        table.folder,
        asked.order(),
        target=asked.target,
        **more,
    )


def _answer(
    session: Session, number: int, asked: ToAnswer, kind: Literal["predict", "decide"], out: str
) -> dict[str, Any]:
    table = session.find_table(number)
    learned = require_learned(table)
    if kind == "decide" and learned.costs is None and learned.abstain is None:
        raise SettingError("No costs are set, so there is nothing to decide by. Set costs first.")
    data, is_copy = session.find_data(asked.file, asked.path)
    order = Order(kind, data, table.name, learned.folder, keep=asked.keep, out=out)
    session.write(table, order, data if is_copy else None)
    return table.describe()


def _add_downloads(app: FastAPI, session: Session) -> None:
    """The files that came of a table."""

    @app.get("/tables/{number}/page", response_class=FileResponse, responses=REFUSED)
    def show_page(number: int) -> Response:
        """The page of a table, to look at."""
        table = session.find_table(number)
        return FileResponse(
            os.path.join(require_learned(table).folder, PAGE),
            media_type="text/html; charset=utf-8",
            headers={"content-security-policy": SANDBOX},
        )

    @app.get("/tables/{number}/files/{name}", response_class=FileResponse, responses=REFUSED)
    def download(number: int, name: str) -> Response:
        """A file that came of a table: its model, page, predictions, exports."""
        table = session.find_table(number)
        place = require_learned(table).folder
        known = {MODEL, PAGE, COSTS, PREDICTIONS, DECISIONS, *(f"model.{ending}" for ending in ENDINGS.values())}
        path = os.path.join(place, name) if name in known else ""
        if not os.path.isfile(path):
            raise InputError(f"There is no file {shown(name)} of this table. Make it first.")
        stem, ending = safe_file_name(os.path.splitext(table.name)[0], "table"), name.rpartition(".")[2]
        called = f"{stem}.{name}" if name in (PREDICTIONS, DECISIONS, COSTS) else f"{stem}.{ending}"
        return FileResponse(path, media_type="application/octet-stream", filename=called)


async def _save_body(request: Request, path: str, largest: int) -> None:
    """The body of a request as a file, counted as it comes in: it may have said less, or nothing, of its size."""
    said = request.headers.get("content-length", "0")
    if not said.isdigit() or len(said) >= 20 or int(said) > largest:
        _refuse_size(largest)
    size = 0
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > largest:
                    _refuse_size(largest)
                await run_in_threadpool(file.write, part)
    except OSError as error:
        why = error.strerror or "it cannot be written"
        raise InputError(f"The file cannot be kept: {why}. Give its path instead: then it is not copied.") from None


def _refuse_size(largest: int) -> NoReturn:
    raise TooLarge(
        f"The file is larger than {largest:,} bytes. Give its path instead: then it is read where it is, without a "
        "copy. Or start the app with a larger --largest."
    )


class ModelDoor:
    """The API of `likely serve` for the model of a table: made when it is first asked for, anew when it changed."""

    def __init__(self, session: Session, version: str, limits: Limits) -> None:
        self._session, self._version, self._limits = session, version, limits
        self._made: dict[int, tuple[Order, Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            inner = await run_in_threadpool(self._application, scope["path_params"]["number"])
        except (InputError, SettingError) as error:
            await JSONResponse({"error": str(error)}, 400)(scope, receive, send)
            return
        await inner(scope, receive, send)

    def _application(self, number: int) -> Any:
        table = self._session.find_table(number)
        order = require_learned(table)
        known = self._made.get(number)
        if known is None or known[0] is not order:
            model = load_model(os.path.join(order.folder, MODEL))
            known = self._made[number] = (order, application(model, "", self._version, self._limits).app)
        return known[1]


# Running the app: a session, a server, and an end that leaves nothing behind, however it comes.

BODY = 4 << 20
"""Bytes of a request that is no file: how columns are read, costs."""


def run_app(paths: Sequence[str], *, port: int, largest: int, version: str, ready: Callable[[str], None]) -> None:
    """Run the app with these tables open until the process is interrupted or asked to end; `ready` is told the address.

    `largest` is how many bytes of a file are copied.
    """
    try:
        import uvicorn  # noqa: F401  to say what lacks before a session begins

    except ImportError as error:
        refuse_without_extra("app", error)

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
