"""What changed between two tables, summaries or models, and whether chance explains it.

Inside: shifts (tests of one attribute), changes (of all, corrected together), divergence (how much, in bits), tables
(two tables read alike), models (two files of models or specs).
"""
