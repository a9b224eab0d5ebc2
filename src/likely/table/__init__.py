"""What a row means: a schema says how columns are read, an encoder turns Arrow batches into numpy arrays.

Imports machinery and errors. `source` is the contract of a table that can be swept again and again; `schema`, `kinds`,
`labels`, `bins` and `batch` are its vocabulary; `infer` and `encode` read cells by the one grammar of `cells`.
Inside: formats/ (files and frames), databases/, words/ (tokens of texts), wrappers/ (sources around sources),
output/ (tables written).
"""
