"""How a table becomes a Summary, one road for every source: observe, draft the schema, settle it, extend the sums.

Imports table, sums and the contracts of models (a search is given its sweeps here). Knows no learner's insides.
Inside: store/ (sums kept by file).
"""
