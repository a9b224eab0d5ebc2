"""Statistics of several columns together: products of numbers, pairs of levels, cells of a joint table, rows kept."""
