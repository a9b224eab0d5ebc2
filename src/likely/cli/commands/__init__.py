"""The commands, by what they are about: each parses, makes one call into the library, and shows.

Nothing but click and the shared options is imported until a command runs.
"""
