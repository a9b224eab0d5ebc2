"""From probabilities to actions: the loss of examples/weather_loss.toml, another prior, and what to ask next."""

from __future__ import annotations

from pathlib import Path

import likely
from likely.cli import terminal
from likely.models.loss import read_loss
from likely.present.report.explanation import present_questions

HERE = Path(__file__).resolve().parent
loss = read_loss(HERE / "weather_loss.toml")
model = likely.fit(HERE / "weather_mixed.csv", "play", loss=loss)
row = {"outlook": "sunny"}

found = likely.decide(model, row)
print(f"P(no) = {found.posterior.prob('no'):.3f}, so that each action is expected to cost")
for action in found.actions:
    print(f"  {found.expected_loss(action):.3f} for: {action}")
print(f"Least is {found.action}, by {found.margin:.3f}.")

rare = likely.decide(model, row, prior={"no": 0.01})
print(f"Where only one day in a hundred is bad: {rare.action}.")
print()
terminal.show(present_questions(likely.ask(model, row)))
