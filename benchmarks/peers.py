"""What likely is measured against: decoding with pyarrow, and naive Bayes the scikit-learn way, from the same file.

Two ways: `Plain` is what scikit-learn's documentation shows; `Tuned` knows with which types its encoder is quick.
Both take a missing level as a level of its own and a missing number as the mean. Knows nothing of likely.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from making import LEVELS, NOMINAL, NUMERIC, TARGET
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

UNKNOWN, GONE = -1, -2
"""Codes of a level that training did not have, and of a missing one; CategoricalNB wants them from zero on."""


def decode(path: Path) -> int:
    """All rows of all columns as Arrow batches, pyarrow's settings as they come."""
    rows = 0
    for batch in pq.ParquetFile(path).iter_batches():
        rows += batch.num_rows
    return rows


class Plain:
    """pandas.read_parquet, OrdinalEncoder and SimpleImputer on the frame, both naive Bayes, texts as classes."""

    def read(self, path: Path) -> pd.DataFrame:
        return pd.read_parquet(path)

    def levels(self, frame: pd.DataFrame) -> Any:
        return frame[list(NOMINAL)]

    def classes(self, frame: pd.DataFrame) -> Any:
        return frame[TARGET]

    def fit(self, path: Path) -> Plain:
        frame = self.read(path)
        self.encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=UNKNOWN, encoded_missing_value=GONE
        )
        self.imputer = SimpleImputer()
        codes = self.encoder.fit_transform(self.levels(frame)) - GONE
        numbers = self.imputer.fit_transform(frame[list(NUMERIC)])
        target = self.classes(frame)
        self.categorical = CategoricalNB(min_categories=[n - GONE for n in LEVELS]).fit(codes, target)
        # No smoothing: a share of the largest variance would drown the spread of a number near a billion.
        self.gaussian = GaussianNB(var_smoothing=0).fit(numbers, target)
        return self

    def posterior(self, path: Path) -> NDArray[np.float64]:
        return self.posterior_of(self.read(path))

    def posterior_of(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """P(class | row): both joint scores added, the prior that both hold taken off once, normalised."""
        codes = self.encoder.transform(self.levels(frame)) - GONE
        joint: NDArray[np.float64] = self.categorical.predict_joint_log_proba(codes)
        joint += self.gaussian.predict_joint_log_proba(self.imputer.transform(frame[list(NUMERIC)]))
        joint -= self.categorical.class_log_prior_
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint


class Tuned(Plain):
    """pyarrow reads, levels are handed over as Python objects (OrdinalEncoder's quickest), classes as integers."""

    def read(self, path: Path) -> pd.DataFrame:
        return pq.read_table(path).to_pandas()

    def levels(self, frame: pd.DataFrame) -> Any:
        return frame[list(NOMINAL)].astype(object)

    def classes(self, frame: pd.DataFrame) -> Any:
        return pd.factorize(frame[TARGET], sort=True)[0]
