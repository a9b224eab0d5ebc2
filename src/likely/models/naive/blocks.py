"""Blocks: factors of several attributes that are modelled together given the class, and which columns may form one.

Levels and bins have a joint table, numbers a normal density; both are those of full Bayes. Knows no prior, no learner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import ColumnError, SettingError, shown
from likely.models.factors.joint import CellSettings, CutSettings, binned_joint_table, table
from likely.models.factors.normal import CovarianceSettings, known_shares, normal, scatter
from likely.models.fractions import log_of
from likely.models.full_bayes import cells_that_weigh, means_and_covariances
from likely.models.settings import Blocks
from likely.models.shapes import Block, Exhibit, JointTable, MultivariateNormal, Presence
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import request
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class LevelBlock(Block):
    """P(levels of these attributes | class), from a joint table; cells that are missing are summed over."""

    table: JointTable

    @property
    def joint(self) -> JointTable:
        return self.table

    def add(self, batch: Batch, out: NDArray[np.float64]) -> None:
        """Add log P(the cells that are there | class) to each row of `out`."""
        self.table.add(batch, out)

    def draw(self, group: NDArray[np.intp], rng: np.random.Generator) -> Mapping[str, Any]:
        """A row of levels for each class in `group`; an array where they are numbers of bins."""
        return self.table.draw(group, rng)

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """The cells that weigh most."""
        return cells_that_weigh(self.table, classes, f"Cells of {self.name}")


@dataclass(frozen=True, eq=False)
class NumberBlock(Block):
    """The normal density of these attributes given the class; cells that are missing are integrated out."""

    normal: MultivariateNormal
    known: tuple[Presence, ...] | None = None
    """Where being missing is evidence: for each attribute, P(known | class) and P(missing | class)."""

    @property
    def joint(self) -> MultivariateNormal:
        return self.normal

    @property
    def presence(self) -> tuple[Presence, ...]:
        return self.known or ()

    def add(self, batch: Batch, out: NDArray[np.float64]) -> None:
        """Add the log density of the cells that are there to each row of `out`."""
        cells: list[Any] = [batch.cells[name] for name in self.names]
        x = np.column_stack(cells)
        if self.known is None:
            self.normal.add_points(x, out)
            return
        part = np.zeros_like(out)  # added up first, so that the block is one term to the last bit
        self.normal.add_points(x, part)
        for k, shares in enumerate(self.known):
            there, gone = (log_of(side) for side in zip(*shares, strict=True))
            part += np.where(np.isfinite(x[:, k : k + 1]), there, gone)
        out += part

    def draw(self, group: NDArray[np.intp], rng: np.random.Generator) -> Mapping[str, NDArray[np.float64]]:
        """A row of numbers for each class in `group`; NaN where one is missing."""
        cells = self.normal.draw(group, rng)
        for k, shares in enumerate(self.known or ()):
            gone = np.exp(log_of(gone for _, gone in shares))
            cells[rng.random(len(group)) < gone[group], k] = np.nan
        return dict(zip(self.names, cells.T, strict=True))

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """Means and covariances."""
        found = means_and_covariances(self.normal, classes)
        return tuple(replace(e, title=f"{e.title}: {self.name}") for e in found)


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """How the sums of a block become its factor."""

    cells: CellSettings
    covariance: CovarianceSettings
    cut: CutSettings
    binned: Callable[[str], bool]
    """Whether a number is cut into bins."""


def _never(name: str) -> bool:
    return False


def arrange_blocks(blocks: Blocks, schema: Schema, binned: Callable[[str], bool] = _never) -> Blocks:
    """The blocks of several columns, each in the order of the schema; what cannot be a block is refused."""
    out = []
    for block in blocks:
        kinds: dict[str, str] = {}
        for name in block:
            column = schema[name]  # an unknown name is refused there, with the nearest one
            if column.role in ("target", "weight"):
                raise ColumnError(
                    f"{shown(name)} is the {column.role}, so it cannot be in a block of attributes. Take it out."
                )
            if column.role != "attribute":
                raise ColumnError(
                    f"{shown(name)} is left out of the model ({column.why or column.kind}), so it cannot be in a "
                    "block. Take it out of the block, or say with --type how to read it."
                )
            if column.kind == "text":
                raise ColumnError(f"{shown(name)} is a text, so it cannot be in a block. Take it out of the block.")
            kinds.setdefault("levels" if column.kind == "nominal" or binned(name) else "numbers", name)
        if len(kinds) == 2:
            raise SettingError(
                f"A block holds either levels or numbers, and {shown(kinds['levels'])} has levels while "
                f"{shown(kinds['numbers'])} has numbers. Make two blocks of it, cut the numbers into bins (--numbers "
                "COLUMN=binned) or read them as levels (--type COLUMN=nominal). "
                "TreeAugmented and OneDependence let numbers depend on levels."
            )
        if len(block) > 1:
            out.append(tuple(c.name for c in schema.attributes if c.name in block))
    return tuple(out)


def block_requests(blocks: Blocks, schema: Schema, binned: Callable[[str], bool] = _never) -> frozenset[str]:
    """What is to be summed for these blocks; nothing where they do not fit, which `arrange_blocks` will say."""
    try:
        return frozenset(_request(block, schema, binned) for block in arrange_blocks(blocks, schema, binned))
    except (ColumnError, SettingError):
        return frozenset()


def has_bins(block: tuple[str, ...], schema: Schema, binned: Callable[[str], bool]) -> bool:
    """Whether a number of the block is cut into bins."""
    return any(schema[name].kind != "nominal" and binned(name) for name in block)


def _request(block: tuple[str, ...], schema: Schema, binned: Callable[[str], bool]) -> str:
    """All attributes of a kind are what full Bayes asks for as well, so that one sweep serves both."""
    if has_bins(block, schema, binned):
        every = {c.name for c in schema.attributes if c.kind != "text"}
        return request("rows", None if every == {*block} else block)
    levels = schema[block[0]].kind == "nominal"
    rest = [c for c in schema.attributes if c.name not in block and (not levels or c.kind == "nominal")]
    return request("cells" if levels else "products", block if rest else None)


def block_factor(block: tuple[str, ...], summary: Summary, settings: BlockSettings) -> tuple[Block | None, list[str]]:
    """The factor of some attributes, none where they say nothing; and what was special about it."""
    name = _block_name(block, summary.schema)
    told = f"Block {shown(name, 60)}: "
    factor: Block
    if has_bins(block, summary.schema, settings.binned):
        found, notes = binned_joint_table(summary, settings.cells, settings.cut, block)
        factor = LevelBlock(name, found)
    elif summary.schema[block[0]].kind == "nominal":
        found, notes = table(summary, settings.cells, block)
        factor = LevelBlock(name, found)
    else:
        try:
            density = normal(scatter(summary, block), summary.classes, settings.covariance, pooled=False)
        except SettingError as error:
            raise SettingError(f"{told}{error}") from None
        notes, known = list(density.notes), None
        if settings.cells.missing_is_level:
            known = tuple(_known(summary, column, settings) for column in density.names)
        factor = NumberBlock(name, density, known)
    return (factor if factor.names else None), [told + note for note in notes]


def _known(summary: Summary, column: str, settings: BlockSettings) -> Presence:
    numbers = summary.column(column, Numbers)
    cells = settings.cells
    # Known or missing are two levels: the m-estimate gives each half of its weight, as for a number by itself.
    return known_shares(numbers, cells.pseudo_count if cells.m_estimate is None else cells.m_estimate / 2)


def _block_name(block: tuple[str, ...], schema: Schema) -> str:
    """The columns joined; in brackets where a column has that very name."""
    name = " & ".join(block)
    while name in schema.names:
        name = f"({name})"
    return name
