"""Who earns more than 50,000? On the Adult census, if its CSV is named, otherwise on a small census made up here.

python examples/adult.py [adult.csv]
"""

import random
import sys

import likely


def made_up(rows: int = 2000) -> dict[str, list[object]]:
    """A census in which age, hours and schooling raise the income, with gaps."""
    chance = random.Random(1994)
    out: dict[str, list[object]] = {"age": [], "hours": [], "education": [], "sex": [], "income": []}
    for _ in range(rows):
        age, hours = chance.randint(17, 80), max(5, round(chance.gauss(40, 11)))
        school = chance.choices(["HS-grad", "Some-college", "Bachelors", "Masters"], [40, 30, 20, 10])[0]
        points = (age > 35) + (hours > 42) + 2 * (school in ("Bachelors", "Masters")) + chance.gauss(0, 1)
        out["age"].append(age)
        out["hours"].append(hours if chance.random() > 0.05 else None)
        out["education"].append(school)
        out["sex"].append(chance.choice(["Female", "Male"]))
        out["income"].append(">50K" if points > 2.5 else "<=50K")
    return out


data: object = sys.argv[1] if len(sys.argv) > 1 else made_up()
found = likely.look(data, "income")
print(f"{found.rows:,} rows; {found.scores.accuracy:.1%} of rows not learned from are right.")
for attribute in found.attributes[:3]:
    print(f"  {attribute['name']}: {attribute['bits']:.3f} bits about the income")

if found.model is not None:  # the one that likely.fit makes of the same rows
    print(found.model.posterior({"age": 50, "education": "Masters"}))
