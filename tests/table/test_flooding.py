"""Texts that were chosen to fall into one place of a hash table do not: places depend on secret keys, answers do not.

Probes are counted, not seconds: a table whose texts are far from where they are looked for first takes quadratic time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import likely
from likely.sums.columns.profile import Profile
from likely.table.batch import Texts
from likely.table.texts import cells, index
from likely.table.texts.index import TextIndex
from likely.table.words import tokens

COUNT = 20_000


def unmix(h: int) -> int:
    """What `mix_bits` made h of: each of its steps can be undone."""
    mask = 2**64 - 1

    def unshift(value: int, by: int) -> int:
        out = value
        for _ in range(64 // by + 1):
            out = value ^ (out >> by)
        return out

    h = unshift(h, 31) * pow(int(tokens._MIX2), -1, 2**64) & mask
    h = unshift(h, 27) * pow(int(tokens._MIX1), -1, 2**64) & mask
    return unshift(h, 30)


def chosen_texts() -> Texts:
    """Texts of eight bytes whose unkeyed hashes agree in their lowest 40 bits."""
    data, start = bytearray(), 8 * 0x9E3779B97F4A7C15 % 2**64
    for k in range(1, COUNT + 1):
        h = unmix(k << 40 | 12345)
        folded = 0
        for _ in range(4):
            folded = h ^ (folded >> 29)
        block = folded * pow(int(tokens._PRIME), -1, 2**64) % 2**64 ^ start
        data += block.to_bytes(8, "little")
    bounds = np.arange(0, len(data) + 1, 8)
    return Texts(np.frombuffer(bytes(data), np.uint8), bounds[:-1].copy(), bounds[1:].copy())


def distances(homes: NDArray[np.uint64], places: NDArray[np.int64], size: int) -> float:
    """How far things are from where they are looked for first, on average."""
    return float(((places - (homes & np.uint64(size - 1)).astype(np.int64)) % size).mean())


def test_the_texts_are_an_attack() -> None:
    texts, out = chosen_texts(), np.empty(COUNT, np.uint64)
    cells.hash_cells(texts.data, texts.starts, texts.ends, out)
    low = out & np.uint64((1 << 40) - 1)
    assert np.median((low == low[0]).astype(float)) == 1  # but for those with blanks at their ends
    assert len(np.unique(out)) == COUNT


def test_chosen_texts_are_found_at_once() -> None:
    table = TextIndex()
    assert table.numbers(chosen_texts()).tolist() == list(range(COUNT))
    used = np.flatnonzero(table._slots >= 0)
    assert distances(table._hashes[table._slots[used]], used, len(table._slots)) < 4


def test_chosen_hashes_are_found_at_once() -> None:
    texts, hashes = chosen_texts(), np.empty(COUNT, np.uint64)
    cells.hash_cells(texts.data, texts.starts, texts.ends, hashes)
    profile = Profile()
    profile._add_hashes(hashes[:10_000])
    used = np.flatnonzero(profile._kept)
    key, held = int(profile._keys[0]), [int(h) for h in profile._kept[used]]
    homes = np.array([(h * key >> 64 ^ h * key) % 2**64 for h in held], np.uint64)
    assert distances(homes, used, len(profile._kept)) < 4
    assert np.array_equal(profile._smallest(), np.unique(hashes[:10_000]))


def test_blocks_that_undo_each_other_are_told_apart() -> None:
    """A difference in the highest bit passes through a product by a known number, so a second one could undo it."""
    plain = np.frombuffer(b"01234567" * 3, np.uint8)
    made = [plain.copy() for _ in range(64)]
    for k, text in enumerate(made):
        for bit in range(6):
            text[7 + 8 * (bit % 3)] ^= 0x80 * (k >> bit & 1) if bit < 3 else 0x40 * (k >> bit & 1)
    data = np.concatenate(made)
    bounds = np.arange(0, len(data) + 1, 24)
    table = TextIndex()
    table.numbers(Texts(data, bounds[:-1].copy(), bounds[1:].copy()))
    assert len(set(table._hashes[: table.known].tolist())) == table.known == 64


def test_answers_do_not_depend_on_the_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    levels = [f"level {k}" for k in rng.integers(0, 700, 3000)]
    lines = [f"{level},{'long words of a text ' * (k % 3)}{level},{k % 3}" for k, level in enumerate(levels)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c", *lines]) + "\n")
    made = []
    for seed in (3, 5):
        keys = np.array([seed, seed << 40 | 1, ~seed & 2**64 - 1 | 1], np.uint64)
        for module in (index, __import__("likely.sums.columns.profile", fromlist=["profile"])):
            monkeypatch.setattr(module, "draw_keys", lambda keys=keys: keys)
        made.append(likely.fit(path, "c", likely.NaiveBayes()).to_bytes())
    assert made[0] == made[1]
