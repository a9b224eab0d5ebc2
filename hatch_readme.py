"""README.md as package registries show it, where links to files of the repository lead nowhere.

With an address under [project.urls] Source the links lead there. Without one they become plain text and pictures are
left out, so that no reader meets a broken one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?!https?:)(?P<path>[^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)\s]+)\)")
EMPTY_TABLE = re.compile(r"^\| \| \|\n\|---\|---\|\n(?:\|[ |]*\|\n)+", re.MULTILINE)
COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


def published(text: str, source: str | None) -> str:
    """The text with links to `source`, or without links where there is none; code is left as it is."""
    place = source.rstrip("/") if source else ""

    def changed(part: str) -> str:
        picture = rf"![\g<text>]({place}/raw/HEAD/\g<path>)" if place else ""
        link = rf"[\g<text>]({place}/blob/HEAD/\g<path>)" if place else r"\g<text>"
        return COMMENT.sub("", LINK.sub(link, PICTURE.sub(picture, part)))

    whole = "".join(part if k % 2 else changed(part) for k, part in enumerate(FENCED.split(text)))
    return re.sub(r"\n{3,}", "\n\n", EMPTY_TABLE.sub("", whole))


class ReadmeHook(MetadataHookInterface):  # type: ignore[misc]
    """Gives the package its description."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        found = published(text, metadata.get("urls", {}).get("Source"))
        metadata["readme"] = {"content-type": "text/markdown", "text": found}
