"""A model that learns from a stream of Spark: each micro-batch is added once, however often Spark repeats it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from likely.apply.fitting import load, relearn
from likely.errors import SettingError
from likely.intake.arguments import GivenLearner, read_learner
from likely.models.contracts import Model
from likely.models.default import default_learner
from likely.spark.fitting import fit, summarize

_NAME = re.compile(r"batch-(\d{12})\.likely")


class StreamLearner:
    """For `writeStream.foreachBatch`: the model after every micro-batch is a file in `folder`.

    The file of batch 13 is that of batch 12 plus its rows, so a batch that Spark does again after a failure is not
    counted twice; the file before the last is kept for that. Naive Bayes learns where no learner is named: a stream
    cannot be seen again. `reading` takes what `likely.summarize` takes; the first batch says how columns are read.
    """

    def __init__(
        self, folder: str | os.PathLike[str], target: str, learner: GivenLearner = None, **reading: Any
    ) -> None:
        self.folder, self.target, self.reading = Path(folder), target, reading
        self.learner = read_learner(learner) or default_learner("sums").learner
        self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, frame: Any, batch: int) -> None:
        """Learn from one micro-batch."""
        known = self._files()
        before = max((k for k in known if k < batch), default=None)
        if frame.isEmpty():
            return
        if before is None:
            model = fit(frame, self.target, self.learner, **self.reading)
        else:
            held: Model = load(known[before])
            rows = summarize(frame, schema=held.summary.schema, more=held.summary.more)
            model = relearn(held, held.summary + rows)
        model.save(self.folder / f"batch-{batch:012}.likely")
        for number, path in known.items():
            if before is not None and number < before:
                path.unlink(missing_ok=True)

    @property
    def model(self) -> Model:
        """The model after the last micro-batch."""
        known = self._files()
        if not known:
            raise SettingError(f"No rows have come yet: there is no model in {str(self.folder)!r}.")
        held: Model = load(known[max(known)])
        return held

    def _files(self) -> dict[int, Path]:
        found = ((_NAME.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(match[1]): path for match, path in found if match is not None}
