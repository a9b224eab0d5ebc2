"""Least squares and logistic regression: designs, exact normal equations, Newton and gradient searches."""
