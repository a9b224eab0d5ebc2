"""What each attribute tells of the target, and which tell the same."""
