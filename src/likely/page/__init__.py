"""The page: what a first look found, as one offline file with charts of our own. Aggregates only, never a row."""
