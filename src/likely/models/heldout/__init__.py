"""Candidates judged on rows that they have not seen: rows kept in memory, and what is found by them.

Knows learners by their contract alone, no concrete one; may import models/model.py and what lies below. `kept_rows`
(which rows are kept, and in which part each is), `search` (learners tried on held-out parts; temperatures), `weighing`
(weights of evidence, what knowing a cell is worth), `importance` (what a model goes by).
"""
