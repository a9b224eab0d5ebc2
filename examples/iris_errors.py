"""Three ways to believe in Fisher's irises, and how often each is wrong on flowers it has not seen."""

from pathlib import Path

import likely

FLOWERS = Path(__file__).parent / "iris.csv"

for learner in (likely.NaiveBayes(), likely.FullBayes(), likely.LinearDiscriminant()):
    model = likely.fit(FLOWERS, "species", learner)
    named, true = model.predict(FLOWERS), [line.rsplit(",", 1)[1] for line in FLOWERS.read_text().split()[1:]]
    seen = sum(a != b for a, b in zip(named, true, strict=True))
    unseen = likely.look(FLOWERS, "species", learner).scores.accuracy
    print(f"{type(learner).__name__:10} {seen} errors on flowers it has seen; {unseen:.1%} right on others")
