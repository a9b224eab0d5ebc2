"""The offline page: its sections, what-if, templates and scripts."""
