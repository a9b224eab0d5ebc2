"""What the words of a text column say of the class, and how that is chosen on held-out rows."""
