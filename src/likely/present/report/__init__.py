"""Results as sentences and tables, for terminal, Markdown and JSON."""
