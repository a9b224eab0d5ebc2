"""Where a sweep runs. Engines know sums and tables, never models."""
