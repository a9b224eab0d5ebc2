"""Logistic regression over words: weights learned from the documents themselves, which are kept as counts of words.

Imports text, naive and heldout. `learner` (settings), `search` (its sweeps), `documents` (what is kept), `gradients`
and `lbfgs` (how weights are found), `ridge` (how far they are held back), `model`.
"""
