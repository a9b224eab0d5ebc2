"""What of a row training did not have: numbers beyond its range, levels it did not know, values that hardly occurred
together, a density lower than that of other rows. Knows models and batches; changes no answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from likely.apply.decide.familiar import Familiar, familiar
from likely.errors import LikelyError, shown
from likely.machinery.arrays import Bools
from likely.models.contracts import Model
from likely.models.factors.bins import value_ranges
from likely.table.batch import UNSEEN_CODE, Batch, Codes
from likely.table.labels import date_label, number_label
from likely.table.open import open_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNLIKE = "its values hardly occurred together"
RARE = 0.001
"""Share of the rows that a row must be less probable than all but, to be called improbable."""
IMPROBABLE = "it is less probable than nearly any row that the model expects"


_USUAL: WeakKeyDictionary[Model, Familiar | None] = WeakKeyDictionary()


class NoveltyCheck:
    """Tells what is unusual of rows, for one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._ranges = value_ranges(model.summary)

    def read(self, batch: Batch) -> tuple[list[str], NDArray[np.intp]]:
        """The remarks there are, and which of them each row has; the first says nothing."""
        said: dict[str, Bools] = {}
        for name, mask in self.beyond(batch).items():
            said[f"{shown(name, 40)[1:-1]} is beyond training ({self.range_of(name)})"] = mask
        for column in self.model.schema.attributes:
            cells = batch.cells[column.name]
            if isinstance(cells, Codes) and (unseen := cells.codes == UNSEEN_CODE).any():
                said[f"{shown(column.name, 40)[1:-1]} has a level that training did not have"] = unseen
        said[UNLIKE] = self.unlike(batch)
        said[IMPROBABLE] = self.improbable(batch) & ~np.any([*said.values()], axis=0)  # else it is no news
        masks = np.stack([*said.values()], axis=1)
        patterns, place = np.unique(masks, axis=0, return_inverse=True)
        names = np.array([*said], object)
        texts = ["; ".join(names[pattern].tolist()) for pattern in patterns]
        if "" not in texts:
            return ["", *texts], np.asarray(place.reshape(-1) + 1)
        return texts, np.asarray(place.reshape(-1))

    def beyond(self, batch: Batch) -> dict[str, Bools]:
        """Which numbers lie beyond all values of training, by attribute; attributes without such cells are left out."""
        out = {}
        for name, (low, high) in self._ranges.items():
            cells: Any = batch.cells.get(name)
            if isinstance(cells, np.ndarray) and (mask := (cells < low) | (cells > high)).any():
                out[name] = mask
        return out

    def range_of(self, name: str) -> str:
        """The least and the greatest number of training."""
        tell = date_label if self.model.schema[name].kind == "date" else number_label
        low, high = self._ranges[name]
        return f"{tell(low)} to {tell(high)}"

    def unlike(self, batch: Batch) -> Bools:
        """Which rows are like none that stand for the table: a level that training did not have is told by itself."""
        references = self.model.references
        return np.zeros(batch.rows, np.bool_) if references is None else references.are_unlike(batch)

    def improbable(self, batch: Batch) -> Bools:
        """Which rows have a lower density, by the sums alone, than nearly all rows that stand for the table, or that
        the model draws where none do. Densities are those of what is known of a row. Not of rows with texts: the longer
        they are, the less probable."""
        usual = self._usual
        return np.zeros(batch.rows, np.bool_) if usual is None else usual.strange(batch)

    @property
    def _usual(self) -> Familiar | None:
        """The rows that densities are compared with; found once for each model."""
        if self.model not in _USUAL:
            _USUAL[self.model] = self._find_usual()
        return _USUAL[self.model]

    def _find_usual(self) -> Familiar | None:
        model, references = self.model, self.model.references
        if model.schema.target is None or any(column.kind == "text" for column in model.schema.attributes):
            return None
        try:
            if references is None:
                return familiar(model, RARE)
            describer = model.learned.describer
            describer.check_generative()
        except LikelyError:
            return None
        rows = next(iter(model.batches([dict.fromkeys(references.names)])))
        gone = np.ones((1, len(references.axes)), np.bool_)
        standing = references.fill(rows, gone, np.arange(len(references.codes), dtype=np.int32)[None])
        return Familiar(describer, RARE, replace(standing, weight=references.weights), "", itself=False)


def remarks(model: Model, data: object) -> list[str]:
    """What training did not have of each row of a table, or of one row (a dict of values): numbers beyond its range, a
    level it did not know, values that hardly occurred together. '' where there is nothing to remark.

    >>> import likely
    >>> model = likely.fit({"age": [20, 30, 40, 50], "buys": ["n", "n", "y", "y"]}, "buys")
    >>> likely.remarks(model, {"age": [25, 77]})
    ['', 'age is beyond training (20 to 50)']
    """
    table, _ = model.as_table(data)
    source, check, out = open_source(table), NoveltyCheck(model), []
    for arrow in source.batches(model.columns_in(source)):
        texts, place = check.read(model.encoder().encode(arrow, 0))
        out += np.array(texts, object)[place].tolist()
    return out
