"""What is believed: learners (frozen settings) and the models they derive from a summary. No rows are kept here."""
