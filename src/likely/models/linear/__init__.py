"""Least squares and logistic regression: log-odds as weighted sums of columns.

Imports factors and sums. `design`, `columns` and `curves` (what a row is turned into), `squares` and `least_squares`
(exact normal equations), `softmax` (log-likelihood, gradient, Hessian), `newton` and `lbfgs` (the two solvers),
`cholesky`, `equations` and `planes` (for people), `log_odds` (the model), `unknown` (its terms measured from the
prior), `logistic` (the learner).
"""
