"""What the words of a text column say of the class, and how that is chosen on held-out rows.

Imports sums/words and heldout. `settings`, `sums` (from counts to weights of words), `scores` (of documents), `factor`
(the evidence), `search`, `trial` and `scales` (settings chosen on rows held out).
"""
