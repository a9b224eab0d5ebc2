"""k nearest neighbours: the rows themselves, and how far apart they are.

Imports sums/rows. `ruler` (distances), `boxes` (training rows in boxes), `nearest` (the compiled search), `neighbors`
(learner and model).
"""
