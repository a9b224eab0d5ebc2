"""What may be wrong with a table: leaks, copies, columns that repeat others, doubtful labels."""
