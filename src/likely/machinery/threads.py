"""Work on batches by several threads, and steps of long work, for whoever wants to be told. Knows nothing of tables."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain, islice
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

# Work on batches by several threads, results in the order of the batches. Knows nothing of tables, sums or models.

A = TypeVar("A")
B = TypeVar("B")


def default_threads() -> int:
    """As many threads as cores this process may use, unless LIKELY_THREADS says otherwise."""
    asked = os.environ.get("LIKELY_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(items: Iterable[A], work: Callable[[A], B], threads: int | None = None) -> Iterator[B]:
    """work(item) for each item, in order, never holding more than a few items at once."""
    count = threads or default_threads()
    if count == 1:
        yield from map(work, items)
        return
    rest = iter(items)
    first = list(islice(rest, 2))
    if len(first) < 2:  # a thread would take longer to start than one row takes
        yield from map(work, first)
        return
    waiting: deque[Future[B]] = deque()
    with ThreadPoolExecutor(count) as pool:
        try:
            for item in chain(first, rest):
                waiting.append(pool.submit(work, item))
                if len(waiting) > count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class Crew:
    """Threads that wait for short pieces of work, one for each item: the caller does the first and they the others.

    >>> Crew(2).each(lambda x: x + 1, [1, 2, 3])
    [2, 3, 4]
    """

    def __init__(self, threads: int) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = max(threads - 1, 0)
        for _ in range(self._threads):
            Thread(target=_do_tasks, args=(self._tasks,), daemon=True).start()

    def __del__(self) -> None:
        for _ in range(self._threads):
            self._tasks.put(None)

    def each(self, work: Callable[[A], B], items: Sequence[A]) -> list[B]:
        """work(item) of all items."""
        if not self._threads or len(items) < 2:
            return [work(item) for item in items]
        found: list[Any] = [None] * len(items)
        errors: list[BaseException] = []
        done: SimpleQueue[None] = SimpleQueue()

        def do(place: int) -> None:
            try:
                found[place] = work(items[place])
            except BaseException as error:
                errors.append(error)
            done.put(None)

        for place in range(1, len(items)):
            self._tasks.put(partial(do, place))
        do(0)
        for _ in items:
            done.get()
        if errors:
            raise errors[0]
        return found


def _do_tasks(tasks: SimpleQueue[Callable[[], None] | None]) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # while a thread waits it must keep nothing alive, the crew's owner above all


# Which step of a long piece of work is being done, for whoever wants to be told. Knows nothing of tables or models.

Teller = Callable[[str], None]

LOG = logging.getLogger("likely")
LOG.addHandler(logging.NullHandler())
_listening: ContextVar[Teller | None] = ContextVar("listening", default=None)


def teller() -> Teller:
    """Whom to tell what is being done; asked for before work is given to threads, which do not know who listens."""
    listener = _listening.get()

    def tell(step: str) -> None:
        LOG.info("%s", step)
        if listener is not None:
            listener(step)

    return tell


@contextmanager
def listening(listener: Teller) -> Iterator[None]:
    """Be told each step until the block ends."""
    token = _listening.set(listener)
    try:
        yield
    finally:
        _listening.reset(token)


PATIENCE, LINE = 1.0, 100
"""Seconds before a notebook shows a step, and places of the line that it stands in."""


@contextmanager
def steps_in_notebook() -> Iterator[None]:
    """In a notebook each step stands in one line, which goes when the block ends; elsewhere nothing is shown."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if _listening.get() is not None or type(shell).__name__ != "ZMQInteractiveShell":
        yield
        return
    begun, lines = time.monotonic(), []

    def show(step: str) -> None:
        if time.monotonic() - begun > PATIENCE:
            lines.append(step)
            print(f"\r{step[:LINE]:{LINE}}", end="", flush=True)

    try:
        with listening(show):
            yield
    finally:
        if lines:
            print(f"\r{'':{LINE}}\r", end="", flush=True)
