"""Candidates judged on rows that they have not seen: one search in sweeps for all who choose or weigh.

Knows learners by their contract alone, no concrete one; may import models/model.py and what lies below. `dealing`
(which part a row is in), `search` (the engine and the plans it follows), `tempering` (temperatures).
"""
