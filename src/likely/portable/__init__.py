"""The portable form: one description of how a model scores a row, of which pages, SQL and other programs are made."""
