"""Boosted sums of evidence: terms of one, two or more attributes, found by the rows themselves.

Imports shapes, heldout and sums. `coding` (cells as bytes), `growing` (one tree from histograms of gradients),
`boosting` (tree after tree, stopped by held-out rows), `anova` (trees made into tables, purified), `masking` (what an
unknown cell says), `additive_model` (the model), `additive` (the learner).
"""
