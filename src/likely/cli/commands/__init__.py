"""The commands, by what they are about: each parses, makes one call into the library, and shows."""
