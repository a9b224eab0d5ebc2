"""One file for each command: parse, one call into the library, show."""
