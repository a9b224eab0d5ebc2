"""What an attribute, or a block of them, says of the class, derived from sums: each factor has one of the shapes.

Imports sums, shapes and knowledge; knows no prior and no learner. `categorical` (levels), `binned` (with `bins`,
`mdl`), `gaussian`, `kernel` (with `kernel_sums`), `numeric` (which of them a number gets), `joint` (tables of several
attributes), `normal` (with `scatter`, `patterns`); `value_tally` is how they read the values of a number.
"""
