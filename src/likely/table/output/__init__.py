"""Tables written: predictions as CSV, TSV or Parquet, bytes for a network, files replaced whole by one rename."""
