"""Tree-augmented naive Bayes (TAN): given the class, each attribute may depend on one other; tree and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models.contracts import Model, setting_of
from likely.models.factors.bins import mdl_cuts
from likely.models.factors.categorical import domain
from likely.models.fractions import Quotient, as_written, log_of
from likely.models.model import learnable
from likely.models.posterior import Posterior
from likely.models.prior import DrawnRows, chance, prior_quotients
from likely.models.settings import Prior, Settings, prior_pseudo_count_setting, prior_setting, setting
from likely.models.shapes import Axis, Exhibit, Sum, Tree
from likely.models.working.records import Step, Working, clean, exp
from likely.models.working.working import by_class, multiplied
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.rows.pairs import Pairs
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import Labels, bin_labels, label
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The grid: every attribute as a few levels, numbers in bins that tell the classes apart, and the counts of all
# pairs.


@dataclass(frozen=True)
class Grid:
    """`counts[i, j, class]` over the cells of all axes, axis after axis; symmetric, singles on the diagonal."""

    axes: tuple[Axis, ...]
    first: NDArray[np.int64]
    """Where the cells of each axis begin."""
    sizes: NDArray[np.int64]
    """How many levels each axis has."""
    counts: NDArray[np.float64]
    notes: tuple[str, ...]

    def codes(self, batch: Batch) -> NDArray[np.int32]:
        """The level of each row on each axis, (rows, axes); -1 where it is missing or was not in training."""
        out = np.empty((batch.rows, len(self.axes)), np.int32)
        for k, axis in enumerate(self.axes):
            out[:, k] = axis.codes(batch.cells[axis.name])
        return out

    def cells(self, k: int) -> slice:
        """The cells of axis k."""
        return slice(int(self.first[k]), int(self.first[k] + self.sizes[k]))


def grid_of(summary: Summary, learner: str) -> Grid:
    """Read the pairs of a summary: bins are joined by the classes of these very rows, levels are those of training."""
    pairs = summary.more.get("pairs")
    if not isinstance(pairs, Pairs):
        raise SettingError(
            f"{learner} learns from pairs, which this summary does not keep. Summarize with more='pairs'."
        )
    everyone = np.arange(len(pairs.cells))
    singles = pairs.table[everyone, everyone].floats()
    spans: dict[str, list[int]] = {name: [] for name in pairs.names}
    for k, (name, _) in enumerate(pairs.cells):
        spans[name].append(k)
    axes: list[Axis] = []
    notes: list[str] = []
    places = np.full(len(pairs.cells), -1, np.intp)
    size = 0
    for column in summary.schema.attributes:
        own = np.array(spans[column.name], np.intp)
        statistic = summary.columns[column.name]
        if isinstance(statistic, Counts):
            axis = Axis(column.name, Labels(domain(column, statistic)))
            places[own] = [size + axis.levels.index[pairs.cells[k][1]] for k in own]
        else:
            cuts = np.array(mdl_cuts(singles[own]), np.intp)
            edges = np.array(pairs.edges[column.name], np.float64)[cuts - 1]
            axis = Axis(column.name, Labels(bin_labels(edges.tolist()) if len(cuts) else ()), edges)
            places[own] = size + np.searchsorted(cuts, np.arange(len(own)), side="right") if len(cuts) else -1
        if not len(axis.levels):
            why = "it has no level in any row" if axis.edges is None else "no cut of its values separates the classes"
            notes.append(f"{shown(column.name)} is left out: {why}.")
            continue
        axes.append(axis)
        size += len(axis.levels)
    sizes = np.array([len(a.levels) for a in axes], np.int64)
    joined = pairs.table
    if places.tolist() != list(range(size)):
        joined = joined.scattered(places, 0, size).scattered(places, 1, size)
    return Grid(tuple(axes), np.cumsum(sizes) - sizes, sizes, _mirrored(joined.floats()), tuple(notes))


def _mirrored(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    out = upper + upper.transpose(1, 0, 2)
    everyone = np.arange(len(out))
    out[everyone, everyone] = upper[everyone, everyone]
    return out


def shares(
    counts: NDArray[np.float64], pseudo_count: float, otherwise: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """(n + pseudo_count) / (N + pseudo_count * levels) over the last axis but one.

    Where that is 0/0: `otherwise`, or equal shares, to which ever smaller pseudo-counts lead.
    """
    bottom = counts.sum(axis=-2, keepdims=True) + pseudo_count * counts.shape[-2]
    out = np.broadcast_to(1 / counts.shape[-2] if otherwise is None else otherwise, counts.shape).copy()
    np.divide(counts + pseudo_count, bottom, out=out, where=bottom > 0)
    return out


def log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logs; the log of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def draw_places(chances: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """For each row of chances (they need not sum to one, but some must be above zero) the index of one drawn."""
    below = np.cumsum(chances, axis=1)
    total = below[:, -1]
    at = np.minimum(rng.random(len(chances)) * total, np.nextafter(total, 0))
    out: NDArray[np.intp] = np.count_nonzero(below <= at[:, None], axis=1)
    return out


def sample_rows(
    summary: Summary, grid: Grid, codes: NDArray[np.intp], group: NDArray[np.intp], rng: np.random.Generator
) -> DrawnRows:
    """Rows of levels as rows of a table. A number is one of the values of its bin in training, whatever the class."""
    places = {axis.name: k for k, axis in enumerate(grid.axes)}
    out: dict[str, list[Any]] = {}
    for column in summary.schema.columns:
        if column.role == "target":
            out[column.name] = np.array(summary.classes, object)[group].tolist()
        if column.role != "attribute":
            continue
        statistic = summary.columns[column.name]
        place = places.get(column.name)
        if isinstance(statistic, Counts):
            names = [] if place is None else grid.axes[place].levels.names
            level = np.full(len(codes), -1) if place is None else codes[:, place]
            out[column.name] = np.array([*names, None], object)[level].tolist()
            continue
        # A number that was left out is of one bin.
        edges = None if place is None else grid.axes[place].edges
        level = np.zeros(len(codes), np.intp) if place is None else codes[:, place]
        values = _values(summary.column(column.name, Numbers), np.empty(0) if edges is None else edges, level, rng)
        out[column.name] = _dates(values) if column.kind == "date" else _with_gaps(values)
    return out


def _values(
    numbers: Numbers, edges: NDArray[np.float64], level: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """A value of training for each bin in `level`, by weight; a bin without any gives its edge. NaN for -1."""
    values, table = numbers.tally()
    weight = table.sum(1).floats()
    bins = np.searchsorted(edges, values, side="right")
    out = np.full(len(level), np.nan)
    for k in range(len(edges) + 1):
        rows = np.flatnonzero(level == k)
        own = np.flatnonzero(bins == k)
        if len(own):
            below = np.cumsum(weight[own])
            at = rng.random(len(rows)) * below[-1]
            out[rows] = values[own[np.minimum(np.searchsorted(below, at, side="right"), len(own) - 1)]]
        elif len(edges):
            out[rows] = edges[k - 1] if k else np.nextafter(edges[0], -np.inf)
    return out


def _with_gaps(values: NDArray[np.float64]) -> list[float | None]:
    return [None if x != x else x for x in values.tolist()]


def _dates(values: NDArray[np.float64]) -> list[str | None]:
    """Seconds since 1970 as a file would spell them."""
    there = np.isfinite(values)
    stamps = np.datetime_as_string((np.where(there, values, 0.0) * 1e6).round().astype("M8[us]"))
    return [str(stamp) if known else None for stamp, known in zip(stamps, there.tolist(), strict=True)]


# The tables of a tree over attributes as they were counted: P(level | parent's level, class) in fractions, for
# people.

MOST_CELLS = 400
"""More cells than this and a table is not printed among others."""


def link_quotients(grid: Grid, v: int, u: int, pseudo_count: float, level: int, above: int) -> tuple[Quotient, ...]:
    """P(level of axis v | level `above` of axis u, class) for each class, as `shares` has it; u is -1 for a root.

    Where a class has no row with that level of the parent, and no pseudo-counts: P(level | class), or equal shares.
    """
    own, extra = grid.cells(v), as_written(pseudo_count)
    alone = np.einsum("iik->ik", grid.counts[own, own])
    counts = alone if u < 0 else grid.counts[int(grid.first[u]) + above, own]
    out = []
    for k in range(counts.shape[1]):
        found = _quotient(counts[:, k], level, extra)
        if found is None and u >= 0:
            found = _quotient(alone[:, k], level, extra)
        out.append(found or Quotient(Fraction(1), Fraction(len(counts))))
    return tuple(out)


def _quotient(counts: NDArray[np.float64], level: int, extra: Fraction) -> Quotient | None:
    each = [as_written(n) for n in counts.tolist()]
    bottom = sum(each, Fraction(0)) + extra * len(each)
    return Quotient(each[level] + extra, bottom) if bottom else None


def link_exhibit(grid: Grid, v: int, u: int, pseudo_count: float, classes: tuple[str, ...]) -> Exhibit:
    """The whole table of one attribute, a row for each level (of each level of its parent), in fractions."""
    axis, parent = grid.axes[v], grid.axes[u] if u >= 0 else None
    rows: list[tuple[str | float, ...]] = []
    for above in range(1 if parent is None else len(parent.levels)):
        for level, name in enumerate(axis.levels.names):
            chances = link_quotients(grid, v, u, pseudo_count, level, above)
            given = () if parent is None else (parent.levels.names[above],)
            rows.append((*given, name, *map(str, chances)))
    inside = f"{axis.name} | class" if parent is None else f"{axis.name} | {parent.name}, class"
    header = (axis.name,) if parent is None else (parent.name, axis.name)
    return Exhibit(f"P({inside})", (*header, *(f"P(…|{c})" for c in classes)), tuple(rows))


def link_exhibits(
    grid: Grid, order: NDArray[np.int64], parents: NDArray[np.int64], pseudo_count: float, classes: tuple[str, ...]
) -> tuple[Exhibit, ...]:
    """The tables of all attributes, each after that of its parent; those that are too long to read are left out."""
    out = []
    for v in order.tolist():
        u = int(parents[v])
        if int(grid.sizes[v]) * (int(grid.sizes[u]) if u >= 0 else 1) * len(classes) <= MOST_CELLS:
            out.append(link_exhibit(grid, v, u, pseudo_count, classes))
    return tuple(out)


# Tree-augmented naive Bayes (TAN): given the class, each attribute may depend on one other; the tree is the
# likeliest.


@dataclass(frozen=True)
class TreeAugmented(Settings):
    """P(class, row) = P(class) * product of P(cell | class, cell of the parent); the parents form a tree.

    The tree is the spanning tree of most conditional mutual information I(A; B | class) (Chow and Liu; Friedman,
    Geiger and Goldszmidt), taken from plain counts of the rows that have both cells, over all rows: of all trees, the
    one of most likelihood. Of equal edges the one to the earlier attribute is taken. Numbers are cut into bins by
    supervised MDL.

    >>> TreeAugmented(pseudo_count=0.5).root is None
    True
    """

    pseudo_count: float = setting(
        1.0, "Added to the count of every level, given the class and the level of the parent.", at_least=0
    )
    root: str | None = setting(
        None,
        "The attribute that depends on the class alone; the first if none is named. The links stay the same.",
    )
    prior: Prior = prior_setting()
    prior_pseudo_count: float = prior_pseudo_count_setting()

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts of pairs."""
        return frozenset({"pairs"})

    def learn(self, summary: Summary) -> Model:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        grid = grid_of(summary, "TreeAugmented")
        notes = list(grid.notes)
        names = [axis.name for axis in grid.axes]
        start = self._root(summary.schema, names, notes)
        bits = mutual_bits(grid, float(summary.total.floats().sum()))
        order, parents = spanning_tree(bits, start)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        tables = tuple(self._table(grid, v, int(u)) for v, u in enumerate(parents))
        log_prior = log_of(prior)
        tree = Tree(grid.axes, order, parents, tables)
        return Model(
            learner=self,
            summary=summary,
            score=Sum(log_prior, (tree,) if grid.axes else ()),  # missing and unseen cells are summed out
            prior=prior,
            log_prior=log_prior,
            generative=True,
            notes=tuple(notes),
            details={"grid": grid, "order": order, "parents": parents, "bits": bits, "tables": tables},
            show=_show_tree,
            show_cells=_show_links,
            draw=_draw_rows,
            work=_work_tree,
        )

    def _root(self, schema: Schema, names: list[str], notes: list[str]) -> int:
        if self.root is None:
            return 0
        if schema[self.root].role != "attribute":
            raise SettingError(f"The root {shown(self.root)} is no attribute. Name one of the attributes, or none.")
        if self.root not in names:
            notes.append(f"The tree starts elsewhere than at {shown(self.root)}, which is left out.")
            return 0
        return names.index(self.root)

    def _table(self, grid: Grid, v: int, u: int) -> NDArray[np.float64]:
        """P(level | parent's level, class), (levels, parent's levels, classes).

        Without pseudo-counts a parent's level that no row of a class has with this attribute leaves P(level | class).
        """
        own = grid.cells(v)
        single = shares(np.einsum("iik->ik", grid.counts[own, own]), self.pseudo_count)
        if u < 0:
            return single[:, None]
        return shares(grid.counts[grid.cells(u), own], self.pseudo_count, single).transpose(1, 0, 2)


def _work_tree(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """P(class) times P(cell | parent's cell, class), in fractions where both are known."""

    grid, parents, classes = model.details["grid"], model.details["parents"], model.classes
    logs, codes, names = model.terms(batch).array[0], grid.codes(batch)[0], [a.name for a in grid.axes]
    pseudo_count = float(setting_of(model.learner, "pseudo_count"))
    steps = [Step("", None, dict(zip(classes, model.prior, strict=True)), by_class(classes, logs[0]))]
    for v in model.details["order"].tolist():
        u, cell = int(parents[v]), label(row.get(names[v]))
        own = by_class(classes, logs[1 + v])
        if codes[v] >= 0 and (u < 0 or codes[u] >= 0):
            above = int(codes[u]) if u >= 0 else 0
            chances = link_quotients(grid, v, u, pseudo_count, int(codes[v]), above)
            given = "class" if u < 0 else f"{clean(names[u])}={clean(label(row.get(names[u])) or '')}, class"
            title = f"P({clean(names[v])}={clean(cell or '')} | {given})"
            steps.append(Step(names[v], cell, dict(zip(classes, chances, strict=True)), own, title=title))
            continue
        note = f"{shown(names[v])} is not known: left out."
        if codes[v] >= 0:
            note = f"{shown(names[v])} hangs on {shown(names[u])}, which is not known: it speaks there."
        elif logs[1 + v].any():
            note = f"{shown(names[v])} is not known: summed over, for what hangs on it."
        values = {n: exp(x) for n, x in own.items()} if logs[1 + v].any() else {}
        steps.append(Step(names[v], None, values, own, note, title=f"Σ P(… | {clean(names[v])}, class)"))
    return multiplied(classes, steps, (), posterior)


def _show_tree(model: Model) -> tuple[Exhibit, ...]:
    """The tree: each attribute, what it depends on besides the class, and how many bits that tells."""
    names = [axis.name for axis in model.details["grid"].axes]
    parents, bits = model.details["parents"], model.details["bits"]
    rows = [
        (names[v], names[u] if (u := int(parents[v])) >= 0 else "–", float(bits[v, u]) if u >= 0 else 0.0)
        for v in model.details["order"].tolist()
    ]
    title = "What each attribute depends on, besides the class, in bits"
    return (Exhibit(title, ("attribute", "parent", "bits"), tuple(rows)),)


def _show_links(model: Model) -> tuple[Exhibit, ...]:
    """P(level | parent's level, class) of each attribute, in fractions."""
    grid, order, parents = (model.details[name] for name in ("grid", "order", "parents"))
    return link_exhibits(grid, order, parents, float(setting_of(model.learner, "pseudo_count")), model.classes)


def _draw_rows(model: Model, rows: int, seed: int) -> DrawnRows:
    """A class by its prior, then each cell given its parent's. A number is a value of its bin in training."""
    grid, parents, tables = (model.details[name] for name in ("grid", "parents", "tables"))
    assert model.log_prior is not None
    rng, rows = chance(rows, seed), int(rows)
    group = draw_places(np.broadcast_to(np.exp(model.log_prior), (rows, len(model.classes))), rng)
    codes = np.full((rows, len(grid.axes)), -1, np.intp)
    for v in model.details["order"].tolist():
        u = int(parents[v])
        above = codes[:, u] if u >= 0 else np.zeros(rows, np.intp)
        codes[:, v] = draw_places(tables[v][:, above, group].T, rng)
    return sample_rows(model.summary, grid, codes, group, rng)


def mutual_bits(grid: Grid, total: float) -> NDArray[np.float64]:
    """I(A; B | class) of all pairs of axes in bits, (axes, axes): from the rows that have both, over all rows.

    Not smoothed. Rows without one of the cells tell nothing, so that total * bits is what the edge adds to the log
    likelihood.
    """
    if not len(grid.axes):
        return np.zeros((0, 0))
    first = grid.first
    both = grid.counts
    one = np.add.reduceat(both, first, axis=1)  # (cells of A, axes B, classes): A's cell where B is known
    none = np.add.reduceat(one, first, axis=0)  # (axes, axes, classes): rows that have both
    joint = np.add.reduceat(np.add.reduceat(_x_log_x(both).sum(axis=2), first, axis=1), first, axis=0)
    left = np.add.reduceat(_x_log_x(one).sum(axis=2), first, axis=0)
    bits = (joint - left - left.T + _x_log_x(none).sum(axis=2)) / total
    np.fill_diagonal(bits, 0.0)
    upper = np.triu(np.maximum(bits, 0.0))  # rounding may leave a trifle below zero, or two sides that differ
    return upper + upper.T  # type: ignore[no-any-return]


def _x_log_x(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.log2(x, out=np.zeros_like(x), where=x > 0)


def spanning_tree(bits: NDArray[np.float64], start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The spanning tree of most bits, grown from `start` (Prim): nodes after their parents, and the parent of each.

    Of equal edges the one to the earliest node is taken, from the node that joined first.

    >>> [part.tolist() for part in spanning_tree(np.ones((4, 4)), 0)]
    [[0, 1, 2, 3], [-1, 0, 0, 0]]
    >>> [part.tolist() for part in spanning_tree(np.zeros((3, 3)), 2)]
    [[2, 0, 1], [2, 2, -1]]
    """
    size = len(bits)
    parents = np.full(size, -1, np.int64)
    order: list[int] = []
    best = np.full(size, -1.0)  # of the edges from the tree to each node outside it
    node = start
    for _ in range(size):
        order.append(node)
        best[node] = -np.inf
        better = bits[node] > best
        better[order] = False
        best[better] = bits[node][better]
        parents[better] = node
        node = int(best.argmax())
    return np.array(order, np.int64), parents
