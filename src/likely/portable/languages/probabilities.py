"""A model as plain JSON of probabilities, for people and programs that know nothing of likely. Knows no model.

P(class | row) is in proportion to prior[class] times, for each attribute, the probability (or density) of its value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from likely.errors import SettingError
from likely.portable import forms
from likely.portable.forms import Attribute, Portable
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


def _by_class(classes: Sequence[str], logs: Sequence[float]) -> dict[str, float]:
    return dict(zip(classes, map(math.exp, logs), strict=True))


def _attribute(attribute: Attribute, term: forms.Term, classes: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    match term:
        case forms.LevelTerm(_, scores, unseen, missing):
            out["numeric"] = attribute.numeric
            out["probability"] = {
                level: _by_class(classes, row) for level, row in zip(attribute.levels, scores, strict=True)
            }
            if any(unseen):
                out["unseen"] = _by_class(classes, unseen)
        case forms.BinTerm(_, starts, scores, missing):
            out["bins"] = {"starts": list(starts), "probability": [_by_class(classes, row) for row in scores]}
        case forms.NormalTerm(_, mean, deviation, _, farthest, peak, missing):
            out["normal"] = {
                name: {"mean": m, "deviation": d, "farthest": f, **_known(p + math.log(d) + _ROOT)}
                for name, m, d, f, p in zip(classes, mean, deviation, farthest, peak, strict=True)
            }
        case forms.KernelTerm(_, centres, weights, width, _, farthest, peak, missing):
            out["kernels"] = {
                name: {
                    "width": w,
                    "farthest": f,
                    "centres": [c for c, n in zip(centres, own, strict=True) if n > 0],
                    "weights": [n / sum(own) for n in own if n > 0],
                    **_known(p + math.log(w) + _ROOT + math.log(sum(own))),
                }
                for name, w, f, own, p in zip(classes, width, farthest, weights, peak, strict=True)
            }
        case _:
            raise AssertionError(term)
    if any(missing):
        out["missing"] = _by_class(classes, missing)
    return out


def _known(log: float) -> dict[str, float]:
    """The chance of being known at all, where that counts."""
    return {} if abs(log) < 1e-9 else {"known": math.exp(log)}
