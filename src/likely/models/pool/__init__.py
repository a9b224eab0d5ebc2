"""Several models as one: mixtures weighed by evidence or by held-out rows, `Gibbs`, and `Auto`, which tries the family.

Imports every other room of models; nothing below imports it. `members` (which learners may be one, by name),
`hypotheses` and `mixture` (Mixture, Gibbs), `evidence` (P(data | h) in closed form), `stacking` (weights from held-out
scores), `auto`, `auto_search`, `trial` and `auto_model` (which candidates, how they are tried and judged, the model).
"""
