"""The documents tell the truth: generated parts are up to date, links lead somewhere, and the Python in them runs."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import likely

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "benchmarks", "examples")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<there>[^)\s]+)\)")
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(text: str) -> set[str]:
    """The headings of a document as its links name them."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def code_of(path: Path) -> str:
    return "\n".join(found["code"] for found in PYTHON.finditer(path.read_text(encoding="utf-8")))


def test_generated_parts_are_up_to_date() -> None:
    program = [sys.executable, str(ROOT / "scripts" / "generate_docs.py"), "--check"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    lost = []
    for found in LINK.finditer(FENCED.sub("", document.read_text(encoding="utf-8"))):
        there, _, anchor = found["there"].partition("#")
        if ":" in there:
            continue
        target = document if not there else (document.parent / there).resolve()
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            lost.append(found["there"])
    assert not lost, f"{name_of(document)} links to what is not there: {', '.join(lost)}"


RUN_HERE = [path for path in DOCUMENTS if code_of(path) and "pyspark" not in code_of(path)]
"""Programs in documents; those that start Spark run with its tests."""


@pytest.mark.parametrize("document", RUN_HERE, ids=name_of)
def test_the_python_in_a_document_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a folder of its own, because it may write files; the example tables are where the text says they are.
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(code_of(document), name_of(document), "exec"), {"__name__": "__main__"})


ROOMS = "|".join(sorted({path.parent.name for path in (ROOT / "src" / "likely").glob("*/__init__.py")}))
PLACE = re.compile(
    rf"(?<![\w./-])((?:src/likely|tests|scripts|benchmarks|examples|docs|{ROOMS})/(?:[\w-]+/)*(?:[\w-]+\.[a-z]+)?)"
)
DOTTED = re.compile(r"(?<![\w./-])likely(?:\.[A-Za-z_]\w*)+")
RECORD = re.compile(r"\bdecisions?(?:/| \[?)(\d{4})\b", re.IGNORECASE)


def is_there(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    try:
        pkgutil.resolve_name(name)
    except ModuleNotFoundError as error:
        return not (error.name or "").startswith("likely")  # what is lacking is a library that is not needed
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if "docs" in path.parts], ids=name_of)
def test_files_and_names_in_a_document_exist(document: Path) -> None:
    prose = re.sub(r"\]\([^)]*\)", "]", FENCED.sub("", document.read_text(encoding="utf-8")))
    roots = (ROOT, ROOT / "src" / "likely", ROOT / "docs", document.parent)
    lost = {place for place in PLACE.findall(prose) if not any((root / place).exists() for root in roots)}
    lost |= {name for name in DOTTED.findall(prose) if not is_there(name)}
    assert not lost, f"{name_of(document)} names what is not there: {', '.join(sorted(lost))}"


def test_decision_records_that_are_named_exist() -> None:
    records = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    folders = ("src", "tests", "scripts", "benchmarks", "examples", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".js", ".md")]
    files += [ROOT / name for name in ("pyproject.toml", "mkdocs.yml", "README.md", "CONTRIBUTING.md", "SECURITY.md")]
    named = {(number, name_of(path)) for path in files for number in RECORD.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert not {f"{number} in {file}" for number, file in named if number not in records}


def test_the_map_for_language_models_lists_files_that_are_there() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# likely\n\n> ")
    paths = [found["there"] for found in LINK.finditer(text)]
    assert len(paths) == len(set(paths)) > 20
    assert not [path for path in paths if not (ROOT / path).is_file()]


def test_figures_in_documents_come_from_their_pages() -> None:
    # A table of the wrong page, or of none, would still be "up to date": this is what scripts/docs puts in.
    for page, contestant in (("QUALITY.md", "Khiops"), ("CLUSTER.md", "river"), ("REPORT.md", "sweetviz")):
        assert contestant in (ROOT / "benchmarks" / page).read_text(encoding="utf-8")
        assert contestant in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"`python (benchmarks/\w+\.py)", (ROOT / "docs" / "benchmarks.md").read_text()))
    assert len(commands) >= 7 and not [path for path in commands if not (ROOT / path).is_file()]


def test_the_table_of_exports_names_every_learner_that_predicts() -> None:
    page = (ROOT / "docs" / "howto" / "exporting.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    learners = {name for name in likely.__all__ if hasattr(getattr(likely, name), "needs")}
    assert learners - named <= {
        "Prior",
        "Density",
    }  # one uses no attribute, the other no class


def test_the_plan_of_the_house_is_true_and_short() -> None:
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(plan.splitlines()) <= 200
    source = ROOT / "src" / "likely"
    rooms = re.findall(r"^\| ((?:`[\w./]+` ?)+) \|[^|]*\| ((?:`[\w./]+` ?)*)\|", plan, re.MULTILINE)
    listed = {name for tops, inside in rooms for name in re.findall(r"`([\w./]+)`", f"{tops} {inside}")}
    folders = {f"{path.parent.name}/" for path in source.rglob("__init__.py") if path.parent != source}
    files = {path.name for path in source.glob("*.py")} - {"__main__.py"}
    assert listed == folders | files
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", plan))
    assert named and not [name for name in named if not (source / name).exists()]
