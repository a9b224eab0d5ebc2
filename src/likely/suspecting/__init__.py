"""What may be wrong with a table: leaks, attributes that say nothing or the same, equal rows, and labels in doubt."""
