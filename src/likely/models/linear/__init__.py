"""Least squares and logistic regression: log-odds as weighted sums of columns.

Imports factors and sums. `design` (what a row is turned into), `squares` and `least_squares` (exact normal equations),
`softmax` (log-likelihood, gradient, Hessian), `newton` (the two solvers), `log_odds` (the model, its terms measured
from the prior), `logistic` (the learner).
"""
