"""What changed between two tables, summaries or models."""
