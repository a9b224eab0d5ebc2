"""How tables come: delimited text, ARFF, JSON lines, Parquet, Arrow, DataFrames, counts of words.

Each file knows one format. `files` finds files and their bytes, `text_file` their encoding, `layout` delimiter and
header, `fingerprint` their state. Imports the contract of a source and nothing above it; which reader fits is for
table/open.py.
"""
