"""Machine code of kernels: compiled by numba, kept on disk between processes, or built once into a shared library.

The one place that imports numba and llvmlite, and only when something must be compiled. `inner` knows the functions
that kernels are made of, `blocks` those on 64 bytes at once, `object_code` compiles, `caching` keeps, `prebuilt` finds
what came with the package (machinery/prebuild.py makes it).
"""
