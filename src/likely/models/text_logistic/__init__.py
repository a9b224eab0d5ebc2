"""Logistic regression over words: weights learned from the documents themselves, which are kept as counts."""
