"""Attributes that depend on one another: learners of counted pairs.

Imports factors and sums. `grid` (pairs as a grid of levels and joined bins), `tables` (links in fractions), `tree`
(TreeAugmented), `one_dependence` (averaged one-dependence estimators).
"""
