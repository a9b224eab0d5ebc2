"""A model as plain JSON of probabilities, for people and programs that know nothing of likely. Knows no model.

P(class | row) is in proportion to prior[class] times, for each attribute, the probability (or density) of its value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from likely.errors import SettingError
from likely.models import shapes
from likely.portable.describe import Attribute, Portable
from likely.portable.languages.flatten import flatten

_ROOT = 0.5 * math.log(2 * math.pi)


def to_json(portable: Portable) -> str:
    """The text. An attribute that is missing or not known has no factor, where none is given for it."""
    try:
        found = flatten(portable, "A list of probabilities")
        of_scores = bool(found.terms) and not portable.generative
        if found.clipped or of_scores or any(weight != 1 for weight, _ in found.terms):
            raise SettingError("A list of probabilities cannot say this model, whose scores are none.")
    except SettingError as error:
        said = str(error).split(". ")[0].rstrip(".")
        raise SettingError(f"{said}. Export it to form, the portable form in JSON, which says every model.") from None
    classes = portable.classes
    page: dict[str, Any] = {
        "likely": "probabilities",
        "version": 1,
        "learner": portable.learner,
        "target": portable.target,
        "classes": list(classes),
        "missing": list(portable.missing),
        "prior": _by_class(classes, found.constant),
        "attributes": [_attribute(portable.attribute(t.name), t, classes) for _, t in found.terms],
    }
    return json.dumps(page, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _by_class(classes: Sequence[str], logs: Iterable[float]) -> dict[str, float]:
    return dict(zip(classes, map(math.exp, logs), strict=True))


def _attribute(attribute: Attribute, term: Any, classes: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    match term:
        case shapes.LevelTable(_, _, table):
            out["numeric"], unseen, missing = attribute.numeric, table[-2], table[-1]
            each = zip(attribute.levels, table[:-2], strict=True)
            out["probability"] = {level: _by_class(classes, row) for level, row in each}
            if any(unseen):
                out["unseen"] = _by_class(classes, unseen)
        case shapes.BinTable(_, starts, table):
            rows, missing = [_by_class(classes, row) for row in table[: len(starts) + 1]], table[-1]
            out["bins"] = {"starts": starts.tolist(), "probability": rows}
        case shapes.Gaussian():
            own, missing = (term.mean, term.deviation, term.farthest, term.peak), term.absent
            out["normal"] = {
                name: {"mean": m, "deviation": d, "farthest": f, **_known(p + math.log(d) + _ROOT)}
                for name, m, d, f, p in zip(classes, *(one.tolist() for one in own), strict=True)
            }
        case shapes.Density(kernels=shapes.Kernels() as kernels):
            ends, missing = (kernels.bandwidth, kernels.farthest, kernels.peak), term.normal.absent
            out["kernels"] = {}
            for k, (name, w, f, p) in enumerate(zip(classes, *(one.tolist() for one in ends), strict=True)):
                centres, counts = (one.tolist() for one in kernels.of(k))
                out["kernels"][name] = {
                    "width": w,
                    "farthest": f,
                    "centres": centres,
                    "weights": [n / sum(counts) for n in counts],
                    **_known(p + math.log(w) + _ROOT + math.log(sum(counts))),
                }
        case _:
            raise AssertionError(term)
    if any(missing):
        out["missing"] = _by_class(classes, missing)
    return out


def _known(log: float) -> dict[str, float]:
    """The chance of being known at all, where that counts."""
    return {} if abs(log) < 1e-9 else {"known": math.exp(log)}
