"""A stream whose meaning changes: a window of the last rows follows it, a model of all rows does not.

Each piece of the stream is predicted before it is learned. Nothing is kept but sums, and they are exact.
"""

import random

import likely

chance = random.Random(7)


def piece(rows: int, turned: bool) -> list[dict[str, object]]:
    """Rows in which a high reading means trouble, or, once the sensor was turned, a low one."""
    out: list[dict[str, object]] = []
    for _ in range(rows):
        trouble = chance.random() < 0.3
        high = trouble != turned
        out.append({"reading": round(chance.gauss(8 if high else 5, 1), 2), "state": "trouble" if trouble else "fine"})
    return out


def right(model: likely.Model, rows: list[dict[str, object]]) -> float:
    """Share of rows that the model names rightly."""
    named: list[str | None] = model.predict(rows)
    return sum(a == row["state"] for a, row in zip(named, rows, strict=True)) / len(rows)


first = piece(200, False)
window = likely.Window("state", rows=400, step=100, types={"reading": "number"}).learn(first)
every = likely.fit(first, "state", likely.NaiveBayes(), types={"reading": "number"})
for time in range(8):
    rows = piece(200, turned=time >= 3)
    print(f"piece {time}: window {right(window.model, rows):.0%}, all rows {right(every, rows):.0%} right")
    window.learn(rows)
    every = likely.learn(every, rows)
print(window)
