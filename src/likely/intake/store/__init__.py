"""Sums kept on disk by file, so that a folder that grows is read only where it is new."""
