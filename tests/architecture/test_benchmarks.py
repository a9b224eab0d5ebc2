"""Benchmarks run rarely, so nobody notices when what they import is renamed: here it is noticed."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_likely_is_there(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "likely":
            module = import_module(node.module or "")
            for name in node.names:
                if not hasattr(module, name.name):
                    import_module(f"{node.module}.{name.name}")
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] == "likely":
                    import_module(name.name)
