"""What commands say of their results, as `Document`s: one file for each kind of result. Knows records, no rows."""
