"""What each attribute tells of the target, in bits, and which tell the same given the class.

Reads sums, and samples of rows. Inside: information (levels, numbers), word_information (texts), repetition (one pair),
redundancy (all pairs), plane (a picture of two numbers).
"""
