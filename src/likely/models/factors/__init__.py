"""What an attribute, or a block of them, says of the class, derived from sums: each factor has one of the shapes.

Imports sums, shapes and knowledge; knows no prior and no learner. `categorical` (levels), `bins` (numbers cut, MDL),
`kernel`, `numeric` (which density a number gets), `joint` (tables of several attributes), `normal` (of one number or of
several).
"""
