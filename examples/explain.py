"""Explains one answer of naive Bayes on the weather table: its evidence, the working, and what would change it."""

from pathlib import Path

import likely

model = likely.fit(Path(__file__).parent / "weather.csv", "play", likely.NaiveBayes(pseudo_count=0))
row = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
ledger = likely.explain(model, row)
print(ledger, ledger.working, likely.counterfactual(model, row), sep="\n\n")
