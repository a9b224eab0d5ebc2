"""Cells of text over bytes: cut out of delimited text, told apart as levels. Compiled loops; no Arrow array is made."""
