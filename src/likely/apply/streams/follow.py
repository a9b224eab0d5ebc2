"""A stream without end: a model that is written anew after every so many rows. Keeps sums only, never the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from likely.apply.fitting import fit, learn
from likely.errors import SettingError
from likely.models.contracts import Learner, Model
from likely.models.default import default_learner
from likely.probability.loss import Loss
from likely.table.stream_blocks import StreamBlocks


def follow(
    stream: Any,
    target: str | None,
    learner: Learner | None = None,
    *,
    every: int,
    write: Callable[[Model], None],
    loss: Loss | Mapping[str, Any] | None = None,
    name: str = "the stream",
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Callable[[int], None] | None = None,
    **reading: Any,
) -> Model:
    """Learn from delimited text or JSON lines as they come, and give the model to `write` after every so many rows.

    Naive Bayes learns where no learner is named, since a stream cannot be seen again. The first block says how columns
    are read (unless a schema does); the model is then the same, to the last bit, as one that is fitted on all rows so
    far as those of that schema.
    """
    if every < 1:
        raise SettingError(f"every is {every}. A block needs at least one row.")
    model: Model | None = None
    rows = 0
    # What has gone by cannot be read again in another encoding, so a block that is not in the first one's is refused.
    reading["encoding"] = encoding or "utf-8"
    later = {k: v for k, v in reading.items() if k in ("threads", "encoding_errors", "encoding")}
    for block in StreamBlocks(stream, name, every, encoding, delimiter):
        if model is None:
            model = fit(block, target, learner or default_learner("sums").learner, loss=loss, **reading)
        else:
            model = learn(model, block, **later)
        rows = model.summary.rows + model.summary.left_out
        if progress is not None:
            progress(rows)
        write(model)
    assert model is not None  # an empty stream was refused
    return model
