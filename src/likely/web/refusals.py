"""One form for everything that is refused: a status, and {"error": a sentence}. Shows no more of a request than a few
escaped characters, and knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from likely.errors import LikelyError, TooLarge, shown

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
