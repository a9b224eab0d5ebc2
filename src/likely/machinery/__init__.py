"""What the rest stands on and no statistician cares about: compiled kernels, threads, pages, caches, TOML, small HTML.

Imports errors alone; numba and llvmlite are known in native/ only. `distributions` holds the tails of the usual tests.
"""
