"""What a row means: opening tables, reading cells, schemas, and the one crossing from Arrow to numpy."""
