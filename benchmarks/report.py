"""How long a report of a table takes from a fresh process: `likely look` beside skrub, sweetviz and ydata-profiling.

All read the same CSV file and write an HTML file; they take turns. The others live in a virtual environment of their
own (pandas and matplotlib come with them):

    python -m venv RIVALS && RIVALS/bin/pip install skrub matplotlib sweetviz ydata-profiling setuptools
    python benchmarks/report.py --rivals RIVALS/bin/python --table ../shared/data/adult.csv --target income
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
AIM = 4.0
PROGRAMS = {
    "skrub TableReport": (
        "skrub",
        "import sys, pandas, skrub\n"
        "frame = pandas.read_csv(sys.argv[1])\n"
        "skrub.TableReport(frame, verbose=0).write_html(sys.argv[2])\n",
    ),
    "sweetviz": (
        "sweetviz",
        "import sys, pandas, sweetviz\n"
        "frame = pandas.read_csv(sys.argv[1])\n"
        "sweetviz.analyze(frame, pairwise_analysis='off').show_html(sys.argv[2], open_browser=False)\n",
    ),
    "ydata-profiling, minimal": (
        "ydata-profiling",
        "import sys, pandas\n"
        "from ydata_profiling import ProfileReport\n"
        "frame = pandas.read_csv(sys.argv[1])\n"
        "ProfileReport(frame, minimal=True, progress_bar=False).to_file(sys.argv[2], silent=True)\n",
    ),
}
"""Each with the settings that make it quickest and still report on every column."""


@dataclass
class Contestant:
    """One way to a report: the words of its process, and what its turns took."""

    name: str
    words: list[str]
    environment: dict[str, str]
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    size: int = 0
    failed: str = ""

    def turn(self, out: Path) -> None:
        """Run once; the file must be there afterwards."""
        out.unlink(missing_ok=True)
        before, start = _processor(), time.perf_counter()
        done = subprocess.run(
            [*self.words, str(out)], env=self.environment, capture_output=True, text=True, check=False
        )
        took = time.perf_counter() - start
        if done.returncode or not out.exists():
            last = (done.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
            self.failed = last[:160]
            return
        self.seconds.append(took)
        self.processor.append(_processor() - before)
        self.size = out.stat().st_size


def _processor() -> float:
    """Seconds of processor time that ended child processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def version(python: str, package: str) -> str:
    program = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "?"


def contestants(arguments: argparse.Namespace) -> list[Contestant]:
    # Installed packages come with their modules compiled; the variable would make likely compile its own each time.
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    environment = plain | {"PYTHONPATH": str(HERE.parent / "src")}
    look = [sys.executable, "-m", "likely", "look", arguments.table, arguments.target, "--out"]
    out = [Contestant("likely look", look, environment)]
    for name, (package, program) in PROGRAMS.items():
        clean = plain | {"MPLBACKEND": "Agg"}
        named = f"{name} {version(arguments.rivals, package)}"
        out.append(Contestant(named, [arguments.rivals, "-c", program, arguments.table], clean))
    return out


def written(found: list[Contestant], arguments: argparse.Namespace) -> str:
    """The page."""
    own, *others = found
    best = min(own.seconds)
    rows = []
    for one in found:
        if not one.seconds:
            rows.append(f"| {one.name} | failed: {one.failed} | | | | |")
            continue
        least, work = min(one.seconds), min(one.processor)
        rows.append(
            f"| {one.name} | {least:.2f} s | {least / best:.1f} | {work:.2f} s | {work / min(own.processor):.1f} | "
            f"{one.size / 1000:,.0f} KB |"
        )
    quick = min((o for o in others if o.seconds), key=lambda o: min(o.seconds), default=None)
    verdict = "None of the others ran."
    if quick is not None:
        ratio = min(quick.seconds) / best
        verdict = (
            f"The fastest of the others, {quick.name}, takes {ratio:.1f} times as long "
            f"(aim: at least {AIM:g}; {'met' if ratio >= AIM else 'missed'}). Processor time depends "
            "little on what else the machine was doing; time does."
        )
    table, where = Path(arguments.table).name, f"on {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"""# A report from a fresh process

Written by `python benchmarks/report.py --rivals RIVALS/bin/python --table {table} --target {arguments.target}`;
how RIVALS is made stands at the top of that file. From the start of the process to its end, on {table}: read the
CSV, write the HTML. The least of {arguments.turns} turns each, taken in turn, {where}.
likely also cross-validates, and puts the model into its page; the others describe columns.

| report | time | times likely | processor time | times likely | size |
|---|---:|---:|---:|---:|---:|
{chr(10).join(rows)}

{verdict}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", required=True, help="the Python of the environment that holds the others")
    parser.add_argument("--table", default=str(HERE.parent.parent / "shared" / "data" / "adult.csv"))
    parser.add_argument("--target", default="income")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", default=str(HERE / "REPORT.md"))
    arguments = parser.parse_args()
    found = contestants(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found[0].turn(Path(folder) / "warm.html")  # compiles kernels, once on each machine
        found[0].seconds.clear()
        found[0].processor.clear()
        for turn in range(arguments.turns):
            for one in found:
                if not one.failed:
                    one.turn(Path(folder) / "report.html")
                    print(f"{turn + 1} {one.name}: {one.failed or f'{one.seconds[-1]:.2f} s'}", file=sys.stderr)
    text = written(found, arguments)
    Path(arguments.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
