"""What may be wrong with a table or flatter its scores, as findings: a kind, columns and a sentence.

Inside: findings (what a look warns of and doctor shares), checkup (what doctor finds besides), association (by chance
or not), duplicates (equal rows and texts, by hashes), functions (columns that others determine), labels (doubtful
classes).
"""
