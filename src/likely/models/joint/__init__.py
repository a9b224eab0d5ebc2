"""Full Bayes: a normal density of all numbers, or a joint table of all levels, for each class.

Imports factors and sums. `full` and `discriminant` (learners: FullBayes, LinearDiscriminant), `normals` and `joints`
(models).
"""
