"""k nearest neighbours: the rows themselves, and how far apart they are.

Imports sums/rows. `ruler` (distances), `boxes` (training rows in boxes), `nearest` (the compiled search), `ball` (the
working of one answer), `neighbors` (learner and model).
"""
