"""The course on the command line and in Jupyter: `command` opens chapters and checks answers, `notebook` runs commands
in cells. `%load_ext likely.cli.course` is what the notebooks of the course begin with.
"""

from likely.cli.course.notebook import load_ipython_extension

__all__ = ["load_ipython_extension"]
