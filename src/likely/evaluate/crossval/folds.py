"""Cross-validation in one sweep: one summary for each fold; a model for a fold learns from the total minus the fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.crossval.dealing import Deal, Dealer, Folds, Placed, deal_stratified, set_apart
from likely.intake.engine import sweep_sum
from likely.intake.observe import Observation, Plan
from likely.intake.reading import Reading
from likely.intake.schema import Draft, check_strays, draft_schema, finalize_schema, guess_schema, plan_observation
from likely.sums.contracts import State
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels
from likely.table.schema import Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FoldObservation:
    """Rows observed fold by fold: the classes of its summary are pairs of fold and class, taken apart in `FoldSums`."""

    def __init__(self, seen: Observation, rows: NDArray[np.int64], dealer: Dealer | None = None) -> None:
        self.seen, self.rows, self._dealer = seen, rows, dealer
        self._pairs = Labels()

    @classmethod
    def empty(cls, plan: Plan, dealer: Dealer, parts: int) -> FoldObservation:
        assert plan.schema is not None
        seen = Observation(plan)
        seen.summary = Summary(_paired_schema(plan.schema))
        return cls(seen, np.zeros(parts, np.int64), dealer)

    def take(self, placed: Placed, start: int) -> None:
        """Rows as the dealer placed them."""
        batch, codes, ordinal = placed
        assert self._dealer is not None
        fold, folds = self._dealer.folds(codes, ordinal), len(self.rows)

        def pairs(encoded: Batch) -> Batch:
            assert encoded.target is not None
            for name in encoded.target.labels.names[len(self._pairs) // folds :]:
                for k in range(folds):
                    self._pairs.code(f"{k} {name}")
            pair = np.where((encoded.target.codes < 0) | (fold < 0), np.int32(-1), encoded.target.codes * folds + fold)
            counts = pair >= 0 if encoded.weight is None else (pair >= 0) & (encoded.weight > 0)
            self.rows += np.bincount(fold[counts], minlength=folds)
            return replace(encoded, target=Codes(pair, self._pairs))

        self.seen.update(batch, start, regroup=pairs)

    def canonicalize(self) -> None:
        self.seen.canonicalize()

    def __add__(self, other: FoldObservation) -> FoldObservation:
        return FoldObservation(self.seen + other.seen, self.rows + other.rows, self._dealer)

    def state(self) -> State:
        return {"seen": self.seen.state(), "rows": self.rows}

    @classmethod
    def from_state(cls, tree: State) -> FoldObservation:
        return cls(Observation.from_state(tree["seen"]), np.asarray(tree["rows"], np.int64))

    def sums(self, draft: Draft) -> FoldSums:
        """The sums of all folds under the schema by which they were observed."""
        assert self.seen.summary is not None
        check_strays(draft, self.seen.strays, self.seen.rows)
        return FoldSums(self.seen.summary.with_schema(_paired_schema(draft.schema)), self.rows, draft)


def _paired_schema(schema: Schema) -> Schema:
    """Pairs of fold and class are names, whatever the classes are."""
    plain = (replace(c, reading="text", edges=()) if c.role == "target" else c for c in schema.columns)
    return schema.with_columns(plain)


class FoldSums:
    """The sums of all rows, and those of any fold or of all but one: taken out of one summary of class and fold."""

    def __init__(self, whole: Summary, rows: NDArray[np.int64], draft: Draft) -> None:
        whole = whole.canonical()  # once, not for every fold that is taken out of it
        self._whole, self.rows, self._draft = whole, rows, draft
        self._pairs = [(int(k), name) for k, name in (pair.split(" ", 1) for pair in whole.labels.names)]
        self._names = list(dict.fromkeys(name for _, name in self._pairs))
        self.total = finalize_schema(draft, self._of_folds(lambda fold: True))

    def part(self, fold: int) -> Summary:
        """The rows of one fold. Rows that are left out are counted with the first."""
        return self.among(np.arange(len(self.rows)) == fold)

    def rest(self, fold: int) -> Summary:
        """All rows but those of one fold: the total minus the part (tests/evaluate/test_folds.py)."""
        return self.among(np.arange(len(self.rows)) != fold)

    def among(self, seen: NDArray[np.bool_]) -> Summary:
        """The rows of those folds that are seen, as if the others had never been (tests/evaluate/test_curve.py)."""
        out = self._of_folds(lambda k: bool(seen[k])).with_schema(self.total.schema).canonical()
        out.rows, out.left_out = int(self.rows[seen].sum()), self._whole.left_out if seen[0] else 0
        return out

    def _of_folds(self, wanted: Callable[[int], bool]) -> Summary:
        index = {name: k for k, name in enumerate(self._names)}
        out = self._whole.regrouped([index[name] if wanted(k) else -1 for k, name in self._pairs], self._names)
        out.schema = self._draft.schema
        return out


@dataclass(frozen=True)
class FoldDraft(Draft):
    """A draft whose rows were dealt and summed in the sweep that it was made from."""

    deal: Deal = field(kw_only=True)
    observed: FoldObservation = field(kw_only=True)


def draft_folds(source: Source, reading: Reading, folds: Folds) -> Draft:
    """The draft of a source's schema without the column that rows are dealt by. Where they are dealt at random and a
    guess at it proves right, the sums of the folds come from the same sweep."""
    guess = guess_schema(source, reading, source) if folds.plain and reading.schema is None else None
    if guess is None or guess.target is None:
        return set_apart(source, draft_schema(source, reading), folds)
    deal = deal_stratified(folds.count, folds.seed)
    observed = _observe(source, plan_observation(source, reading, guess), reading, deal)
    draft = draft_schema(source, reading, observed.seen)
    fits = observed.seen.sums_under(draft.schema) is not None
    return FoldDraft(draft.schema, draft.open, draft.least_count, deal=deal, observed=observed) if fits else draft


def sum_folds(source: Source, draft: Draft, reading: Reading, deal: Deal) -> FoldSums:
    """The sums of all rows and of each fold, all under one schema; one sweep, where the draft has not made it."""
    if isinstance(draft, FoldDraft) and draft.deal.same_as(deal):
        return draft.observed.sums(draft)
    return _observe(source, Plan.under(draft.schema), reading, deal).sums(draft)


def _observe(source: Source, plan: Plan, reading: Reading, deal: Deal) -> FoldObservation:
    assert plan.schema is not None
    dealer, columns = deal.dealer(plan.schema), plan.columns
    return sweep_sum(
        source.batches([*columns, *(c for c in deal.columns if c not in columns)]),
        lambda: FoldObservation.empty(plan, dealer, deal.parts),
        reading.threads,
        reading.progress,
        FoldObservation.canonicalize,
        dealer.place,
    )
