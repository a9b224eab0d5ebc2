"""What is to be observed of the rows of a table, and how that is cut into shares of a few columns. Knows no rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from likely.table.schema import MISSING, Schema

WIDE = 64
"""Attributes from which on a table is swept in shares of columns, where its source can read columns apart."""
LEAST_COLUMNS, MOST_COLUMNS = 8, 32
"""Attributes of a share: the target is read again for each; many more would leave few rows in a batch."""
FEW_ROWS, FEW_WIDE, FEW_LEAST = 1 << 18, 8, 4
"""Of no more rows than this, putting together what threads keep of a column costs more than its cells: such a table is
swept in shares from so many attributes on, of so many at least."""
SHARES = 2
"""Shares for each thread, so that threads end at about the same time."""


@dataclass(frozen=True)
class Plan:
    """What is to be observed of rows."""

    profiled: tuple[str, ...] = ()
    """Text columns whose kind nobody has said."""
    tallied: str | None = None
    """The target, where its numbers decide how it is read."""
    schema: Schema | None = None
    """How rows are summed; a guess where something is profiled or tallied as well."""
    missing: tuple[str, ...] = MISSING
    is_share: bool = False
    """Whether it is a share of another plan, whose schema may be a guess though nothing is profiled here."""

    @classmethod
    def under(cls, schema: Schema) -> Plan:
        """Sums alone, under a schema that is known."""
        return cls(schema=schema, missing=schema.missing)

    @property
    def columns(self) -> list[str]:
        """What a sweep has to read."""
        used = [] if self.schema is None else self.schema.stored
        return list(dict.fromkeys([*self.profiled, *([] if self.tallied is None else [self.tallied]), *used]))

    @property
    def is_guess(self) -> bool:
        return self.schema is not None and (bool(self.profiled) or self.tallied is not None or self.is_share)

    def without_sums(self) -> Plan:
        return replace(self, schema=None)

    def without(self, names: frozenset[str]) -> Plan:
        """The same, but these columns are not summed."""
        if self.schema is None or not names:
            return self
        columns = (replace(c, role="left out") if c.name in names else c for c in self.schema.columns)
        return replace(self, schema=self.schema.with_columns(columns))

    def split(self, threads: int, apart: bool = True, rows: int | None = None) -> list[Plan]:
        """Plans of a few columns each, which together are this one; itself where there are not many columns.

        Every share has the target and the weights of rows; only the first profiles and tallies the target. Where
        columns are not read `apart`, nothing is gained by more shares than keep the threads at work. `rows` is the
        number of rows, where it is known.
        """
        columns = () if self.schema is None else self.schema.columns
        everywhere = {c.name for c in columns if c.role in ("target", "weight")} | {self.tallied}
        names = [name for name in self.columns if name not in everywhere]
        few = apart and rows is not None and rows <= FEW_ROWS and threads > 1
        wide, least = (FEW_WIDE, FEW_LEAST) if few else (WIDE, LEAST_COLUMNS)
        if len(names) < wide:
            return [self]
        count = min(SHARES * threads, len(names) // least)
        if apart:
            count = max(count, -(-len(names) // MOST_COLUMNS))
        return [self._share(frozenset(names[k::count]), everywhere if k == 0 else set()) for k in range(count)]

    def _share(self, names: frozenset[str], target: set[str | None]) -> Plan:
        schema = self.schema
        if schema is not None:
            kept = (c for c in schema.columns if c.stored_as in names or c.role in ("target", "weight"))
            schema = schema.with_columns(kept)
        profiled = tuple(name for name in self.profiled if name in names or name in target)
        tallied = self.tallied if self.tallied in target else None
        return replace(self, profiled=profiled, tallied=tallied, schema=schema, is_share=self.is_guess)
