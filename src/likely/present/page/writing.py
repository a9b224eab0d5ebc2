"""The page as one file: the template set, style and scripts put in, and a policy that lets nothing else in.

The only room that knows jinja2; it is imported when a page is written, not before.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likely.errors import LikelyError
from likely.evaluate.look import Look
from likely.machinery.native.caching import read_cached, write_cached
from likely.machinery.words import Figure, tie
from likely.models.contracts import Model
from likely.portable.languages.javascript import join_scripts, read_scripts, scoring_scripts
from likely.present.charts.drawing import STYLE
from likely.present.document import Document
from likely.present.page import answers
from likely.present.page.contents import look_contents, model_contents
from likely.present.page.whatif import whatif

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

LARGE = 100_000
"""A model of more characters is packed."""
HERE = Path(__file__).parent / "templates"
STYLES = (STYLE, HERE / "style.css", HERE / "whatif.css")


def page(
    record: Look,
    *,
    curve: Curve | None = None,
    comparison: Comparison | None = None,
    command: str = "",
    version: str = "",
    data: str = "",
    connect: str = "'none'",
) -> str:
    """A first look as HTML. `command` is how it was asked for, `data` the table as it was named there.

    `connect` is what the policy lets the scripts talk to: nothing, unless a server gives the page.
    """
    scored, refused = _score_in_page(record.model)
    contents = look_contents(record, curve, comparison, command, version, refused)
    return _render(contents, record.model, scored, command, data or record.source, connect)


def page_of_model(
    model: Model, *, command: str = "", version: str = "", data: str = "", connect: str = "'none'"
) -> str:
    """A model as HTML, without the scores that only rows could tell."""
    scored, refused = _score_in_page(model)
    return _render(model_contents(model, command, version, refused), model, scored, command, data, connect)


def _score_in_page(model: Model | None) -> tuple[str, str]:
    """What the scripts of a page score rows by, or why there is none."""
    if model is None or model.schema.target is None or len(model.classes) < 2:
        return "", ""
    try:
        return whatif(model), ""
    except LikelyError as error:
        return "", str(error)


def _render(contents: Document, model: Model | None, scored: str, command: str, data: str, connect: str) -> str:
    target = model.schema.target if model is not None else None
    about = {
        "target": "" if target is None else target.name,
        "classes": [] if model is None else list(model.classes),
        "data": data,
        "learner": [] if model is None else answers.fit_options(model),
        "command": command,
    }
    style, script, loader = _style(), bundle(), read_loader()
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(loader)}' '{digest(script)}'; "
        f"connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    size, claim, *sections = contents.parts
    return template(HERE / "page.html").render(  # type: ignore[no-any-return]
        title=contents.headline,
        size=size,
        claim=claim,
        sections=sections,
        policy=policy,
        style=style,
        script=packed(script),
        loader=loader,
        model=packed(scored) if len(scored) > LARGE else embedded(scored) if scored else "",
        model_type="application/gzip" if len(scored) > LARGE else "application/json",
        about=embedded(json.dumps(about, ensure_ascii=False)),
    )


def packed(text: str) -> str:
    """A long JSON as base64 of gzip, which browsers unpack by themselves."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def embedded(text: str) -> str:
    """JSON that cannot close the tag around it, nor begin a comment: what means something to HTML is written by number.

    >>> embedded('{"a": "</script>"}')
    '{"a": "\\\\u003c/script\\\\u003e"}'
    """
    for c in "<>&\u2028\u2029":
        text = text.replace(c, f"\\u{ord(c):04x}")
    return text


def digest(text: str) -> str:
    """How a policy names a style or a script: by what it holds."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _style() -> str:
    """All styles, without remarks and blanks around braces and semicolons."""
    whole = "\n".join(path.read_text("utf-8") for path in STYLES)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL))


@cache
def bundle() -> str:
    """All scripts as the text of one module, without an import or export. Pages hold it packed."""
    return join_scripts({**scoring_scripts(), **read_scripts(HERE.parent / "script")})


@cache
def read_loader() -> str:
    """The small script that unpacks the other one."""
    return join_scripts(read_scripts(HERE.parent / "loader"))


def _tied(value: Any) -> Any:
    """What is put into a template; words that came as text do not break between a number and its per cent."""
    return tie(value) if type(value) in (str, Figure) else value


SETTINGS: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "finalize": _tied}


@cache
def template(path: Path) -> Any:
    """A template, which escapes everything that is put in. Compiled once, and kept as kernels are."""
    import jinja2

    class Kept(jinja2.BytecodeCache):
        """Compiled templates among the code that is kept on disk, by what they were made of and what compiled them."""

        def load_bytecode(self, bucket: Any) -> None:
            code = read_cached(_kept_name(bucket))
            if code is not None:
                bucket.bytecode_from_string(code)

        def dump_bytecode(self, bucket: Any) -> None:
            write_cached(_kept_name(bucket), bucket.bytecode_to_string())

    loader, made_of = jinja2.FileSystemLoader(path.parent), {"undefined": jinja2.StrictUndefined, **SETTINGS}
    return jinja2.Environment(loader=loader, bytecode_cache=Kept(), **made_of).get_template(path.name)


def _kept_name(bucket: Any) -> str:
    """A name that changes with a template (`checksum`), the settings, the compiler and the Python that it is for."""
    import jinja2.compiler

    sources = (Path(file).read_bytes() for file in (__file__, jinja2.compiler.__file__))
    about = b"".join([*sources, repr((bucket.key, bucket.checksum, sys.implementation.cache_tag)).encode()])
    return f"page-{hashlib.sha256(about).hexdigest()[:20]}.template"
