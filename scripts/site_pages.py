"""What the site adds to the documents: pages made of docstrings, benchmarks and examples, and the output of code.

A block that begins with ```python exec is run while the page is built, from the top folder, and followed by what it
prints. Links that lead out of docs/ lead to the page that was made of their target. Commands of the gallery are run,
and the pages they write are pages of the site.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
import shlex
import sys
import tempfile
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
    "benchmarks/ADDITIVE.md": "benchmarks/additive.md",
    "benchmarks/TEXT.md": "benchmarks/text.md",
    "benchmarks/CLUSTER.md": "benchmarks/cluster.md",
    "benchmarks/REPORT.md": "benchmarks/report.md",
    "benchmarks/SCALE.md": "benchmarks/scale.md",
    "benchmarks/PARTLY_KNOWN.md": "benchmarks/partly_known.md",
}
"""Documents outside docs/ that are pages of the site."""
GALLERY = re.compile(r"^```sh\n(?P<command>likely .+ --out (?P<page>[\w-]+\.html))\n```$", re.MULTILINE)
GROUPS = {
    "verbs": ("From tables to answers", lambda name, thing: not isinstance(thing, type)),
    "learners": (
        "Learners",
        lambda name, thing: isinstance(thing, type) and hasattr(thing, "learn") and name != "Window",
    ),
    "things": ("What they give", lambda name, thing: True),
}
BEFORE = """Functions that read a table take these options besides their own (`**reading`, `**options`):

"""


# -- pages that are made ----------------------------------------------------------------------------------------------


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file under docs/ holds."""
    made = {**reference(), **outside(), **gallery(), "examples.md": examples(), "llms.txt": map_for_models()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_config(config: Any) -> Any:
    """The rest of the navigation: pages that are made, and documents that mkdocs.yml does not name."""
    entries = {title: pages for entry in config.nav for title, pages in entry.items()}
    entries["Choose"] += [{"Measured": [path for path in MADE.values() if path.startswith("benchmarks/")]}]
    others = sorted(p.name for p in (ROOT / "docs").glob("*.md") if not _named(config.nav, p.name))
    names = [f"reference/{key}.md" for key in (*GROUPS, "probability", "sklearn")]
    entries["Reference"] += [{"Python": names}, *others]
    return config


def _named(nav: Any, name: str) -> bool:
    """Whether a page is somewhere in the navigation."""
    if isinstance(nav, dict):
        return any(_named(pages, name) for pages in nav.values())
    return any(_named(entry, name) for entry in nav) if isinstance(nav, list) else nav == name


def gallery() -> dict[str, str]:
    """What the commands of the gallery write."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from captured import run_likely

    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for found in GALLERY.finditer((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")):
            path = Path(folder) / found["page"]
            words = [str(path) if word == path.name else word for word in shlex.split(found["command"])[1:]]
            code, _, err = run_likely(words, ROOT)
            if code:
                raise SystemExit(f"{found['command']} failed: {err}")
            text = path.read_text(encoding="utf-8")
            out[f"gallery/{path.name}"] = text.replace(str(path), path.name)
    return out


def map_for_models() -> str:
    """llms.txt with links to pages of the site; what is no page of it is left out."""
    lines = []
    for line in (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines():
        paths = [found["there"] for found in LINK.finditer(line)]
        if all(path.startswith("docs/") or path in MADE for path in paths):
            lines.append(LINK.sub(lambda found: f"]({_html(found['there'])})", line))
    return "\n".join(lines) + "\n"


def _html(path: str) -> str:
    return re.sub(r"\.md$", ".html", MADE.get(path, path.removeprefix("docs/")))


def reference() -> dict[str, str]:
    """Pages of directives, one for each public name, which are filled from docstrings."""
    import likely
    import likely.classroom

    left = {name: getattr(likely, name) for name in likely.__all__}
    out = {}
    for key, (title, fits) in GROUPS.items():
        own = [name for name, thing in left.items() if fits(name, thing)]
        names = [(f"likely.{n}", _place(left[n], n)) for n in own]
        before = f"{BEFORE}{reading_options()}\n\n" if key == "verbs" else ""
        out[f"reference/{key}.md"] = _directives(title, names, before)
        left = {name: thing for name, thing in left.items() if name not in own}
    names = [(f"likely.classroom.{n}", _place(getattr(likely.classroom, n), n)) for n in likely.classroom.__all__]
    out["reference/probability.md"] = _directives("Finite probability", names)
    return {**out, "reference/sklearn.md": _directives("Estimators for scikit-learn", _estimators())}


def _estimators() -> list[tuple[str, str]]:
    import likely.sklearn as faces

    return [(f"likely.sklearn.{n}", _place(getattr(faces, n), n)) for n in faces.__all__]


def _place(thing: Any, name: str) -> str:
    return f"{thing.__module__}.{name}"


def reading_options() -> str:
    """The options of every function that reads a table, as they are declared."""
    from likely.intake.options import Reading
    from likely.models.settings import declared

    rows = ["| option | default | meaning |", "|---|---|---|"]
    rows += [f"| `{name}` | `{default!r}` | {about.meaning} |" for name, default, about in declared(Reading)]
    return "\n".join(rows)


def _directives(title: str, names: list[tuple[str, str]], before: str = "") -> str:
    each = [f"::: {place}\n    options:\n      heading: {shown}\n      toc_label: {shown}\n" for shown, place in names]
    return f"# {title}\n\n{before}" + "\n".join(each)


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
    if path in ("README.md", "gallery.md"):
        page.meta["hide"] = ["navigation", "toc"] if path == "README.md" else ["navigation"]  # nothing is beside them
    if path.startswith("decisions/0"):
        page.meta["search"] = {"exclude": True}  # who looks for a setting does not want its history first
    if path == "gallery.md":
        markdown = GALLERY.sub(lambda found: f"{found[0]}\n\n{_button(found['page'])}", markdown)
    if path.startswith("figures/") or "```python exec" in markdown:
        markdown = ran(markdown, path)
    return _links(markdown, f"docs/{path}", path) if (ROOT / "docs" / path).exists() else markdown


def _button(page: str) -> str:
    return f"[Open {page}](gallery/{page}){{ .md-button target=_blank }}"


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
