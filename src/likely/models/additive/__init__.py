"""Sums of evidence that trees find: boosted terms of one, two or more attributes, and forests.

Imports shapes, heldout and sums. `coding` (cells as bytes, curves that are known), `histograms` (of gradients),
`growing` and `pairing` (one tree), `boosting` and `rounds` (tree after tree, stopped by held-out rows), `anova` (trees
made into tables, purified), `model` (the model and its file), `additive` (the learner). `random_trees` are grown for
`forest`, a learner of its own.
"""
