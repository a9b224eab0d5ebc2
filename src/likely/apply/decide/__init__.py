"""From probabilities to actions by their expected loss.

Imports models (contracts and shapes, no concrete model). `decision` and `decider` decide, `tables` for whole tables;
`priors` and `missing` are models around a model (`wrapper`); `asking` says what to ask next (`panels`, `integrals`);
`familiar` whether a row is like those of training.
"""
