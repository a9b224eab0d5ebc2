"""How far a model can be trusted: folds from one sweep, scores, information, and the first look at a table."""
