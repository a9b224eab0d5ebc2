"""Scores of held-out predictions and their intervals. Knows predictions and what happened, no folds and no learners.

Inside: scores (accuracy, log loss, Brier), losses (costs of decisions), intervals (bounds, classes, paired tests),
held_out (predictions row by row), calibration, ranking.
"""
