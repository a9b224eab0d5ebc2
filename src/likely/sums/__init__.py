"""What is remembered of the data: exact sums per class, merged and unlearned to the last bit.

Knows data, never settings: imports table and machinery, nothing of models. `contracts` says what a statistic is,
`exact` adds without rounding (`kernels`, `tally_kernels`: its loops), `summary` bundles the statistics of a table,
`requests` names those beyond the first order, `trees` adds in the order of rows, `quantiles` cuts into bins of equal
weight, `state` is the file format.
Inside: columns/ (first order), words/ (texts), rows/ (several columns together).
"""
