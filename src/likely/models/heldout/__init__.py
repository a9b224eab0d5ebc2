"""Candidates judged on rows that they have not seen: rows kept in memory, and what is found by them.

Knows learners by their contract alone, no concrete one; may import models/model.py and what lies below. `dealing`
(lots, and how equal rows are shared out), `kept_rows` (which rows are kept, and in which part each is), `trying` (a
learner tried on held-out parts), `weighing` (weights of evidence), `search` (the engine of those who choose one of some
candidates, and the plans it follows), `tempering` (temperatures), `masking` (what knowing a cell is worth).
"""
