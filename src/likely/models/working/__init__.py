"""Workings: the arithmetic of one answer, step by step, as a person would write it on a board.

Imports shapes, quotients and posteriors; no model. `records` (Working, its steps and quantities, as plain values),
`writing` (fractions, decimals or logs), `product` (prior × factors), `cells` (the factor of one attribute, or of
several), `density` (normal densities), `words` (texts), `total` (sums: outputs, evidence). A model answers for its own
working through `Model.worked`.
"""
