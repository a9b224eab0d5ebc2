"""How tables come: delimited text, ARFF, JSON lines, Parquet, Arrow, DataFrames, folders of files.

Each file knows one format. Imports the contract of a source and nothing above it; pyarrow and DuckDB live here.
"""
