"""What a row means: a schema says how columns are read, an encoder turns Arrow batches into numpy arrays.

Imports machinery and errors. `source` is the contract of a table that can be swept again and again, `arrow` and `views`
know Arrow's arrays; `schema`, `kinds`, `labels` and `batch` are the vocabulary; `infer` and `encode` read cells
by the one grammar of `cells`. Inside: formats/ (files and frames), databases/, wrappers/ (sources around sources),
words/ (tokens of texts), output/ (tables written). Above them all, `open` chooses the reader that fits; `fragments` and
`stream_blocks` cut files and streams into tables.
"""
