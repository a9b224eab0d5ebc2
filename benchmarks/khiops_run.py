"""Khiops on one fold, in the environment that has it: `python khiops_run.py FOLDER TREES`.

Trains on train.txt, predicts test.txt, and prints the processor's seconds that both took, its programs'
included. Knows nothing of likely.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import khiops.core as kh

HOW = {"detect_format": False, "header_line": True, "field_separator": "\t"}


def processor() -> float:
    """Seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


def main(folder: Path, trees: int) -> None:
    warnings.simplefilter("ignore")
    kh.get_runner()  # asks the system for its memory and the like, once
    start = processor()
    kh.train_predictor(
        str(folder / "set.kdic"),
        "Set",
        str(folder / "train.txt"),
        "y",
        str(folder / "report.khj"),
        sample_percentage=100.0,
        use_complement_as_test=False,
        max_trees=trees,
        **HOW,
    )
    kh.deploy_model(
        str(folder / "report.model.kdic"), "SNB_Set", str(folder / "test.txt"), str(folder / "predicted.txt"), **HOW
    )
    print(processor() - start)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
