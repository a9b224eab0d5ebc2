"""Finite probability from TOML files: joint tables typed by hand, hypotheses, and how these are written out.

Numbers on a page are exact, with or without quotes. Imports the rest of probability, errors and machinery.
"""
