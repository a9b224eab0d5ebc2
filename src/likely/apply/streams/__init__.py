"""Input without end: a model written anew as rows come, and a window of the last rows."""
