"""Each notebook is valid, runs in a real Jupyter kernel from top to bottom, and prints what its page prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat", reason="needs nbformat (the extra `test`)")
COURSE = Path(__file__).resolve().parents[2] / "docs" / "course"
NOTEBOOKS = sorted(COURSE.glob("*.ipynb"))
RUN = re.compile(
    r"^<!-- run(?P<cut> \d+ lines)?: likely (?P<words>.+?) -->\n```text\n\$ (?:[^\n]*\\\n)*[^\n]*\n(?P<out>.*?)```",
    re.M | re.S,
)
PRINTED = re.compile(r"^```python\n(?P<code>.*?)^```\n<!-- printed -->\n```text\n(?P<out>.*?)```", re.M | re.S)


def text_of(cell: Any) -> str:
    return "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout").rstrip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_there_is_a_notebook_for_every_chapter() -> None:
    assert [p.stem for p in NOTEBOOKS] == [p.stem for p in sorted(COURSE.glob("[1-9]*-*.md"))]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (k % 4 > 0)) for k, path in enumerate(NOTEBOOKS)],
)
def test_a_notebook_prints_what_its_page_prints(path: Path, tmp_path: Path) -> None:
    nbclient: Any = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel (the extra `test`)")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel (the extra `test`)")
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    # In a folder without the example tables: a notebook may lie anywhere.
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    nbformat.validate(notebook)
    assert not any(tmp_path.iterdir()), "a notebook leaves nothing lying about"
    cells = {cell.source: cell for cell in notebook.cells if cell.cell_type == "code"}

    runs = list(RUN.finditer(page))
    assert runs
    for found in runs:
        out, printed = text_of(cells[f"%likely {found['words']}"]), found["out"].rstrip()
        assert out.startswith(printed.removesuffix("…").rstrip()) if found["cut"] else out == printed, found["words"]
    for found in PRINTED.finditer(page):
        assert text_of(cells[found["code"].rstrip()]) == found["out"].rstrip()

    pictures = [c for c in cells.values() for o in c.outputs if "image/svg+xml" in o.get("data", {})]
    assert len(pictures) == page.count("<!-- picture ")
    answers = [c for source, c in cells.items() if source.startswith("check(")]
    assert len(answers) == page.count("**Exercise ")
    assert all("no answer yet" in c.outputs[0]["data"]["text/plain"] for c in answers)
