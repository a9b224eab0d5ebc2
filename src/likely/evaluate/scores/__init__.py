"""Scores of held-out predictions and their intervals: log loss, calibration, ranking, classes, temperature."""
