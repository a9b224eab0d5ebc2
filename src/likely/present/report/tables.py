"""Tables, marked texts and pages of words: what a command says, before it is printed in any way. Knows no records."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """A small table of words; `right` names the columns of numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Passage:
    """A text whose words are marked: stretches as they may be printed, with a mark and its strength from -1 to 1."""

    title: str
    stretches: tuple[tuple[str, str, float], ...]
    """The text, what is marked there ('+1.2'; empty: nothing), and how strong that is."""


@dataclass(frozen=True)
class Page:
    """What one command says: a headline, tables, marked texts, then remarks."""

    headline: str
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()


def numbers_from(start: int, width: int) -> frozenset[int]:
    """The columns of numbers of a table: all from `start` on."""
    return frozenset(range(start, width))
