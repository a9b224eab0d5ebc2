"""Attributes that depend on one another: learners of counted pairs.

Imports factors and sums. `tree` (pairs as a grid of levels and joined bins; TreeAugmented), `one_dependence` (averaged
one-dependence estimators).
"""
