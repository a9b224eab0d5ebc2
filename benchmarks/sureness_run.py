"""Sets by MAPIE and crepes, and intervals by venn-abers, of the scores in a file; prints JSON. Needs no likely."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
from crepes import ConformalClassifier
from crepes.extras import hinge
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from venn_abers import VennAbers


class Told(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are the probabilities that it answers."""

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes
        self.classes_ = np.arange(classes)

    def fit(self, rows: np.ndarray, truth: np.ndarray) -> Told:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows).argmax(axis=1)


def main() -> None:
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    said, truth, asked, level = given["said"], given["truth"], given["asked"], float(given["level"])
    said = said / said.sum(axis=1, keepdims=True)
    classes = list(range(said.shape[1]))
    out = {}
    mapie = SplitConformalClassifier(Told(len(classes)), confidence_level=level, conformity_score="lac", prefit=True)
    out["MAPIE, LAC"] = mapie.conformalize(said, truth).predict_set(asked)[1][:, :, 0].tolist()
    own, new = hinge(said, classes, truth), hinge(asked)
    plain = ConformalClassifier()
    plain.fit(own)
    out["crepes"] = plain.predict_set(new, confidence=level, smoothing=False).tolist()
    each = ConformalClassifier()
    each.fit(own, bins=truth)
    by_class = [
        each.predict_set(new, bins=np.full(len(asked), k), confidence=level, smoothing=False)[:, k] for k in classes
    ]
    out["crepes, by class"] = np.stack(by_class, axis=1).tolist()
    found = {"sets": out}
    if len(classes) == 2:
        venn = VennAbers()
        venn.fit(said, truth, precision=None)
        found["venn"] = venn.predict_proba(asked)[1].tolist()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
