"""A course in fifteen chapters: where the chapters are, how a page is made of one, and whether an answer is right.

Knows the texts of docs/course and the tables of examples/, which come with the package; prints nothing.
Inside: `chapters` finds and reads the texts, with what is right behind each exercise, and makes HTML of them;
`answers` compares, and so does `exercises.js` on a page. The notebooks beside the chapters are written by scripts/docs.

>>> from likely.classroom.course import check
>>> check("1.1", "3/5").right
True
"""

from likely.classroom.course.answers import Verdict, check

__all__ = ["Verdict", "check"]
