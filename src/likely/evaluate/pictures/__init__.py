"""What pictures of a table show, as plain values: two numbers with their classes (two_numbers), a line (straight_line).

Imports apply (to learn), evaluate's sampling, and below; draws nothing.
"""
