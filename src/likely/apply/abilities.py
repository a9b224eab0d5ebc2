"""What a model can do besides predicting, in one sentence: be exported, learn further rows."""

from __future__ import annotations

from likely.errors import LikelyError
from likely.models.contracts import Model


def can_learn(model: Model) -> bool:
    """Whether rows can be learned, unlearned and merged: all that it is made of is sums."""
    try:
        return not model.search_state() or bool(model.lasting_state())
    except LikelyError:
        return False


def abilities_sentence(model: Model) -> str:
    """What it can do, and how to get what it cannot.

    >>> import likely
    >>> abilities_sentence(likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play"))
    'Can be exported, and learn, unlearn and merge rows.'
    """
    exported, learns = model.shape() is not None, can_learn(model)
    if exported and learns:
        return "Can be exported, and learn, unlearn and merge rows."
    if exported:
        return "Can be exported. To learn, unlearn and merge rows without the old ones: fit --for updates."
    if learns:
        return "Can learn, unlearn and merge rows. To be exported: fit --for sql (or onnx, pmml)."
    return "Cannot be exported (fit --for sql), nor learn rows without the old ones (fit --for updates)."
