"""Attributes that depend on one another: the tree-augmented network and averaged one-dependence."""
