"""Several models as one: pools that add up evidence, mixtures that average probabilities, `Gibbs`.

Imports every other room of models; nothing below imports it. `auto` (Auto and Pool, settings), `candidates` (who is
tried, and which learners may be members), `choosing` (how they are judged and weighed; stacking), `pool` (sweeps, and
the model: terms put together); `hypotheses` (weights of a mixture, P(data | h) in closed form) and `mixture` (Mixture,
Gibbs).
"""
