"""Damaged tables, models, pages and requests are refused with a sentence, or handled: no traceback, crash or hang.

A short run of the same cases each time; `scripts/fuzz --minutes N` goes on from there. What it found is in corpus/.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from fuzz.running import Case, _Worker, attacked, cases, seeds_of
from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
COUNT = {"model": 120, "api": 120}
HOSTILE = {".arrow": "table.arrow", ".arrows": "table.arrows", ".arff": "table.arff", ".likely": "model.bytes"}


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_refused_or_handled(name: str) -> None:
    if name == "api":
        pytest.importorskip("fastapi", reason="fastapi is not installed: pip install likely[web]")
    target = TARGETS[name]
    outcomes = attacked(cases(target, seeds_of(target), 0, COUNT.get(name, 60)))
    failures = [f"{o.case.target} {o.case.number}: {o.failure}" for o in outcomes if o.failure]
    assert not failures, "\n\n".join(failures[:5])


@pytest.mark.parametrize("ending", ["end", "_kill"])
def test_a_worker_leaves_nothing_behind(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker = _Worker()
    assert worker.attack(Case("loss", 0, b"yes = {")) is None
    getattr(worker, ending)()
    assert list(tmp_path.iterdir()) == []


def test_what_was_found_once_stays_mended() -> None:
    kept = [Case(path.name.partition("~")[0], 0, path.read_bytes()) for path in sorted(CORPUS.glob("*~*"))]
    failures = [f"{o.case.target}: {o.failure}" for o in attacked(kept) if o.failure]
    assert not failures, "\n\n".join(failures)


def test_hostile_files_are_refused_or_handled(shared: Path) -> None:
    # Model files there are of an older version of the format: refused by that alone, and so are altered ones.
    paths = sorted(p for p in (shared / "data" / "hostile").iterdir() if p.suffix in HOSTILE)
    assert paths
    failures = [
        f"{path.name}: {outcome.failure}"
        for path, outcome in zip(
            paths, attacked(Case(HOSTILE[p.suffix], 0, p.read_bytes()) for p in paths), strict=True
        )
        if outcome.failure
    ]
    assert not failures, "\n\n".join(failures)
