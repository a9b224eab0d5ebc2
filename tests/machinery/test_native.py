"""Machine code that is kept: in the cache, and in the library that comes with the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import likely
from likely.machinery.native import prebuilt
from likely.machinery.native.caching import cache_folders, read_cached, write_cached
from likely.machinery.prebuild import find_kernels

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
import sys
from pathlib import Path
sys.modules["numba"] = sys.modules["llvmlite"] = None
from likely.machinery.native import prebuilt
prebuilt.FOLDER = Path(sys.argv[1])
import likely
for name, target, learner in (
    ("iris", "species", likely.Auto()), ("weather_mixed", "play", likely.NaiveBayes(numbers="kernel")),
    ("mails", "label", likely.NaiveBayes()), ("iris", "species", likely.Neighbors(k=3)),
):
    model = likely.fit(Path(sys.argv[2], name + ".csv"), target, learner)
    print(model.posterior(Path(sys.argv[2], name + ".csv")).matrix.tobytes().hex())
"""


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.long
def test_a_library_of_all_kernels_gives_the_bits_that_numba_gives(tmp_path: Path) -> None:
    """The whole library is built, as for a wheel, for what every processor here has; then nothing may be compiled."""
    variant = prebuilt.VARIANTS[prebuilt.machine_name()][-1]
    words = [sys.executable, "-m", "likely.machinery.prebuild", variant, str(tmp_path)]
    env = {**os.environ, "NUMBA_CPU_NAME": variant, "NUMBA_CPU_FEATURES": ""}
    subprocess.run(words, check=True, env=env)
    program = """
import sys
from pathlib import Path
from likely.machinery.native import prebuilt
prebuilt.FOLDER = Path(sys.argv[1])
from likely.machinery.prebuild import find_kernels
print(all(prebuilt.find_address(kernel.symbol) for kernel in find_kernels()))
"""
    assert run(program, tmp_path).stdout == "True\n"
    alone = run(PROGRAM, tmp_path, EXAMPLES)
    compiled = run(PROGRAM.replace('sys.modules["numba"] = sys.modules["llvmlite"] = None', ""), "nowhere", EXAMPLES)
    assert alone.stdout and alone.stdout == compiled.stdout, alone.stderr + compiled.stderr


def test_every_kernel_has_a_symbol_of_its_own() -> None:
    symbols = [kernel.symbol for kernel in find_kernels()]
    assert len(symbols) == len(set(symbols)) > 100


def test_without_code_and_compiler_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    done = run(PROGRAM, tmp_path, EXAMPLES)
    assert "pip install 'likely[compile]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("damage", [b"", b"not a library"])
def test_a_damaged_library_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    for variant in prebuilt.VARIANTS[prebuilt.machine_name()]:
        (tmp_path / prebuilt.library_name(variant)).write_bytes(damage)
    done = run(PROGRAM.replace('sys.modules["numba"] = sys.modules["llvmlite"] = None', ""), tmp_path, EXAMPLES)
    assert done.returncode == 0, done.stderr


# What is kept between processes: found again, whole or not at all, and only from whom it may be trusted.


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LIKELY_CACHE", str(tmp_path / "held"))
    return tmp_path / "held"


def test_what_is_kept_is_found_whole_or_not_at_all(cache: Path) -> None:
    assert read_cached("one") is None
    write_cached("one", b"some code")
    assert read_cached("one") == b"some code" and [p.name for p in cache.iterdir()] == ["one"]
    (cache / "one").write_bytes((cache / "one").read_bytes()[:-1])
    assert read_cached("one") is None


def test_what_others_may_have_written_is_not_trusted(cache: Path) -> None:
    write_cached("one", b"some code")
    (cache / "one").chmod(0o666)
    assert read_cached("one") is None


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(cache: Path) -> None:
    cache.write_text("a file, where a folder should be")
    write_cached("one", b"some code")
    assert read_cached("one") is None


def test_without_a_wish_it_is_beside_the_package_or_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIKELY_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.sep + "somewhere")
    beside, own = cache_folders()
    assert beside == Path(likely.__file__).parent / "__pycache__" and own == Path(os.sep, "somewhere", "likely")


def test_a_name_is_part_of_what_is_checked(cache: Path) -> None:
    write_cached("one", b"the code of one")
    write_cached("two", b"the code of two")
    (cache / "one").rename(cache / "held")
    (cache / "two").rename(cache / "one")
    (cache / "held").rename(cache / "two")
    assert read_cached("one") is None and read_cached("two") is None


def test_links_are_not_followed(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cached("one", b"some code")
    (cache / "one").rename(tmp_path / "elsewhere")
    (cache / "one").symlink_to(tmp_path / "elsewhere")
    assert read_cached("one") is None
    write_cached("one", b"some code")  # takes the place of the link, not of what it leads to
    assert read_cached("one") == b"some code" and not (cache / "one").is_symlink()
    (tmp_path / "link").symlink_to(cache, target_is_directory=True)
    monkeypatch.setenv("LIKELY_CACHE", str(tmp_path / "link"))
    assert read_cached("one") is None
    write_cached("two", b"more code")
    assert not (cache / "two").exists()


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_not_trusted(cache: Path, mode: int) -> None:
    write_cached("one", b"some code")
    cache.chmod(mode)
    assert read_cached("one") is None
    write_cached("two", b"more code")
    assert [p.name for p in cache.iterdir()] == ["one"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_not_trusted(cache: Path) -> None:
    write_cached("one", b"some code")
    os.chown(cache / "one", 12345, -1)
    assert read_cached("one") is None
    os.chown(cache / "one", 0, -1)
    assert read_cached("one") == b"some code"
    os.chown(cache, 12345, -1)
    assert read_cached("one") is None


def test_a_pipe_in_the_place_of_a_file_does_not_hang(cache: Path) -> None:
    write_cached("one", b"some code")
    (cache / "one").unlink()
    os.mkfifo(cache / "one")
    assert read_cached("one") is None
