"""Several models as one: pools that add up evidence, mixtures that average probabilities, `Gibbs`.

Imports every other room of models; nothing below imports it. `auto` (Auto and Pool, settings), `candidates` (who is
tried), `choosing` (how they are judged and weighed), `trial` (what came of it), `pool_search` (sweeps), `pool_model`
and `joining` (the model, and its terms put together); `members` (which learners may be one, by name); `hypotheses` and
`mixture` (Mixture, Gibbs), `evidence` (P(data | h) in closed form), `stacking` (weights of a linear mixture).
"""
