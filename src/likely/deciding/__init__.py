"""From probabilities to actions: expected loss, other priors, missing cells, rows like no other, what to ask next."""
