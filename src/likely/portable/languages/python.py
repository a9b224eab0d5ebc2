"""A model as one file of plain Python, which needs nothing but Python: the portable form, and the code that defines it.

The code is that of `portable`, word for word, so that there is no second opinion.
"""

from __future__ import annotations

import inspect
import re

from likely.portable import completion, joint_terms, logs, reading, scoring
from likely.portable.describe import Portable
from likely.portable.origin import origin_lines
from likely.portable.writing import text_of

_OURS = re.compile(r"^from likely\.[^\n]*\n", re.MULTILINE)
_FUTURE = "from __future__ import annotations\n"

_HEAD = '''"""A model that {learner} learned{of}, as plain Python: posterior(row) and predict(row).

A row is a dict of values; what it does not have is missing. Written by likely; nothing else is needed to run it:

    python THIS_FILE.py \'{{"attribute": "value"}}\'
"""

{origin}
from __future__ import annotations


class UnseenLevel(Exception):
    """A level that training did not have."""


class FileFormatError(Exception):
    """The form below was altered."""


def shown(text: object) -> str:
    """A piece of data as it may appear in a sentence."""
    return repr(str(text))
'''
_TAIL = '''
FORM = portable_of({text!r})


def posterior(row: dict) -> dict:
    """P(class | row) by class; all 0 where every class is impossible."""
    return dict(zip(FORM.classes, _chances_of(FORM, row), strict=True))


def predict(row: dict) -> str | None:
    """The most probable class, the first of equals; None where every class is impossible."""
    found = posterior(row)
    best = max(FORM.classes, key=lambda name: found[name], default=None)
    return best if best is not None and found[best] > 0 else None


if __name__ == "__main__":
    import sys

    print(json.dumps(posterior(json.loads(sys.argv[1])), ensure_ascii=False))
'''


def to_python(portable: Portable) -> str:
    """The file."""
    of = "" if portable.target is None else f" to predict {ascii(portable.target)[1:-1]}"
    named = of.replace("\\", "\\\\").replace('"', "'")
    parts = [_HEAD.format(learner=portable.learner, of=named, origin=origin_lines(portable, "#"))]
    for room in (logs, reading, joint_terms, completion, scoring):
        parts.append(_apart(_own(inspect.getsource(room)), room.__name__.rpartition(".")[2]))
    parts.append("\n_chances_of = posterior\n")
    return "\n".join(parts) + _TAIL.format(text=text_of(portable))


def _apart(source: str, room: str) -> str:
    """The source with its private names told from those of other rooms."""
    private = set(re.findall(r"^(?:def |class )?(_[A-Za-z]\w*)(?=[(:= ])", source, re.MULTILINE))
    for name in sorted(private):
        source = re.sub(rf"(?<![\w.]){name}\b", f"_{room}{name}", source)
    return source


def _own(source: str) -> str:
    """The source of a room without its imports of the house and without its first docstring."""
    source = re.sub(r'\A(?:r)?""".*?"""\n', "", source, count=1, flags=re.DOTALL)
    return _OURS.sub("", source.replace(_FUTURE, "")).strip("\n") + "\n"
