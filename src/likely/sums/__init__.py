"""What is remembered: exact sums over rows, their bundle (the summary), and the file that keeps them."""
