"""Sources around sources: watched, repaired, parsed once, several as one, rows that are elsewhere.

They change how rows come, not what rows mean. Imports the contract of a source and the stamps of files.
"""
