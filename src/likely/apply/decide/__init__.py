"""From probabilities to actions by their expected loss; other priors, missing cells averaged, what to ask next."""
