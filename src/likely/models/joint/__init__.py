"""Full Bayes: normal densities of all numbers, joint tables of all levels, the linear discriminant."""
