"""Naive Bayes and its relatives: prior times factors, one rule, density of rows, leave-one-out in closed form."""
