"""Settings of text: how the words of a column become evidence. Plain values; knows no data and no sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from likely.errors import SettingError, nearest, shown
from likely.models.settings import Settings, check_choice, setting

Auto: TypeAlias = Literal["auto"]
Kind = Literal["auto", "multinomial", "bernoulli", "complement", "contrast"]
Damping = Literal["auto", "none", "log", "root", "binary"]
KINDS = get_args(Kind)


CHOSEN = ("pseudo_count", "damping", "length", "telling", "least_documents")
"""Settings that may be left to be chosen, beside the model and the scale."""


@dataclass(frozen=True)
class Text(Settings):
    """How a text speaks of the class: a sum over its words. What is 'auto' is chosen on rows held out of training.

    >>> Text("complement", damping="root", length=True, pseudo_count=0.1).is_likelihood
    False
    """

    model: Kind = setting(
        "multinomial",
        "'multinomial': a text is words drawn one after the other. 'bernoulli': each word of the vocabulary is in it "
        "or not, and absent ones count. 'complement': a class is judged by how rare the words are in all others. "
        "'contrast': by how much more common they are in it than in all others together.",
        choices=KINDS,
    )
    pseudo_count: float | Auto = setting(
        1.0,
        "Added to the count of every word in every class; for 'bernoulli' to the texts with it and to those without.",
        at_least=0,
        choices=("auto",),
    )
    damping: Damping = setting(
        "none",
        "What a word that occurs t times counts: t (none), 1 + log t, the square root of t, or 1 (binary).",
        choices=get_args(Damping),
    )
    length: bool | Auto = setting(
        False,
        "Whether a text of n words counts 1/sqrt(n) in the sums, and its score is divided by the root of the number of "
        "its known words.",
        choices=(True, False, "auto"),
    )
    idf: bool = setting(
        False, "Whether a word counts log((1 + N) / (1 + n)) + 1 times as much, where n of all N texts have it."
    )
    least_documents: int | Auto = setting(
        1, "Words in fewer texts are ignored.", at_least=1, whole=True, choices=("auto",)
    )
    most_words: int | None = setting(
        None,
        "Use only the N most informative words; ties go to the first in byte order.",
        at_least=1,
        whole=True,
        optional=True,
    )
    scale: float | Literal["auto", "none"] = setting(
        "auto",
        "The score is multiplied by it. 'none': it is not, and unless it is a likelihood it gives no probabilities. "
        "'auto': it is not where it is a likelihood, else the scale is chosen.",
        at_least=0,
        choices=("auto", "none"),
    )
    telling: bool | Auto = setting(
        False,
        "Whether a word counts the root of what it tells of the class: of the information, in nats, of the classes of "
        "its texts over those of all texts.",
        choices=(True, False, "auto"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale == 0:
            raise SettingError("scale is 0, so the text would say nothing. Leave the column out: --type COLUMN=ignore.")
        if self.model in ("bernoulli", "complement", "contrast") and self.pseudo_count == 0:
            raise SettingError(
                f"A pseudo_count of 0 leaves {self.model} without a value where a word is in all texts of a class, or "
                "in those of one class alone. Say a small one, e.g. 0.01."
            )
        if self.model == "bernoulli" and (
            self.damping not in ("auto", "none", "binary") or True in (self.length, self.idf, self.telling)
        ):
            raise SettingError(
                "For bernoulli a word is in a text or not: damping, length, idf and telling have no place. Leave them "
                "out."
            )

    @classmethod
    def auto(cls, model: Kind = "auto", **said: Any) -> Text:
        """Everything but what is said is chosen on rows held out."""
        return cls(model, **{**dict.fromkeys((*CHOSEN, "scale"), "auto"), **said})

    @property
    def is_likelihood(self) -> bool:
        """Whether the score is the log probability of the words, so that the model says how texts come about."""
        plain = self.model == "bernoulli" or (self.model == "multinomial" and self.damping == "none")
        as_is = self.length is False and self.telling is False and not self.idf
        return plain and as_is and self.scale in ("none", "auto", 1.0)

    @property
    def is_open(self) -> bool:
        """Whether something is to be chosen."""
        return self._wants or (self.scale == "auto" and not self.is_likelihood)

    @property
    def has_open(self) -> bool:
        """Whether anything is not said, so that no text can be scored."""
        return self._wants or self.scale == "auto"

    @property
    def _wants(self) -> bool:
        return "auto" in (self.model, *(getattr(self, name) for name in CHOSEN))

    def candidate(self, **choices: Any) -> Text | None:
        """With these in place of what is open; None where they do not go together with each other or with the rest."""
        try:
            return replace(self, **{n: value for n, value in choices.items() if getattr(self, n) == "auto"})
        except SettingError:
            return None

    def with_defaults(self) -> Text:
        """The plain textbook model in place of all that is open."""
        usual = Text(scale="none")
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {name: getattr(usual, name) if value == "auto" else value for name, value in given.items()}
        if chosen["pseudo_count"] == 0 and self.model == "auto":
            chosen["model"] = "multinomial"
        return Text(**chosen)

    def written(self, scaled: bool = True) -> str:
        """The settings in words, for people; if asked, without the scale."""
        parts = [str(self.model), f"pseudo-count {_figure(self.pseudo_count)}"]
        if self.damping != "none" and self.model != "bernoulli":
            parts.append({"binary": "each word counted once", "auto": "damping chosen"}.get(
                self.damping, f"{self.damping} of counts"))  # fmt: skip
        if self.length:
            parts.append("length allowed for")
        if self.telling:
            parts.append("telling words count more")
        if self.idf:
            parts.append("idf")
        if self.least_documents != 1:
            parts.append(f"words of at least {self.least_documents} texts")
        if self.most_words is not None:
            parts.append(f"the {self.most_words:,} most telling words")
        if scaled and self.scale not in ("none", "auto"):
            parts.append(f"scale {_figure(self.scale)}")
        return ", ".join(parts)


def _figure(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


Said: TypeAlias = Kind | Text
"""What may be said of text: all settings, or a model of which the rest is chosen."""


def as_text(said: Said) -> Text:
    """The settings that were meant."""
    return said if isinstance(said, Text) else Text.auto(said)


def check_text(said: object, of: str = "text") -> Said:
    """Settings as a caller, a spec or JSON gives them; a misspelt name is refused with the nearest one."""
    if isinstance(said, Text):
        return replace(said)  # a file or spec may have left out what is as usual
    if isinstance(said, str):
        check_choice(of, said, KINDS)
        return said  # type: ignore[return-value]
    if not isinstance(said, Mapping):
        raise SettingError(f"{of} is {shown(said)}. Say one of {', '.join(KINDS)}, or give settings: Text(…).")
    names = [f.name for f in fields(Text)]
    for name in said:
        if name not in names:
            raise SettingError(f"Text has no setting {shown(name)}. {nearest(str(name), names)}")
    return Text(**said)


def check_texts(said: object) -> dict[str, Said]:
    """Settings by column."""
    if not isinstance(said, Mapping):
        raise SettingError(f"text_by_column is {shown(said)}. Give settings for each column: {{'body': Text(…)}}.")
    return {str(name): check_text(value, f"text of {shown(str(name))}") for name, value in said.items()}
