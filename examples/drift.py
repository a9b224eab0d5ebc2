"""Drift: two months of orders in which something changed, and something did not."""

import random

import likely
from likely.present.report.drift import present_drift


def month(seed: int, later: bool) -> dict[str, list[object]]:
    """Orders with what they cost, how they were paid, when they were packed, and whether they came back."""
    chance = random.Random(seed)
    table: dict[str, list[object]] = {"price": [], "paid by": [], "hour": [], "weight": [], "returned": []}
    for _ in range(600):
        back = chance.random() < (0.3 if later else 0.2)
        table["price"].append(round(chance.lognormvariate(3.2 if back else 3.0, 0.5) * (1.25 if later else 1), 2))
        ways = ["card", "invoice", "phone"] if later else ["card", "invoice", "cheque"]
        table["paid by"].append(chance.choices(ways, [5, 3 if back else 1, 1])[0])
        table["hour"].append(round(chance.uniform(8, 18), 1))
        table["weight"].append(None if later and chance.random() < 0.2 else round(chance.gauss(2, 0.5), 2))
        table["returned"].append("yes" if back else "no")
    return table


page = present_drift(likely.drift(month(1, False), month(2, True), "returned"))
print(page.headline)
for part in page.tables:
    widths = [max(len(row[k]) for row in (part.header, *part.rows)) for k in range(len(part.header))]
    print("\n" + part.title)
    for row in (part.header, *part.rows):
        print("  " + "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip())
print("\n" + "\n".join(page.remarks))
