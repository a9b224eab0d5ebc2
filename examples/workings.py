"""Workings as on a board: full Bayes, neighbours, words, logs, and an average over a missing cell."""

import csv
from pathlib import Path

import likely

HERE = Path(__file__).parent
with (HERE / "iris.csv").open(encoding="utf-8") as file:
    flowers = [
        {
            "sepal_length": float(row["sepal_length"]),
            "sepal_width": float(row["sepal_width"]),
            "class": "c1" if row["species"] == "Iris-setosa" else "c2",
        }
        for row in csv.DictReader(file)
    ]
point = {"sepal_length": 6.75, "sepal_width": 4.25}

print("Full Bayes", likely.fit(flowers, "class", likely.FullBayes(variance="ml")).working(point), sep="\n")

working = likely.fit(flowers, "class", likely.Neighbors(k=5, scale=False)).working(point)
print("\nFive neighbours")
for line in working.tables[0].rows:
    print("  ", *(f"{cell:.4g}" if isinstance(cell, float) else cell for cell in line))
print(working)

with (HERE / "mails.csv").open(encoding="utf-8") as file:
    mails = [{"mail": " ".join(row["text"]), "label": row["label"]} for row in csv.DictReader(file)]
words = likely.NaiveBayes(text=likely.Text("multinomial"))
model = likely.fit(mails, "label", words, types={"mail": "text"}, tokens=likely.Tokens(stop=("d", "e")))
print("\nThe words of a mail", model.working({"mail": "a b a a"}), sep="\n")

days = likely.fit(HERE / "four_days.csv", "play", likely.NaiveBayes())
print("\nFour days", days.working({"sky": "rainy", "temp": "warm", "humid": "normal"}).written("logs"), sep="\n")

weather = likely.fit(HERE / "weather.csv", "play", likely.NaiveBayes(pseudo_count=0))
row = {"temperature": "cool", "humidity": "high", "windy": "true"}
print("\nThe outlook is not known", likely.by_missing(weather, "averaged").working(row), sep="\n")
