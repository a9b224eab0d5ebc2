"""Learners by name: where each is registered, once, and how a name and plain values become one.

Names the modules of learners and imports none before it is asked for: front door, help and faces read this table.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from importlib import import_module
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models.settings import changed_settings as changed_settings
from likely.models.settings import settings_of as settings_of
from likely.models.text.settings import check_text, check_texts

# Where learners are registered.

EXPORTS = ("sql", "onnx", "pmml")


@dataclass(frozen=True)
class Registration:
    """All that is said of a learner beside its class: one line for each."""

    learner: type[Any] | str
    """Its class, or the module of models/ that holds it, which is imported when the learner is first looked up."""
    spoken: str = ""
    """What people call it within a sentence; its name where nothing is said."""
    face: str = ""
    """The name of its class in likely.sklearn, where it has one."""
    unable: tuple[str, ...] = ()
    """What its models cannot do beside others in a pool, out of `Auto.for_`: sql, onnx, pmml, updates, explaining."""


FAMILY = {
    "Auto": Registration("pool.auto", "the model", "AutoClassifier"),
    "NaiveBayes": Registration("naive.naive", "naive Bayes", "NaiveBayesClassifier"),
    "TunedNaiveBayes": Registration("naive.tuned", "tuned naive Bayes", "TunedNaiveBayesClassifier"),
    "TreeAugmented": Registration(
        "dependence.tree", "tree-augmented Bayes", "TreeAugmentedClassifier", (*EXPORTS, "explaining")
    ),
    "OneDependence": Registration(
        "dependence.one_dependence", "one-dependence Bayes", "OneDependenceClassifier", (*EXPORTS, "explaining")
    ),
    "FullBayes": Registration("full_bayes", "full Bayes", "FullBayesClassifier", ("pmml", "explaining")),
    "LinearDiscriminant": Registration("full_bayes", face="LinearDiscriminantClassifier", unable=("pmml",)),
    "LeastSquares": Registration("linear.least_squares", "least squares", "LeastSquaresClassifier"),
    "Logistic": Registration("linear.logistic", "logistic regression", "LogisticClassifier", ("updates",)),
    "TextLogistic": Registration(
        "text_logistic.learner", "logistic regression on words", "TextLogisticClassifier", (*EXPORTS, "updates")
    ),
    "Additive": Registration("additive.additive", "additive boosting", "AdditiveClassifier", ("updates",)),
    "Forest": Registration("additive.forest", "random forest", "ForestClassifier", ("updates", "explaining")),
    "Neighbors": Registration(
        "neighbors.neighbors", "neighbour voting", "NeighborsClassifier", (*EXPORTS, "explaining")
    ),
    "Pool": Registration("pool.auto", face="PoolClassifier"),
    "Mixture": Registration("pool.mixture"),
    "Gibbs": Registration("pool.mixture"),
    "Density": Registration("naive.density", face="DensityEstimator"),
    "OneRule": Registration("naive.one_rule"),
    "Prior": Registration("naive.one_rule"),
}
"""The learners that come with likely, in the order of help and of a comparison. What type checkers see of them is
listed in likely/__init__.py and likely/sklearn/; a test compares."""


class Registry(MutableMapping[str, type[Any]]):
    """Learners by name; one that comes with likely is imported when it is first looked up, not when it is named."""

    def __init__(self, family: Mapping[str, Registration]) -> None:
        self._entries = dict(family)

    def __getitem__(self, name: str) -> type[Any]:
        entry = self._entries[name]
        if isinstance(entry.learner, str):
            found: type[Any] = getattr(import_module(f"likely.models.{entry.learner}"), name)
            entry = self._entries[name] = replace(entry, learner=found)
        assert not isinstance(entry.learner, str)
        return entry.learner

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __setitem__(self, name: str, learner: type[Any]) -> None:
        self._entries[name] = Registration(learner)

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Registration) -> None:
        """Let a learner be asked for by the name of its class."""
        assert not isinstance(entry.learner, str)
        self._entries[entry.learner.__name__] = entry

    def entry(self, name: str) -> Registration:
        """What is said of the learner of this name; nothing of one that is not registered."""
        return self._entries.get(name, Registration(""))

    @property
    def faces(self) -> dict[str, str]:
        """The learners that have a class in likely.sklearn, by the name of that class."""
        return {entry.face: name for name, entry in self._entries.items() if entry.face}


LEARNERS = Registry(FAMILY)
"""What a file, a spec, a mixture or the command line may ask for."""


def register(*learners: type[Any], spoken: str = "", face: str = "", unable: Collection[str] = ()) -> None:
    """Let these learners be asked for by name; of a single one, more may be said: see `Registration`."""
    for learner in learners:
        LEARNERS.add(Registration(learner, spoken, face, tuple(unable)))


def spoken_name(name: str) -> str:
    """What people call a learner within a sentence.

    >>> spoken_name("TreeAugmented"), spoken_name("OneRule")
    ('tree-augmented Bayes', 'OneRule')
    """
    return LEARNERS.entry(name).spoken or name


def spoken_titles(learners: Sequence[object]) -> tuple[str, ...]:
    """What people call each of several learners within a sentence; those called alike by name and settings.

    >>> spoken_titles([build_learner("Forest"), build_learner("Additive", {"order": 1})])
    ('random forest', 'boosted curves')
    """
    names = [getattr(learner, "spoken", "") or spoken_name(type(learner).__name__) for learner in learners]
    titles = zip(names, learner_titles(learners), strict=True)
    return tuple(name if names.count(name) == 1 else title for name, title in titles)


def weighed_names(names: Sequence[str], weights: Sequence[float]) -> str:
    """Members of a pool and the weight of their evidence; of several as shares of all.

    >>> weighed_names(["boosted curves", "boosted trees"], [0.5, 0.6])
    'boosted trees and boosted curves, 55 : 45'
    >>> weighed_names(["random forest"], [0.662])
    'random forest, its evidence times 0.662'
    """
    order = sorted(range(len(names)), key=lambda h: (-weights[h], h))
    *others, last = [names[h] for h in order]
    if not others:
        return last + (f", its evidence times {weights[0]:.3g}" if f"{weights[0]:.3g}" != "1" else "")
    shares = [100 * weights[h] / (sum(weights) or 1.0) for h in order]
    told = " : ".join(f"{share:.0f}" if share >= 1 else f"{share:.1g}" for share in shares)
    return f"{', '.join(others)} and {last}, {told}"


# How a name and plain values become a learner.


def build_learner(name: str, given: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one."""
    from likely.models.knowledge import check_knowledge  # which load numpy, and names of learners must not
    from likely.sums import state

    settings = given or {}
    if name not in LEARNERS:
        raise SettingError(f"There is no learner {shown(name)}. {nearest(name, LEARNERS, len(LEARNERS))}")
    maker, known = LEARNERS[name], [f.name for f in fields(LEARNERS[name])]
    for key in settings:
        if key not in known:
            raise SettingError(f"{name} has no setting {shown(key)}. {nearest(key, known)}")
    # Misspelt parts of settings are refused here, where names are known.
    for key, check in (("knowledge", check_knowledge), ("text", check_text), ("text_by_column", check_texts)):
        if key in settings:
            check(settings[key])
    for field in fields(maker):
        if field.default is MISSING and field.default_factory is MISSING and field.name not in settings:
            raise SettingError(
                f"{name} needs the setting {field.name}, e.g. "
                f"""--set '{field.name}=["NaiveBayes", {{name="NaiveBayes", pseudo_count=0.5}}]'."""
            )
    try:
        return replace(state.built(maker, dict(settings)))  # replace: the usual settings are spelled out too
    except ValueError as error:
        with suppress(TypeError, ValueError):
            maker(**settings)  # its own sentence says more, where it has one
        raise SettingError(_misfit(maker, settings, str(error))) from None


def _misfit(maker: type[Any], settings: Mapping[str, Any], error: str) -> str:
    """Which setting cannot be what it is, as a sentence; `error` names it somewhere as $.name."""
    for field in fields(maker):
        if f"$.{field.name}" in error and field.name in settings:
            usual = "" if field.default is MISSING else f" Usually it is {shown(field.default)}."
            return f"{field.name} of {maker.__name__} cannot be {shown(settings[field.name])}.{usual}"
    return f"The settings of {maker.__name__} do not fit: {error}."


def learner_named(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one.

    >>> learner_named("NaiveBayes", {"pseudo_count": 0.5}).pseudo_count
    0.5
    """
    return build_learner(name, settings)


def learner_written(text: str) -> Any:
    """A learner as one writes it: its name, and in parentheses settings as TOML writes them.

    >>> learner_written("Neighbors(k=3, distance='city-block')").distance
    'city-block'
    """
    name, parenthesis, rest = text.strip().partition("(")
    if not parenthesis:
        return learner_named(name)
    try:
        if not rest.endswith(")") or "\n" in rest:
            raise ValueError
        settings = tomllib.loads(f"x = {{{rest[:-1].strip().removesuffix(',')}}}")["x"]
    except (ValueError, RecursionError):  # what tomllib raises is a ValueError
        example = "Neighbors(k=3, distance='city-block')"
        raise SettingError(
            f"{shown(text)} is not a learner with settings as TOML writes them. Write it like {example}."
        ) from None
    return learner_named(name.strip(), settings)


# What people call learners with settings.

MOST_SHOWN = 40
"""Characters of a setting in a name."""


def learner_titles(learners: Sequence[object]) -> tuple[str, ...]:
    """A name for each learner: what it is called and the settings that are not the usual ones; no two are the same."""
    out: list[str] = []
    seen: Counter[str] = Counter()
    for learner in learners:
        changed = ", ".join(f"{name}={_short(repr(value))}" for name, value in changed_settings(learner).items())
        title = type(learner).__name__ + (f"({changed})" if changed else "")
        seen[title] += 1
        out.append(title if seen[title] == 1 else f"{title} #{seen[title]}")
    return tuple(out)


def _short(value: str) -> str:
    return value if len(value) <= MOST_SHOWN else f"{value[: MOST_SHOWN - 1]}…"
