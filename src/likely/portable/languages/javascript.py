"""A model as one module of JavaScript, which needs nothing else: the portable form, and the page's own script.

Knows how scripts become one text; the arithmetic is in `script/`, where the page has it from too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from likely.portable.describe import Portable
from likely.portable.origin import origin_lines
from likely.portable.writing import text_of

SCRIPTS = Path(__file__).parent / "script"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class|async) )", re.MULTILINE)
_REMARK = re.compile(r"^\s*//.*\n", re.MULTILINE)
_QUOTED = re.compile("[\"'`/]")
_BLANKS = re.compile(r" (?=[{}()=,;:?<>*&|!])|(?<=[{}()=,;:?<>*&|!]) ")
_INDENT = re.compile(r"^[ \n]+", re.MULTILINE)

_HEAD = """// A model that {learner} learned{of}: posterior(row) and predict(row).
// A row is an object of values; what it does not have is missing. Written by likely; nothing else is needed to run it:
//
//   import {{ predict }} from "./this-file.mjs";
//   predict({{ attribute: "value" }});
{origin}
"""
_TAIL = """
const FORM = revived(JSON.parse({text}));

// P(class | row) by class; all 0 where every class is impossible.
export function posterior(row) {{
  const own = new Map(Object.entries(row).map(([name, v]) => [name, v instanceof Date ? v.getTime() / 1000 : v]));
  const cells = cellsOf(FORM, own);
  for (const {{ name, kind }} of FORM.attributes) {{
    if (FORM.refuse_unseen && kind === "level" && cells.get(name) === UNSEEN) {{
      const value = String(own.get(name));
      throw new Error(`The row has ${{value}} in column ${{name}}, a level that training did not have.`);
    }}
  }}
  const chances = chancesOf(scoresOf(FORM, cells));
  return Object.fromEntries(FORM.classes.map((name, k) => [name, chances[k]]));
}}

// The most probable class, the first of equals; null where every class is impossible.
export function predict(row) {{
  const found = posterior(row);
  let best = null;
  for (const name of FORM.classes) if (found[name] > (best === null ? 0 : found[best])) best = name;
  return best;
}}
"""


def to_javascript(portable: Portable) -> str:
    """The module."""
    of = "" if portable.target is None else f" to predict {ascii(portable.target)[1:-1]}"
    text = json.dumps(text_of(portable))  # a text of JSON is one of JavaScript
    head = _HEAD.format(learner=portable.learner, of=of, origin=origin_lines(portable, "//"))
    return head + join_scripts(scoring_scripts()) + _TAIL.format(text=text)


@cache
def scoring_scripts() -> dict[str, str]:
    """The scripts that read and score a row, by name."""
    return read_scripts(SCRIPTS)


def read_scripts(folder: Path) -> dict[str, str]:
    """The scripts of a folder, by name."""
    found = sorted(folder.iterdir(), key=lambda entry: entry.name)
    return {entry.name: entry.read_text(encoding="utf-8") for entry in found if entry.name.endswith(".js")}


def join_scripts(scripts: Mapping[str, str]) -> str:
    """All scripts as the text of one module, without an import or export, each after those that it needs."""
    order = TopologicalSorter({name: _IMPORT.findall(text) for name, text in scripts.items()}).static_order()
    parts = []
    for name in order:
        text = scripts[name]
        alone = not _IMPORT.search(text) and not _EXPORT.search(text)
        text = _INDENT.sub("", _REMARK.sub("", _EXPORT.sub("", _IMPORT.sub("", text))))
        text = "\n".join(map(_without_blanks, text.split("\n")))
        # A file that shares nothing keeps its names to itself.
        parts.append(f"{{\n{text}\n}}" if alone else text)
    return "\n".join(parts) + "\n"


def _without_blanks(line: str) -> str:
    """A line without blanks around signs; one with a text or a pattern in it stays as it is."""
    return line if _QUOTED.search(line) else _BLANKS.sub("", line)
