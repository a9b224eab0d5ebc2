"""Machine code that comes with a wheel: complete, the bits that numba gives, and a sentence where there is neither."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from likely.machinery.native import prebuilt
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
