"""Double counting: a temperature that the table has twice, in degrees Celsius and Fahrenheit."""

import random

import likely
from likely.present.report.evaluation import present_repeats

chance = random.Random(1)
table: dict[str, list[object]] = {"celsius": [], "fahrenheit": [], "cough": [], "flu": []}
for _ in range(500):
    flu = chance.random() < 0.4
    celsius = chance.gauss(38.2 if flu else 37.2, 0.6)
    table["celsius"].append(round(celsius, 1))
    table["fahrenheit"].append(round(celsius * 9 / 5 + 32 + chance.gauss(0, 0.2), 1))
    table["cough"].append("yes" if chance.random() < (0.7 if flu else 0.3) else "no")
    table["flu"].append("yes" if flu else "no")

page = present_repeats(likely.repeats(table, "flu"))
print(page.headline)
for part in page.tables:
    print("\n" + part.title)
    for row in (part.header, *part.rows):
        print("  " + "  ".join(cell.ljust(20) for cell in row).rstrip())
print("\n" + "\n".join(page.remarks))
