"""What is known before any row, and what that comes to for the columns and classes of one model.

Imports table. `knowledge` is what a person says, checked; `known` what of it concerns a class, an attribute, a level.
"""
