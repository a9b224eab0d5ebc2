"""Naive Bayes on fourteen days of weather: fit, ask, see why, and see what would change the answer."""

from pathlib import Path

import likely

model = likely.fit(Path(__file__).parent / "weather.csv", "play", likely.NaiveBayes(pseudo_count=0))
day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}

found = model.posterior(day)
print(f"P(yes) = {found.prob('yes'):.4f}, so the answer is {found.best}.")
print(likely.explain(model, day))

day.pop("outlook")  # what is not known is left out
print(f"Not knowing the outlook: P(yes) = {model.posterior(day).prob('yes'):.2f}.")
print(likely.counterfactual(model, day))
