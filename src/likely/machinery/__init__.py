"""What the rest stands on and no statistician cares about: kernels, threads, pages, caches, records, TOML, small HTML.

Imports errors alone; numba and llvmlite are known in native/ only. `distributions` holds the tails of the usual tests.
"""
