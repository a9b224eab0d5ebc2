"""Naive Bayes and its relatives: prior times factors, each of an attribute, a block of attributes or a text.

Imports factors, knowledge, text, joint and heldout. `settings` and `naive` (the learner), `product` and
`weighted_product` (models), `blocks`, `sampling`, `leave_one_out` (in closed form), `prior_vs_rows` (knowledge beside
data), `temperature_search` and `tuned` with `attribute_weights` (settings chosen on held-out rows), and the learners
`baseline` (Prior), `one_rule`, `density`.
"""
