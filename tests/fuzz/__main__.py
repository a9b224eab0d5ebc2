"""A long run: damaged files by the thousand, for so many minutes; what fails is written to build/fuzz."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz.running import attacked, cases, seeds_of
from fuzz.targets import TARGETS

OUT = Path("build/fuzz")
TURN = 200


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--target", action="append", choices=[*TARGETS], help="all of them by default")
    parser.add_argument(
        "--first", type=int, default=1000, help="number of the first case; each is always the same file"
    )
    asked = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    names = asked.target or [*TARGETS]
    seeds = {name: seeds_of(TARGETS[name]) for name in names}
    end, first, count, failed = time.monotonic() + 60 * asked.minutes, asked.first, 0, 0
    while time.monotonic() < end:
        for name in names:
            for outcome in attacked(cases(TARGETS[name], seeds[name], first, TURN)):
                count += 1
                if outcome.failure:
                    failed += 1
                    place = OUT / f"{name}~{outcome.case.number}"
                    place.write_bytes(outcome.case.data)
                    place.with_name(place.name + ".why").write_text(outcome.failure)
                    print(f"{place}: {outcome.failure.strip().splitlines()[-1][:200]}", flush=True)
            if time.monotonic() >= end:
                break
        first += TURN
    print(f"{count} files attacked, {failed} failures.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
