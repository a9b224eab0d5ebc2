"""Spam by its words: a text column is one more attribute, and every word's evidence can be read."""

import likely

SPAM = [
    "WIN a free phone now, call 0900 to claim your prize",
    "free entry: text WIN to 80082 and claim 500 cash",
    "your prize is waiting! call now, offer ends today",
    "urgent: claim your free ringtone, reply STOP to end",
    "congratulations, you won cash. call this number to claim",
]
HAM = [
    "are you coming home for dinner today",
    "call me when you are free, I am at the office",
    "see you at the station at nine",
    "can you bring milk, we have none left",
    "the meeting is moved to friday, sorry",
    "thanks for the lift, see you tomorrow",
]
mails = {"text": SPAM + HAM, "kind": ["spam"] * len(SPAM) + ["ham"] * len(HAM)}
model = likely.fit(mails, "kind", likely.NaiveBayes(text=likely.Text(model="multinomial")), types={"text": "text"})

for text in ("claim your cash prize now", "are you free for dinner on friday", "zzz"):
    found = model.posterior({"text": text})
    print(f"{text!r}: {found.best}, P(spam) = {found.prob('spam'):.3f}")
print(likely.explain(model, {"text": "claim your cash prize now"}))
