"""What the site adds to the documents: pages made of docstrings, benchmarks and examples, and the output of code.

A block that begins with ```python exec is run while the page is built, from the top folder, and followed by what it
prints. Links that lead out of docs/ lead to the page that was made of their target.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation

ROOT = Path(__file__).resolve().parent.parent
EXEC = re.compile(r"^```python exec\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<there>[^)\s]+)\)")
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
MADE = {
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "benchmarks/RESULTS.md": "benchmarks/core.md",
    "benchmarks/FAMILY.md": "benchmarks/family.md",
    "benchmarks/QUALITY.md": "benchmarks/quality.md",
}
"""Documents outside docs/ that are pages of the site."""
GROUPS = {
    "verbs": ("From tables to answers", lambda name, thing: not isinstance(thing, type)),
    "learners": (
        "Learners",
        lambda name, thing: isinstance(thing, type) and hasattr(thing, "learn") and name != "Window",
    ),
    "things": ("What they give", lambda name, thing: True),
}


# -- pages that are made ----------------------------------------------------------------------------------------------


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file under docs/ holds."""
    for path, text in {**reference(), **outside(), "examples.md": examples()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_config(config: Any) -> Any:
    """The rest of the navigation: what is already there, and what is made."""
    docs = ROOT / "docs"
    topics = sorted(
        p for p in docs.glob("*.md") if not _named(config.nav, p.name) and p.name not in ("cli.md", "architecture.md")
    )
    about: list[Any] = [{"Plan of the house": "architecture.md"}, "changelog.md", "decisions/README.md"]
    about += sorted(f"decisions/{p.name}" for p in (docs / "decisions").glob("0*.md"))
    config.nav += [
        {"Topics": [p.name for p in topics] + sorted(f"models/{p.name}" for p in (docs / "models").glob("*.md"))},
        {"Examples": "examples.md"},
        {"Commands": "cli.md"},
        {"Reference": [f"reference/{key}.md" for key in (*GROUPS, "probability", "sklearn")]},
        {"Measured": [path for path in MADE.values() if path.startswith("benchmarks/")]},
        {"About": about},
    ]
    return config


def _named(nav: Any, name: str) -> bool:
    return any(v == name or (isinstance(v, list) and name in v) for entry in nav for v in entry.values())


def reference() -> dict[str, str]:
    """Pages of directives, one for each public name, which are filled from docstrings."""
    import likely
    import likely.probability

    left = {name: getattr(likely, name) for name in likely.__all__}
    out = {}
    for key, (title, fits) in GROUPS.items():
        own = [name for name, thing in left.items() if fits(name, thing)]
        out[f"reference/{key}.md"] = _directives(title, [(f"likely.{n}", _place(left[n], n)) for n in own])
        left = {name: thing for name, thing in left.items() if name not in own}
    names = [(f"likely.probability.{n}", _place(getattr(likely.probability, n), n)) for n in likely.probability.__all__]
    out["reference/probability.md"] = _directives("Finite probability", names)
    return {**out, "reference/sklearn.md": _directives("Estimators for scikit-learn", _estimators())}


def _estimators() -> list[tuple[str, str]]:
    import likely.sklearn as faces

    return [(f"likely.sklearn.{n}", _place(getattr(faces, n), n)) for n in faces.__all__]


def _place(thing: Any, name: str) -> str:
    return f"{thing.__module__}.{name}"


def _directives(title: str, names: list[tuple[str, str]]) -> str:
    each = [f"::: {place}\n    options:\n      heading: {shown}\n      toc_label: {shown}\n" for shown, place in names]
    return f"# {title}\n\n" + "\n".join(each)


def outside() -> dict[str, str]:
    """Documents from other folders, their links as if they were still there."""
    return {page: _links((ROOT / path).read_text(encoding="utf-8"), path, page) for path, page in MADE.items()}


def examples() -> str:
    """The scripts and the tables of examples/, as one page."""
    folder = ROOT / "examples"
    parts = [_links((folder / "README.md").read_text(encoding="utf-8"), "examples/README.md", "examples.md")]
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.toml")]):
        kind = "python" if path.suffix == ".py" else "toml"
        parts.append(f"## {path.name}\n\n```{kind}\n{path.read_text(encoding='utf-8')}```\n")
    return "\n".join(parts)


# -- what happens to every page ---------------------------------------------------------------------------------------


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Run what is to be run, and mend links that lead out of docs/."""
    path = page.file.src_uri
    if path.startswith("figures/") or "```python exec" in markdown:
        markdown = ran(markdown, path)
    return _links(markdown, f"docs/{path}", path) if (ROOT / "docs" / path).exists() else markdown


def ran(markdown: str, path: str) -> str:
    """The page with each block followed by what it prints; the blocks of a page share their names."""
    names: dict[str, Any] = {"__name__": path}
    before = os.getcwd()

    def block(found: re.Match[str]) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(found["code"], path, "exec"), names)
        return f"```python\n{found['code']}```\n\n```text\n{said.getvalue().rstrip()}\n```"

    os.chdir(ROOT)
    try:
        return EXEC.sub(block, markdown)
    finally:
        os.chdir(before)


def _links(text: str, path: str, page: str) -> str:
    """The text of a document at `path` (from the top folder), with links as the page `page` of the site needs them."""

    def mended(found: re.Match[str]) -> str:
        there, sign, anchor = found["there"].partition("#")
        if ":" in there or not there:
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), there))
        if target == "docs/decisions":
            target = "docs/decisions/README.md"
        if target.startswith("docs/"):
            goal = target.removeprefix("docs/")
        elif target in MADE:
            goal = MADE[target]
        elif target == "README.md":
            goal = "README.md"
        elif target.startswith("examples"):
            sign, anchor = ("#", target.removeprefix("examples/").replace(".", "")) if "." in target else ("", "")
            goal = "examples.md"
            if not target.endswith((".py", ".toml")):
                sign = anchor = ""
        else:
            return found[0]  # not a page of the site: the strict build says so
        return f"]({posixpath.relpath(goal, posixpath.dirname(page) or '.')}{sign}{anchor})"

    # Code is left as it is.
    return "".join(part if k % 2 else LINK.sub(mended, part) for k, part in enumerate(FENCED.split(text)))


def on_nav(nav: Navigation, config: Any, files: Files) -> Navigation:
    """Refuse a page that no way leads to."""
    lost = [f.src_uri for f in files.documentation_pages() if f.page is None]
    if lost:
        raise SystemExit(f"No way leads to: {', '.join(lost)}. Add it to mkdocs.yml.")
    return nav
