"""Statistics of one column: counts of levels, moments and values of numbers, the profile of a text column's cells."""
