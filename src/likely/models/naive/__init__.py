"""Naive Bayes and its relatives: prior times factors, each of an attribute, a block of attributes or a text.

Imports factors, knowledge, text, full_bayes and heldout. `settings` and `naive` (the learner), `product` (the model: a
product, its powers, rows drawn from it), `blocks`, `leave_one_out` (in closed form), `prior_vs_rows` (knowledge beside
data), `tuned` (settings chosen on held-out rows), and the learners of `one_rule` (baselines) and `density`.
"""
