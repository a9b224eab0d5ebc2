"""The page's scripts as one module: plain files under script/ joined in the order in which they need each other.

Knows text only. A page that is opened from disk may not import files, so imports are taken out; names are unique.
"""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class|async) )", re.MULTILINE)
_REMARK = re.compile(r"^\s*//.*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \n]+", re.MULTILINE)


@cache
def bundle() -> str:
    """All scripts as the text of one module, without an import or export, which no `</script` closes early."""
    found = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in sorted(files("likely.present.page").joinpath("script").iterdir(), key=lambda e: e.name)
        if entry.name.endswith(".js")
    }
    order = TopologicalSorter({name: _IMPORT.findall(text) for name, text in found.items()}).static_order()
    parts = []
    for name in order:
        text = found[name]
        alone = not _IMPORT.search(text) and not _EXPORT.search(text)
        text = _INDENT.sub("", _REMARK.sub("", _EXPORT.sub("", _IMPORT.sub("", text))))
        # A file that shares nothing keeps its names to itself.
        parts.append(f"{{\n{text}\n}}" if alone else text)
    return ("\n".join(parts) + "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")
