"""The application: which address answers what, and what its OpenAPI description says. Computes nothing itself."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, model_validator
from starlette.concurrency import run_in_threadpool

from likely.errors import LikelyError
from likely.machinery.words import clean
from likely.models.contracts import Model
from likely.present.document import Document, Table
from likely.present.page.writing import page_of_document
from likely.table.output.sink import Format
from likely.web import answers
from likely.web.guard import MOST_ROWS, NAMES, Counters, Guard, Limits, Quick, Scope, add_refusals

REMARKS = "X-Likely-Remarks"
QUICK, SMALL = 0.005, 1 << 16
"""Seconds of a row, and bytes of a request, up to which it is answered without a thread of its own."""


def check_text(text: str) -> str:
    """JSON can spell half of a character (a lone surrogate), which no table can hold."""
    text.encode()
    return text


Text = Annotated[str, AfterValidator(check_text)]
Cell = Text | FiniteFloat | bool | None
Row = dict[Text, Cell]

TYPES: dict[str, Format] = {
    "text/csv": "csv",
    "application/x-ndjson": "json",
    "application/vnd.apache.arrow.stream": "arrow",
}
MEDIA: dict[Format, str] = {format: media for media, format in TYPES.items()}


TableAnswer: TypeAlias = Callable[[Model, bytes, Format, Format, Limits], tuple[bytes, list[str]]]


class Asked(BaseModel):
    """What all requests have in common: nothing that is not named may be in them."""

    model_config = ConfigDict(extra="forbid")


class RowsAsked(Asked):
    """Rows to predict: each a cell for some of the attributes; what is not given is missing. A list of them will do."""

    rows: list[Row] = Field(min_length=1, max_length=MOST_ROWS)

    @model_validator(mode="before")
    @classmethod
    def read_list(cls, given: Any) -> Any:
        """The rows alone, without their name."""
        return {"rows": given} if isinstance(given, list) else given


class RowsToPredict(RowsAsked):
    """Rows to predict, and how sure one wants to be."""

    level: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Adds to each row the classes that hold the true one with this probability, and intervals.",
    )


class OneRow(Asked):
    """One row to explain."""

    row: Row
    of: Text | None = Field(None, description="The class to weigh; the most probable one otherwise.")
    against: Text | None = Field(None, description="The class to weigh it against, or 'rest'.")
    unit: Literal["bits", "decibans", "nats", "odds"] = "bits"


class RowsToDecide(RowsAsked):
    """Rows to decide, and what each action costs in each class."""

    loss: dict[Text, dict[Text, FiniteFloat]] | None = Field(
        None, description="For each class the cost of each action; the model's own otherwise, or 1 for a wrong class."
    )
    abstain: FiniteFloat | None = Field(None, description="What it costs to say: don't know.")


class Prediction(BaseModel):
    prediction: str | None
    probabilities: dict[str, float]
    remarks: str
    set: list[str] | None = None
    intervals: dict[str, tuple[float, float] | None] | None = None


class Predictions(BaseModel):
    proper: bool
    rows: list[Prediction]
    remarks: list[str]


class Decided(BaseModel):
    action: str | None
    expected: dict[str, float | None]
    margin: float | None
    reason: str | None
    remarks: str


class Decisions(BaseModel):
    actions: list[str]
    rows: list[Decided]


class AboutAttribute(BaseModel):
    name: str
    kind: str
    levels: list[str] | None


class About(BaseModel):
    target: str | None
    classes: list[str]
    learner: str
    proper: bool
    attributes: list[AboutAttribute]
    origin: dict[str, str]
    """How good it was, and what it is from: sentences and facts by name."""
    judged: answers.Answer | None
    """Scores on held-out rows with bounds, curves, subgroups; null where it was not judged."""


class Health(BaseModel):
    """That the server answers, and for what; nothing of any row."""

    status: Literal["ok"]
    version: str
    target: str | None


class Problem(BaseModel):
    """Why there is no answer, in a sentence."""

    error: str


EXAMPLE = "For example: curl -s ADDRESS/predict -H 'content-type: application/json' -d '[{\"COLUMN\": VALUE}]'"
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The rows cannot be read, or what was asked cannot be said."},
    401: {"model": Problem, "description": "The request has not the key of the server, where it has one."},
    408: {"model": Problem, "description": "The request did not arrive in time."},
    413: {"model": Problem, "description": "The request, or the answer to it, would be too large."},
    421: {"model": Problem, "description": "The request is for another host."},
    422: {"model": Problem, "description": "The request is not of the form that is described here."},
    503: {"model": Problem, "description": "There was no answer in time, or too many requests at once."},
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {media: {"schema": {"type": "string", "format": "binary"}} for media in TYPES},
    }
}
TABLE: dict[int | str, dict[str, Any]] = {
    **REFUSED,
    200: {
        "description": f"A row for each row. The header {REMARKS} says what was unlike training.",
        "content": {media: {"schema": {"type": "string"}} for media in TYPES},
    },
    415: {"model": Problem, "description": "The table is in a format that is not read here."},
}


def application(
    model: Model,
    page: str,
    version: str = "",
    limits: Limits | None = None,
    key: bytes | None = None,
    names: frozenset[str] | None = NAMES,
) -> Guard:
    """The application for one model and its page; with a key nobody is answered without it. `names` are the hosts that
    requests may be for; None: any."""
    limits = limits or Limits()
    app = FastAPI(
        title="likely",
        version=version or "0",
        description="Probabilities, evidence and decisions of one model. Nothing is kept of any request.",
        docs_url=None,  # those pages would fetch scripts from elsewhere
        redoc_url=None,
    )

    add_refusals(app)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def whole_page() -> HTMLResponse:
        return HTMLResponse(page)

    @app.get("/health", responses=REFUSED)
    def health() -> Health:
        """That the server answers: its version, and what the model predicts."""
        target = model.schema.target
        return Health(status="ok", version=app.version, target=None if target is None else target.name)

    target = "" if model.schema.target is None else clean(model.schema.target.name)
    counters = Counters({"target": target, "learner": type(model.learner).__name__, "digest": model.digest})

    @app.get("/metrics", responses=REFUSED, response_class=PlainTextResponse)
    def metrics() -> PlainTextResponse:
        """Requests by address and status, and the time they took, in the text format of Prometheus."""
        return PlainTextResponse(counters.text(), media_type="text/plain; version=0.0.4")

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def description() -> HTMLResponse:
        return HTMLResponse(described)

    _add_rows(app, model, limits)
    _add_tables(app, model, limits)
    _name_the_columns(app, model)
    described = page_of_document(present_api(app.openapi()), app.version)
    counters.paths = frozenset([*app.openapi()["paths"], "/", "/docs", "/openapi.json"])
    return Guard(app, limits, names, quick=_quick(model, app.version, limits), key=key, counters=counters)


def present_api(description: Mapping[str, Any]) -> Document:
    """The description of the API as people read it."""
    rows = [
        (method.upper(), path, told["description"].partition("\n")[0])
        for path, methods in description["paths"].items()
        for method, told in methods.items()
    ]
    columns = tuple((clean(name, 80),) for name in description["components"]["schemas"]["Row"]["properties"])
    tables = Table("Addresses", ("", "address", "what it gives"), tuple(rows)), Table("Columns", ("of a row",), columns)
    return Document("The API\nWhat programs can ask this server; /openapi.json says it to them.", (*tables, EXAMPLE))


def _quick(model: Model, version: str, limits: Limits) -> Quick:
    """What is answered where it arrives: whether the server lives, and single rows of a model that takes no time.

    To wait for a thread takes longer than such a row. Whatever is not plainly right goes to the application, which says
    what is wrong.
    """
    to_json = TypeAdapter(answers.Answer).dump_json
    target = model.schema.target
    health = to_json({"status": "ok", "version": version, "target": None if target is None else target.name})
    quick = target is not None and _seconds_of_a_row(model, limits) < QUICK

    def answer(scope: Scope, headers: Mapping[bytes, bytes], body: bytearray) -> bytes | None:
        path, method = scope["path"], scope["method"]
        if path == "/health" and method == "GET":
            return health
        is_row = quick and path == "/predict" and method == "POST" and len(body) <= SMALL
        if not is_row or headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            return None
        try:
            asked = RowsToPredict.model_validate_json(bytes(body))
            found = asked.rows, limits, asked.level
            return to_json(answers.predict_rows(model, *found)) if len(asked.rows) == 1 else None
        except (ValueError, LikelyError):
            return None

    return answer


def _seconds_of_a_row(model: Model, limits: Limits) -> float:
    """How long a row takes, once what is made on first use has been made."""
    took = []
    for _ in range(3):
        start = time.perf_counter()
        answers.predict_rows(model, [{}], limits)
        took.append(time.perf_counter() - start)
    return min(took)


def _add_rows(app: FastAPI, model: Model, limits: Limits) -> None:
    """What is answered in JSON: about the model, and about a few rows."""

    about = About(**answers.describe_model(model))

    @app.get("/model", responses=REFUSED)
    def about_the_model() -> About:
        """What the model predicts, from what, how good it was on held-out rows, and what it was made of."""
        return about

    @app.post("/predict", responses=REFUSED, response_model_exclude_unset=True)
    def predict(asked: RowsToPredict) -> Predictions:
        """The class of each row, the probability of every class, and what training had nothing like; with a level, the
        classes that are not ruled out and an interval for each probability, too."""
        return Predictions(**answers.predict_rows(model, asked.rows, limits, asked.level))

    @app.post("/explain", responses=REFUSED)
    def explain(asked: OneRow) -> answers.Answer:
        """The evidence of one answer, attribute by attribute."""
        return answers.explain_row(model, asked.row, asked.of, asked.against, asked.unit, limits)

    @app.post("/decide", responses=REFUSED)
    def decide(asked: RowsToDecide) -> Decisions:
        """The action of least expected loss for each row."""
        return Decisions(**answers.decide_rows(model, asked.rows, asked.loss, asked.abstain, limits))


def _add_tables(app: FastAPI, model: Model, limits: Limits) -> None:
    """What is answered about whole tables, in the format that the request wants."""
    Wanted = Annotated[Format, Query(alias="format", description="How the answer is written.")]
    how: dict[str, Any] = {"response_class": Response, "responses": TABLE, "openapi_extra": BODY}

    @app.post("/predict/table", **how)
    async def predict_table(request: Request, wanted: Wanted = "csv", remarks: bool = False) -> Response:
        """Predictions of a whole table, sent as CSV, JSON lines or Arrow; with `remarks` a column of them, too."""
        return await _answer_table(model, request, partial(answers.predict_table, remarks=remarks), wanted, limits)

    @app.post("/decide/table", **how)
    async def decide_table(request: Request, wanted: Wanted = "csv") -> Response:
        """Decisions about a whole table by the model's own loss; a wrong class costs 1 where it has none."""
        return await _answer_table(model, request, answers.decide_table, wanted, limits)


async def _answer_table(
    model: Model, request: Request, answer: TableAnswer, wanted: Format, limits: Limits
) -> Response:
    given = TYPES.get(request.headers.get("content-type", "").partition(";")[0].strip().lower())
    if given is None:
        return JSONResponse({"error": f"Send the table as one of {', '.join(TYPES)}."}, 415)
    body, remarks = await run_in_threadpool(answer, model, await request.body(), given, wanted, limits)
    # A header holds Latin letters only, and one line.
    plain = " ".join(remarks).encode("ascii", "replace").decode()[:2000]
    return Response(body, media_type=MEDIA[wanted], headers={REMARKS: plain} if plain else None)


def _name_the_columns(app: FastAPI, model: Model) -> None:
    """Let the description say which cells a row may have: those of the model's columns, and no others."""
    cell = {"anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]}
    row = {
        "type": "object",
        "description": "A cell for some of the columns; what is not given is missing.",
        "properties": {c.name: cell for c in model.schema.columns},
        "additionalProperties": False,
    }
    forms = app.openapi()["components"]["schemas"]  # made once; what is changed in it stays
    forms["Row"] = row
    named = {"$ref": "#/components/schemas/Row"}
    forms["OneRow"]["properties"]["row"] = named
    for form in ("RowsToPredict", "RowsToDecide"):
        forms[form]["properties"]["rows"]["items"] = named
