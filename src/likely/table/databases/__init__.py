"""Tables that lie in a database: addresses, dialects, and the rows of a query as a source."""
