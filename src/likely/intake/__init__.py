"""How a table becomes a Summary, one road for every source: observe, draft the schema, settle it, extend the sums.

Imports table, sums and the contracts of models (a search is given its sweeps here). Knows no learner's insides.
Inside: reading (what the user said, the opened source), engine (threads), plan (what is observed, in which shares of
columns), observe (the mergeable observation), schema (draft and last word), extend (further statistics, searches),
row_cache, summarize (the road, and who may sweep it); incremental (pieces),
database (counts), knowledge (no rows), store/ (sums kept by file).
"""
