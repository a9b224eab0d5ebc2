"""The process that works: orders come in as lines, progress and answers go out as lines. It ends when its orders end.

Run as `python -m likely.web.app.worker`. A process and not a thread, so that work can be ended at any moment, a table
that is too large for memory does not take the session with it, and the server answers meanwhile.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from typing import Any, TextIO

from likely.errors import LikelyError
from likely.machinery.steps import listening
from likely.web.app.orders import Order

FAILED = "likely failed on this. That is a defect of likely; please report it with what the terminal shows."
NO_MEMORY = "There is not enough memory for this. Close other programs, or take a part of the rows."
PAUSE = 0.1
"""Seconds between two messages about rows."""


class Messages:
    """What is said to whoever gave the order, a line at a time."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last, self._rows = out, 0.0, 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Another order: no row of it was read yet."""
        self._rows, self._last = 0, 0.0

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()

    def tell_rows(self, rows: int) -> None:
        """How many rows were read; not more often than anyone can see."""
        self._rows = rows
        now = time.monotonic()
        if now - self._last >= PAUSE:
            self._last = now
            self.send({"rows": rows})

    def tell_step(self, step: str) -> None:
        """What is being done, with the rows that were read before it: the last of them may not have been told."""
        self.send({"step": step, "rows": self._rows})


def work(line: str, messages: Messages) -> None:
    """Carry out one order; whatever happens, it is answered."""
    from likely.web.app.work import do_work

    messages.begin()
    try:
        with listening(messages.tell_step):
            answer = do_work(Order.parsed(line), messages.tell_rows)
        messages.send({"answer": answer})
    except LikelyError as error:
        messages.send({"error": str(error)})
    except MemoryError:
        messages.send({"error": NO_MEMORY})
    except Exception:
        traceback.print_exc()
        messages.send({"error": FAILED})


def main() -> None:
    """Work until the orders end. Their end is noticed in the middle of work too: nobody would hear the answer."""
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    messages = Messages(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what libraries print is not an answer

    def listen() -> None:
        for line in sys.stdin:
            orders.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    import likely.web.app.work  # noqa: F401  before the first order comes: it takes a while

    while True:
        work(orders.get(), messages)


if __name__ == "__main__":
    main()
