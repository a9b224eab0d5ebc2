"""Rules of the house that are not about imports: docstrings, sizes, names, and no path of anyone's own machine.

Reads files as text and imports nothing of the package.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "likely"
LONGEST = 600

# Words that say nothing about what a thing knows.
EMPTY_WORDS = {"util", "utils", "common", "helper", "helpers"}
EMPTY_SHAPE = re.compile(r"^_*Base(?![a-z])|Mixin$|Manager$")

# Folders of the project that people write; everything else (environments, caches, builds) is not ours to read.
WRITTEN = ("src", "tests", "scripts", "docs", "examples", "benchmarks", ".ci")
# Put together here, so that this file does not contain what it looks for.
OWN_PATH = re.compile(
    r"(?<![\w.\-/}])/(?:" + "|".join(["work", "tmp", "root", "home", "Users"]) + r")(?=[/\"'`\s),:;]|$)"
)


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def written_files() -> Iterator[Path]:
    """Every text that people write: sources, tests, scripts, documents, and the files of the top folder."""
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":  # a file in a worktree, which git writes
            yield path
    for folder in WRITTEN:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"__pycache__", "data"} & set(path.relative_to(ROOT).parts):
                yield path


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


def defined_names(text: str) -> Iterator[tuple[str, int]]:
    """The names that a source text gives to things: classes, functions, arguments, variables."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case _:
                pass


def is_empty_name(name: str) -> bool:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return bool(EMPTY_WORDS & set(words)) or EMPTY_SHAPE.search(name) is not None


def own_paths(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := OWN_PATH.search(line):
            yield number, found.group()


def test_every_module_begins_with_a_docstring() -> None:
    bare = [place(path, 1) for path in sources() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert not bare, "\n".join(["modules without a docstring that says what they know:", *bare])


def test_no_source_file_is_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    long = [f"{place(path, length)}: {length} lines" for path, length in lengths.items() if length > LONGEST]
    assert not long, "\n".join([f"files over {LONGEST} lines; a room that large is two rooms:", *long])


def test_no_name_is_empty_of_meaning() -> None:
    empty = []
    for path in sources():
        inside = path.relative_to(SOURCE).with_suffix("").parts
        empty += [f"{place(path, 1)}: {part}" for part in inside if is_empty_name(part)]
        text = path.read_text(encoding="utf-8")
        empty += [f"{place(path, line)}: {name}" for name, line in defined_names(text) if is_empty_name(name)]
    assert not empty, "\n".join(["names that do not say what the thing knows:", *empty])


def test_no_file_holds_a_path_of_one_machine() -> None:
    found = []
    for path in written_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{place(path, line)}: {hit}" for line, hit in own_paths(text)]
    assert not found, "\n".join(["absolute paths that exist on one machine only:", *found])


@pytest.mark.parametrize(
    "name",
    ["utils", "string_utils", "CommonSchema", "helpers", "Base", "BaseModel", "_BaseModel", "RowMixin", "FileManager"],
)
def test_the_name_rule_catches(name: str) -> None:
    assert is_empty_name(name)


@pytest.mark.parametrize(
    "name", ["baseline", "Baseline", "BASE", "database", "commonest", "managed", "uncommon", "base"]
)
def test_the_name_rule_allows(name: str) -> None:
    assert not is_empty_name(name)


@pytest.mark.parametrize("folder", ["work", "tmp", "root", "home"])
def test_the_path_rule_catches(folder: str) -> None:
    for text in (f"see /{folder}/main", f"'/{folder}/x'", f'Path("/{folder}")', f"cd /{folder}", f"(/{folder}/a)"):
        assert list(own_paths(text)), text
    for text in (
        f"../{folder}/main",
        f"https://example.org/{folder}/",
        f"a/{folder}/b",
        f"$x/{folder}",
        f"/{folder}shop/a",
    ):
        assert not list(own_paths(text)), text


def test_tests_that_share_what_is_dear_are_run_by_one_worker(tmp_path: Path) -> None:
    """Marks of groups, which xdist reads, once had no effect: Spark was started twice, and nobody saw it."""
    text = "import os, pytest\n@pytest.mark.parametrize('k', range(8))\ndef test_some(k):\n    "
    (tmp_path / "tests" / "page").mkdir(parents=True)
    opened = "open(os.environ['PYTEST_XDIST_WORKER'], 'w').close()\n"
    (tmp_path / "tests" / "page" / "test_any.py").write_text(text + opened)
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib -p no:cacheprovider\n")
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "tests"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert len(list(tmp_path.glob("gw*"))) == 1


def test_groups_of_tests_are_those_of_files_that_are_there() -> None:
    patterns = re.findall(r'^    r"\(?(tests/.*?)",', (ROOT / "tests" / "conftest.py").read_text(), re.MULTILINE)
    files = [path.relative_to(ROOT).as_posix() + "::test_some[x]" for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(patterns) >= 5
    for pattern in patterns:
        assert any(re.match(f"({pattern}", file) for file in files), pattern
