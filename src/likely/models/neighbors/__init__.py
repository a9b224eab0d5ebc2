"""k nearest neighbours: the rows themselves, and how far apart they are.

Imports sums/rows. `nearest` (training rows in boxes, the compiled search), `neighbors` (distances, the learner, and the
working of one answer).
"""
