"""A page and a small API on this machine: `likely serve`. Thin: every answer is one call into the library."""
