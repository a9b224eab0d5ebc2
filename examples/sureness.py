"""How sure a probability is: the same share of rows, from few and from many."""

import likely

FEW = {
    "fever": ["yes"] * 7 + ["no"] * 5 + ["yes"] * 3 + ["no"] * 11,
    "flu": ["yes"] * 12 + ["no"] * 14,
}
for times in (1, 10, 100):
    model = likely.fit({name: cells * times for name, cells in FEW.items()}, target="flu", learner=likely.NaiveBayes())
    found = likely.sureness(model, {"fever": "yes"})
    print(f"{26 * times:5} rows: {found.words('yes')}")
