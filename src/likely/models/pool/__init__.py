"""Several models as one, weighed by held-out rows: mixtures, stacking, `Auto`, tuned naive Bayes."""
