"""Boosted sums of evidence: terms of one, two or more attributes, found by the rows themselves.

Imports shapes, heldout and sums. `coding` (cells as bytes), `gradients` (of rows), `growing` (one tree, from
histograms of gradients), `given` (curves that are known), `boosting` (tree after tree, stopped by held-out rows),
`anova` (trees made into tables, purified), `additive_model` (the model), `additive_state` (its file), `additive` (the
learner). What an unknown cell says is in heldout/masking.py.
"""
