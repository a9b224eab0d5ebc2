"""A page and a small API on this machine: `likely serve`. Thin: every answer is one call into the library.

The only room that knows FastAPI; the command line alone imports it. `answers` gives plain values, `application` says
which address gives which, `guard` stands before it, `server` runs it.
"""
