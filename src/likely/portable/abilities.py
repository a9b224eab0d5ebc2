"""What a model can do besides predicting, in one sentence: be exported, learn further rows."""

from __future__ import annotations

from collections.abc import Sequence

from likely.errors import LikelyError
from likely.models.contracts import Model, setting_of
from likely.portable.describe import portable
from likely.portable.languages.flatten import refusal

LANGUAGES = ("SQL", "ONNX", "PMML")


def can_learn(model: Model) -> bool:
    """Whether rows can be learned, unlearned and merged: all that it is made of is sums."""
    try:
        return not model.search_state() or bool(model.lasting_state())
    except LikelyError:
        return False


def languages_of(model: Model) -> list[str]:
    """Those of SQL, ONNX and PMML that can say the model."""
    try:
        form = portable(model)
    except LikelyError:
        return []
    return [language for language in LANGUAGES if not refusal(form, language)]


def abilities_sentence(model: Model) -> str:
    """What it can do, and how to get what it cannot.

    >>> import likely
    >>> abilities_sentence(likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, "play"))
    'It can be exported to SQL, ONNX and PMML, and can learn, unlearn and merge rows.'
    """
    able, learns = languages_of(model), can_learn(model)
    lacking = [language for language in LANGUAGES if language not in able]
    exported = f"be exported to {_listed(able, 'and')}" if able else ""
    can = ", and can ".join(filter(None, (exported, "learn, unlearn and merge rows" if learns else "")))
    cannot = " or ".join(
        filter(
            None,
            (
                f"be exported to {_listed(lacking, 'or')}" if lacking else "",
                "" if learns else "learn new rows without the old ones",
            ),
        )
    )
    wanted = [*(language.lower() for language in lacking), *([] if learns else ["updates"])]
    ways = setting_of(model.learner, "for_") is not None and bool(wanted)
    remedy = (
        f"; to get one that can, fit with {_listed([f'--for {purpose}' for purpose in wanted], 'or')}" if ways else ""
    )
    sentences = [f"It can {can}." if can else "", f"It cannot {cannot}{remedy}." if cannot else ""]
    return " ".join(filter(None, sentences))


def _listed(words: Sequence[str], last: str) -> str:
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
