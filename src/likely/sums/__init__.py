"""What is remembered of the data: exact sums per class, merged and unlearned to the last bit.

Knows data, never settings: imports table and machinery, nothing of models. `exact` adds without rounding, `summary`
bundles the statistics of a table, `state` is the file format. Inside: columns/ (first order), words/ (texts),
rows/ (statistics of several columns together).
"""
