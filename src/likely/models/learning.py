"""Learning as a generator: who must see the rows again yields a `Sweep`, is sent its sums, and returns the model.

There is one driver, `run`: who has the rows (the threads of a machine, Spark, rows kept in memory) answers each sweep.
Knows neither rows nor learners.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar, cast

from likely.errors import LikelyError, SettingError
from likely.models.contracts import Learner, Learning, Model, Sweep, has_trait
from likely.sums.contracts import State
from likely.sums.state import require
from likely.sums.summary import Summary

Asked = TypeVar("Asked")
Key = TypeVar("Key")
Found = TypeVar("Found")
MadeModel = TypeVar("MadeModel", bound=Model)
Given = ParamSpec("Given")


def run(asking: Generator[Asked, Any, Found], answer: Callable[[Asked], Any]) -> Found:
    """What a generator returns once everything that it asks for was answered: the one driver of all learning.

    >>> def halve(x):
    ...     while (yield x) > 1:
    ...         x /= 2
    ...     return x
    >>> run(halve(8.0), lambda x: x)
    1.0
    """
    sums = None
    while True:
        try:
            wanted = asking.send(sums)
        except StopIteration as done:
            return cast(Found, done.value)
        sums = answer(wanted)


def relay(
    asking: Generator[Asked, Any, Found],
    sweep: Callable[[Asked], Sweep],
    read: Callable[[Asked, Any], Any] = lambda asked, sums: sums,
) -> Learning[Found]:
    """The same generator, with what it asks for put as sweeps; `read` makes its answers of their sums."""
    sums = None
    while True:
        try:
            wanted = asking.send(sums)
        except StopIteration as done:
            return cast(Found, done.value)
        sums = read(wanted, (yield sweep(wanted)))


def learning(learner: Learner, summary: Summary) -> Learning[Model]:
    """What a learner makes of a summary, as a generator, whether it asks for rows or not."""
    found = _called(learner, summary)
    return found if isinstance(found, Model) else (yield from found)


def _called(learner: Learner, summary: Summary) -> Model | Learning[Model]:
    if not has_trait(learner, "tries dates"):
        summary = summary.settled()  # it would take a date and its parts for so many witnesses
    own = getattr(learner.learn, "generator", None)
    found: Model | Learning[Model] = learner.learn(summary) if own is None else own(learner, summary)
    return found


def begin(learner: Learner, summary: Summary) -> Model | Learning[Model]:
    """The model, where a learner needs no more than a summary; else its learning, up to the first sweep."""
    found = _called(learner, summary)
    return found if isinstance(found, Model) else start(found)


def start(asking: Learning[Found]) -> Found | Learning[Found]:
    """What a generator returns, where it asks for nothing; else the generator, up to the first sweep."""
    try:
        return _resume(asking, next(asking))
    except StopIteration as done:
        return cast(Found, done.value)


def _resume(begun: Learning[Found], wanted: Sweep) -> Learning[Found]:
    while True:
        sums = yield wanted
        try:
            wanted = begun.send(sums)
        except StopIteration as done:
            return cast(Found, done.value)


def learn_without_rows(learner: Learner, summary: Summary) -> Model | None:
    """The model of sums alone; None where the rows must be seen. A sweep that is not needed is answered by None."""
    asking = learning(learner, summary)
    try:
        wanted = next(asking)
        while not wanted.needed:
            wanted = asking.send(None)
    except StopIteration as done:
        return cast(Model, done.value)
    return None


def looks_at_rows(learn: Callable[Given, Learning[MadeModel]]) -> Callable[Given, MadeModel]:
    """A `learn` that is a generator, for people: called with a summary it gives the model, or refuses where the rows
    must be seen. Who has the rows drives the generator itself."""

    def from_sums(self: Any, summary: Summary) -> Any:
        found = begin(self, summary)
        if not isinstance(found, Model):
            name = type(self).__name__
            raise SettingError(
                f"{name} must see the rows themselves to learn from these columns with these settings, and a summary "
                f"has only their sums. Fit it on the table: likely.fit(data, target, likely.{name}(…))."
            )
        return found

    update_wrapper(from_sums, learn)
    # What it gives is not what the generator is.
    from_sums.__annotations__ = {"summary": Summary, "return": Model}
    from_sums.generator = learn  # type: ignore[attr-defined]
    return cast(Callable[Given, MadeModel], from_sums)


def in_step(
    learnings: Mapping[Key, Learning[Found]],
    refuse: Callable[[Key, LikelyError], Collection[Key]] | None = None,
) -> Generator[dict[Key, Sweep], Mapping[Key, Any], dict[Key, Found]]:
    """Many learners in lock-step: all that they want to see in one sweep, again and again, until each has its model.

    `refuse` is told why one of them has none, and says which ones stop then; without it, that is an error of all.
    """
    waiting, found = dict(learnings), dict[Key, Found]()
    sums: Mapping[Key, Any] = dict.fromkeys(waiting)
    while waiting:
        wanted: dict[Key, Sweep] = {}
        for key in [*waiting]:
            if key not in waiting:
                continue
            try:
                wanted[key] = waiting[key].send(sums[key])
            except StopIteration as done:
                found[key] = done.value
                del waiting[key]
            except LikelyError as error:
                if refuse is None:
                    raise
                for other in {key, *refuse(key, error)}:
                    waiting.pop(other, None)
        if waiting:
            sums = yield {key: wanted[key] for key in waiting}
    return found


def side_by_side(learnings: Mapping[Key, Learning[Found]]) -> Learning[dict[Key, Found]]:
    """Many learners as one: each of its sweeps is one for all of them."""
    return relay(
        in_step(learnings),
        lambda wanted: Sweep(_look_for_all, (tuple(wanted.values()),)),
        lambda wanted, sums: {key: own.values for key, own in zip(wanted, sums, strict=True)},
    )


def _look_for_all(sweeps: tuple[Sweep, ...], *rows: Any) -> tuple[SumTuple, ...]:
    return tuple(SumTuple(sweep.look_at(*rows)) for sweep in sweeps)


def answer_apart(sweep: Sweep, together: Callable[[Sweep], Any], answer: Callable[[Sweep], Any]) -> Any:
    """The sums of a sweep by who can work where the rows are: `together` on the sweeps that ask for it, one after the
    other; `answer` on the others of its learners, at once."""
    if sweep.look is not _look_for_all:
        return answer(sweep) if sweep.together is None else together(sweep)
    sweeps: tuple[Sweep, ...] = sweep.given[0]
    others = tuple(own for own in sweeps if own.together is None)
    rest = iter(answer(Sweep(_look_for_all, (others,))) if others else ())
    return tuple(next(rest) if own.together is None else SumTuple(together(own)) for own in sweeps)


class SumTuple:
    """What one of several learners wants added up."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __add__(self, other: SumTuple) -> SumTuple:
        return SumTuple(tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


def restore(learner: Learner, summary: Summary, found: State) -> Model:
    """The model as a file keeps it: the sums, and what was found in the rows."""
    own: Callable[[Summary, State], Model] | None = getattr(learner, "restore", None)
    require(own is not None, "only a search finds more than sums")
    assert own is not None
    return own(summary, found)
