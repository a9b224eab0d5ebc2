"""What a registry shows of README.md has no link that leads nowhere, and package metadata holds it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELATIVE = re.compile(r"\]\((?!https?:|#)[^)]*\)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install likely[test]")
    spec = importlib.util.spec_from_file_location("hatch_readme", ROOT / "hatch_readme.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_link_leads_nowhere(hook: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert RELATIVE.search(text)  # else there is nothing to mend
    for source in (None, "https://example.org/likely/"):
        shown = hook.published(text, source)
        assert not RELATIVE.search(FENCED.sub("", shown))
        assert FENCED.findall(shown) == FENCED.findall(text)
    assert "https://example.org/likely/blob/HEAD/docs/tutorial.md" in shown
    assert "https://example.org/likely/raw/HEAD/docs/images/page-answer.png" in shown


def test_the_metadata_of_the_package_hold_it(hook: ModuleType) -> None:
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    core = ProjectMetadata(str(ROOT), PluginManager()).core
    assert core.readme_content_type == "text/markdown"
    assert "Three commands" in core.readme and not RELATIVE.search(FENCED.sub("", core.readme))
