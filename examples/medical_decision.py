"""A test for a rare disease: what a positive result means, what to do about it, and what to ask next."""

import likely
from likely.classroom import diagnosis

# Eight people in a thousand are ill; the test finds 98 % of them and is wrong about 3 % of the others.
belief = diagnosis("0.008", sensitivity="0.98", specificity="0.97")
print(f"P(ill | positive) = {float(belief.p('condition')):.4f}: most who are positive are well.")

# The same from rows, with what each action costs. To miss the disease costs ten times a needless operation.
table = {
    "test": ["positive"] * 8 + ["positive"] * 30 + ["negative"] * 962,
    "scan": ["dark"] * 7 + ["clear"] * 1 + ["dark"] * 2 + ["clear"] * 28 + ["clear"] * 962,
    "state": ["ill"] * 8 + ["well"] * 992,
}
loss = {"ill": {"send home": 10, "operate": 0}, "well": {"send home": 0, "operate": 1}}
model = likely.fit(table, "state", likely.NaiveBayes(), loss=loss)
found = likely.decide(model, {"test": "positive"})
print(f"Most probable: {found.posterior.best}; least costly: {found.action}.")
for action in found.actions:
    print(f"  {action}: expected cost {found.expected_loss(action):.3f}")
rare = likely.decide(model, {"test": "positive"}, prior={"ill": 0.0005})
print(f"Where only five in ten thousand are ill: {rare.action}.")
for question in likely.ask(model, {"test": "positive"}).questions:
    print(f"To know the {question.attribute} first would save {question.drop:.3f} in the mean.")
