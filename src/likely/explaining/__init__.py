"""Why an answer is what it is: its evidence, how sure it is, and what would change it."""
