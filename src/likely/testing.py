"""The laws, for anyone's statistic or learner: each check raises an AssertionError that names the broken law.

Knows only what a statistic (update, +, −, ==, state) and a learner (needs, learn) promise. Needs no test library.

A statistic of your own is checked with a few awkward batches, or from hypothesis with many:

>>> import numpy as np
>>> class Longest:
...     "The longest text so far: + is the longer of two. (It cannot forget, so it has no −.)"
...     def __init__(self, length=0): self.length = length
...     def update(self, texts): self.length = max([self.length, *map(len, texts)])
...     def __add__(self, other): return Longest(max(self.length, other.length))
...     def state(self): return {"length": self.length}
>>> check_statistic(Longest, [np.array(["a", "bcd"]), np.array([], "U1"), np.array(["ef"])])

and one that keeps a mean of means is found out:

>>> class Mean(Longest):
...     def update(self, texts): self.length = (self.length + sum(map(len, texts))) / 2
>>> check_statistic(Mean, [np.array(["a", "bcd"]), np.array([], "U1"), np.array(["ef"])])
Traceback (most recent call last):
    ...
AssertionError: the order of batches changes the sum
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.contracts import Model
from likely.sums import state
from likely.table.batch import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

Make = Callable[[], Any]


def bits(statistic: Any) -> bytes:
    """What a statistic remembers, as the bytes that a file would hold."""
    return state.dump({"statistic": statistic.state()})


def swept(make: Make, batches: Sequence[Any]) -> Any:
    """A new statistic that has taken in the batches. A tuple is given to `update` as several arguments."""
    out = make()
    for batch in batches:
        if isinstance(batch, tuple):
            out.update(*batch)
        else:
            out.update(batch)
    return out


def some_rows(batch: Any, index: NDArray[np.intp]) -> Any:
    """The rows of a batch at `index`: of an array, of anything with `take`, or of a tuple of such."""
    if isinstance(batch, tuple):
        return tuple(some_rows(part, index) for part in batch)
    if isinstance(batch, Codes):
        return Codes(batch.codes[index], batch.labels)
    return batch[index] if isinstance(batch, np.ndarray) else batch.take(index)


def check_statistic(make: Make, batches: Sequence[Any], seed: int = 0) -> None:
    """Every law of merging and forgetting, over these batches: `make()` gives an empty statistic."""
    rng = Random(seed)
    whole = bits(swept(make, batches))
    _check_order(make, batches, whole, rng)
    _check_algebra(make, batches, rng)
    _check_file(swept(make, batches))


def _check_order(make: Make, batches: Sequence[Any], whole: bytes, rng: Random) -> None:
    shuffled = rng.sample(batches, len(batches))
    _hold(bits(swept(make, shuffled)) == whole, "the order of batches changes the sum")
    for shards in (2, len(batches) + 1):  # one more than there are batches: at least one stays empty
        dealt: list[list[Any]] = [[] for _ in range(shards)]
        for batch in shuffled:
            rng.choice(dealt).append(batch)
        parts = [swept(make, shard) for shard in dealt]
        while len(parts) > 1:
            a, b = (parts.pop(rng.randrange(len(parts))) for _ in range(2))
            parts.append(a + b)
        _hold(bits(parts[0]) == whole, f"{shards} shards, merged in some order, do not give the sum of all")


def _check_algebra(make: Make, batches: Sequence[Any], rng: Random) -> None:
    first, second = sorted(rng.randrange(len(batches) + 1) for _ in range(2))
    a, b, c = (swept(make, part) for part in (batches[:first], batches[first:second], batches[second:]))
    before = [bits(part) for part in (a, b, c)]
    _hold(bits(a + b) == bits(b + a), "a + b is not b + a")
    _hold(bits((a + b) + c) == bits(a + (b + c)), "(a + b) + c is not a + (b + c)")
    _hold(bits(a + make()) == before[0] == bits(make() + a), "a + nothing is not a")
    if hasattr(a, "__sub__"):
        _hold(_equal((a + b) - b, a), "(a + b) - b is not a")
        _hold(_equal((a + b + c) - (b + c), ((a + b + c) - c) - b), "two parts taken away at once or in turn differ")
        _hold(bits(a - make()) == before[0], "a - nothing is not a")
        _hold(_equal(a - a, make() + (b - b)), "a - a is not nothing")
    _hold([bits(part) for part in (a, b, c)] == before, "+ or − changes what it was given")


def _check_file(whole: Any) -> None:
    kept = bits(whole)
    _hold(bits(whole) == kept, "asking for the state changes it")
    if hasattr(whole, "from_state"):
        again = type(whole).from_state(state.parse(kept, "a file")["statistic"])
        _hold(bits(again) == kept, "what is read from the file is not what was written")
        _hold(_equal(again, whole), "what is read from the file is not equal to what was written")
        _hold(bits(again + again) == bits(whole + whole), "what is read from the file does not merge as before")


def check_rows(make: Make, batch: Any, rows: int, seed: int = 0) -> None:
    """Any order of rows and any cut into batches, empty and one-row ones among them, gives the same sum."""
    rng = Random(seed)
    whole = bits(swept(make, [batch]))
    order = np.array(rng.sample(range(rows), rows), np.intp)
    _hold(bits(swept(make, [some_rows(batch, order)])) == whole, "the order of rows changes the sum")
    cuts = sorted(rng.randrange(rows + 1) for _ in range(rng.randrange(1, 6)))
    parts = [some_rows(batch, part) for part in np.split(order, cuts)]
    _hold(bits(swept(make, parts)) == whole, "the cut into batches changes the sum")
    alone = [some_rows(batch, order[k : k + 1]) for k in range(min(rows, 8))]
    rest = some_rows(batch, order[len(alone) :])
    _hold(bits(swept(make, [*alone, rest])) == whole, "rows taken in one by one change the sum")
    check_statistic(make, parts, seed)


def check_weights(make: Make, batch: Any, weigh: Callable[[Any, NDArray[np.float64]], Any], rows: int) -> None:
    """A row of weight two is the row twice, one of weight zero no row. `weigh` gives a batch its weights."""
    times = np.arange(rows) % 4
    repeated = some_rows(batch, np.repeat(np.arange(rows), times))
    plain = weigh(repeated, np.ones(int(times.sum())))
    _hold(_equal(swept(make, [weigh(batch, times.astype(float))]), swept(make, [plain])), "weight n is not n rows")
    halves = [weigh(batch, times / 2)] * 2
    _hold(_equal(swept(make, halves), swept(make, [plain])), "two halves of a weight are not the whole")
    nothing = weigh(batch, np.zeros(rows))
    _hold(_equal(swept(make, [nothing]), make()), "rows of weight zero are not nothing")
    _hold(_equal(swept(make, [plain, nothing]), swept(make, [plain])), "rows of weight zero change the sum")


def check_shards(parts: Sequence[Any], whole: Any) -> None:
    """Parts that were summed elsewhere (on threads, on other machines) add up to the whole, to the last bit."""
    _hold(bits(reduce(add, parts)) == bits(whole), "the parts do not add up to the whole")
    _hold(bits(reduce(add, reversed(list(parts)))) == bits(whole), "the order in which parts are merged matters")


def check_learner(learner: Any, data: Mapping[str, Sequence[object]], target: str, **reading: Any) -> None:
    """Every law of a learner and its model, on a table given by columns.

    Learning changes nothing and repeats itself; neither the order of rows nor a file changes a bit; probabilities add
    up to one; terms, where there are any, add up to the scores that the posterior is made of; and who must see the rows
    again learns the same beside another, in the same sweeps.

    >>> import likely
    >>> table = {"sky": ["sun", "rain", "sun", None, "fog"], "x": [1.5, 2.0, None, 4.0, 3.5], "play": list("ynyny")}
    >>> check_learner(likely.NaiveBayes(), table, "play", types={"x": "number", "sky": "nominal"})
    """
    import likely
    from likely.apply.fitting import model_from_tree

    settings, model = repr(learner), likely.fit(data, target, learner, **reading)
    before = bits(model.summary)
    rows = {name: column for name, column in data.items() if name != target}
    wanted = model.posterior(rows).matrix
    again = likely.fit(data, target, learner, **reading).posterior(rows).matrix
    _hold(np.array_equal(again, wanted, equal_nan=True), "learning twice gives two models")
    backwards = {name: list(column)[::-1] for name, column in data.items()}
    other = likely.fit(backwards, target, learner, **reading).posterior(rows).matrix
    _hold(np.array_equal(other, wanted, equal_nan=True), "the order of rows changes the model")
    read = model_from_tree(state.parse(model.to_bytes(), "a file"), "a file")
    _hold(isinstance(read, Model), "a file of the model holds none")
    assert isinstance(read, Model)
    kept = read.posterior(rows).matrix
    _hold(np.array_equal(kept, wanted, equal_nan=True), "a file changes the model")
    sums = wanted.sum(axis=1)
    _hold(bool(np.allclose(sums[~np.isnan(sums)], 1.0, rtol=0, atol=1e-9)), "probabilities do not add up to one")
    score = replace(model, references=None)  # what comes on top, where cells are unknown, is the house's
    _check_terms(score, rows)
    _check_sweeps(learner, data, model, rows, score.posterior(rows).matrix)
    _hold(repr(learner) == settings and bits(model.summary) == before, "learning or scoring changes what it was given")


def _check_sweeps(learner: Any, data: Any, model: Any, rows: Mapping[str, Sequence[object]], wanted: Any) -> None:
    """Who must see the rows again learns the same beside another, in the same sweeps."""
    from likely.intake.summarize import row_sweeper
    from likely.models.learning import begin, learning, run, side_by_side
    from likely.table.open import open_source

    if isinstance(begin(learner, model.summary), Model):
        return
    both = side_by_side({name: learning(learner, model.summary) for name in ("one", "other")})
    for found in run(both, row_sweeper(open_source(data), model.summary)).values():
        same = np.array_equal(replace(found, references=None).posterior(rows).matrix, wanted, equal_nan=True)
        _hold(same, "learning beside another in the same sweeps gives another model")


def _check_terms(model: Any, rows: Mapping[str, Sequence[object]]) -> None:
    from likely.errors import SettingError

    for batch in model.batches(rows):
        try:
            terms = model.terms(batch).array
        except SettingError:  # its scores are no sum over attributes, and it says so
            return
        total = np.zeros_like(terms[:, 0])
        for k in range(terms.shape[1]):
            total = total + terms[:, k]
        _hold(np.array_equal(total, model.log_joint(batch), equal_nan=True), "terms do not add up to the score")


def _hold(law: bool, broken: str) -> None:
    if not law:
        raise AssertionError(broken)


def _equal(a: Any, b: Any) -> bool:
    """By the statistic's own ==, where it has one: it may say that what was forgotten is not compared."""
    return bool(a == b) if "__eq__" in vars(type(a)) else bits(a) == bits(b)
