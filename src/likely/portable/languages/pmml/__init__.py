"""PMML: `document` decides which kind of model it becomes, `naive_bayes` and `sums` write it, out of `parts`."""
