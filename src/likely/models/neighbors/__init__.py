"""k nearest neighbours: distances, boxes of training rows, the compiled search."""
