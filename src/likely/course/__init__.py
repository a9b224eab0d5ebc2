"""A course in eight chapters: where the chapters are, how a page is made of one, and whether an answer is right.

Knows the texts of docs/course and the tables of examples/, which come with the package; prints nothing.
Inside: `chapters` finds and reads the texts, `markdown` and `pages` make HTML of them, `answers` works out what
exercises ask for, `exercises` compares. The notebooks beside the chapters are written by scripts/docs.

>>> from likely.course import check
>>> check("1.1", "3/5").right
True
"""

from likely.course.exercises import Verdict, check

__all__ = ["Verdict", "check"]
