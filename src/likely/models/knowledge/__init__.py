"""What is known before any row, and what that comes to for the columns and classes of one model."""
