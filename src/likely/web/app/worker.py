"""The process that works: orders come in as lines, progress and answers go out as lines."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, TextIO, TypeAlias

from likely.apply.decide.decider import decide_table, decider
from likely.apply.fitting import load_model
from likely.apply.predict import predict_table
from likely.errors import LikelyError, SettingError
from likely.evaluate.compare import compare
from likely.evaluate.look import Look, look
from likely.evaluate.study import Studies, study_further
from likely.intake.reading import Reading, read_learner
from likely.intake.summarize import inspect_columns
from likely.machinery.threads import listening
from likely.models.contracts import Learner, Model
from likely.models.default import field_of
from likely.models.loss import Loss
from likely.portable.abilities import languages_of
from likely.portable.describe import portable
from likely.portable.languages.export import export
from likely.present.document import Document, Table
from likely.present.page.contents import fit_options
from likely.present.page.writing import page
from likely.present.report.evaluation import present_comparison
from likely.present.report.look import cost_sentence, learner_name, present_look
from likely.sums import state
from likely.table.formats.containers import sheet_names
from likely.web.app.hands import COSTS, MODEL, PAGE, Order

# The process that works: orders come in as lines, progress and answers go out as lines. It ends when its orders
# end.

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
    import likely.web.app.worker  # noqa: F401  before the first order comes: it takes a while

    while True:
        work(orders.get(), messages)


# The work of the app, done in a process of its own: each order is one call into the library, whose results are
# written to files or given back as plain values. Knows no HTTP and no session.

Answer: TypeAlias = dict[str, Any]
Tell: TypeAlias = Callable[[int], None]
"""Who is told how many rows were read."""


def do_work(order: Order, progress: Tell) -> Answer:
    """Carry out an order; `progress` is told rows."""
    return WORK[order.kind](order, progress)


_LEARNED: dict[str, tuple[Look, Studies]] = {}
"""What was learned last, by what was asked: other costs are applied to it as it is."""


def _read(order: Order, progress: Tell) -> Answer:
    """How the columns are read."""
    remarks: list[str] = []
    found = inspect_columns(order.data, progress=progress, remark=remarks.append, **order.reading)
    tree: Answer = state.plain(found)
    return {**tree, "notes": [*remarks, *found.notes], "sheets": sheet_names(order.data)}


def _learn(order: Order, progress: Tell) -> Answer:
    """A look at the table, the page that shows it, and the model."""
    remarks: list[str] = []
    reading = {**order.reading, "progress": progress, "remark": remarks.append}
    learner = _learner(order.learner)
    stamp = os.stat(order.data).st_mtime_ns if os.path.isfile(order.data) else None
    question = json.dumps([order.data, stamp, order.target, order.learner, order.reading], sort_keys=True)
    before = _LEARNED.pop(question, None)
    record = _look(order, learner, reading, None if before is None or stamp is None else before[0].model)
    assert record.model is not None
    studies = study_further(record, order.data, learner, **reading) if before is None else before[1]
    _LEARNED.clear()
    _LEARNED[question] = record, studies
    command = order.command(fit_options(record.model) if learner is not None else [])
    made = page(
        record,
        curve=studies.curve,
        comparison=studies.comparison,
        command=command,
        version=order.version,
        data=order.name,
    )
    state.write(_place(order, PAGE), made.encode("utf-8", "replace"))
    record.model.save(_place(order, MODEL))
    if record.model.loss is not None:
        state.write(_place(order, COSTS), record.model.loss.toml().encode())
    return {**_describe(record), "command": command, "remarks": remarks}


def _look(order: Order, learner: Learner | None, reading: dict[str, Any], model: Model | None) -> Look:
    loss = None if order.costs is None else Loss(order.costs, order.abstain)
    return look(order.data, order.target, learner, loss=loss, picture=True, model=model, **reading)


def _learner(name: str | None) -> Learner | None:
    """A learner as a comparison names it, or as one writes it; None: the usual one."""
    if name is None:
        return None
    return field_of(0)[0].get(name) or read_learner(name)


def _describe(record: Look) -> Answer:
    """What was found, in a few words and numbers; the page says the rest."""
    assert record.model is not None
    decisions = None
    if record.decisions is not None:
        found = record.decisions
        decisions = {
            "sentence": cost_sentence(found, learner_name(record)),
            "mean": found.mean,
            "baseline": found.baseline,
            "constant": found.constant,
            "constant_mean": found.constant_mean,
            "actions": list(found.actions),
            "table": [list(row) for row in found.table],
        }
    return {
        "target": record.target,
        "classes": list(record.classes),
        "counts": list(record.classes.values()),
        "learner": learner_name(record),
        "headline": present_look(record).headline.partition("\n")[2],
        "warnings": len(record.warnings),
        "decisions": decisions,
        **_exports(record.model),
    }


def _exports(model: Model) -> Answer:
    """The languages that can say the model; or why there is none."""
    try:
        portable(model)
    except LikelyError as error:
        return {"languages": [], "no_languages": str(error)}
    return {"languages": [*(name.lower() for name in languages_of(model)), "python", "javascript"], "no_languages": ""}


def _compare(order: Order, progress: Tell) -> Answer:
    """Learners side by side."""
    record = compare(order.data, order.target, progress=progress, **order.reading)
    if all(one.scores is None for one in record.learners):
        raise SettingError(record.learners[0].refused)
    names = [one.name for one in record.learners if one.scores is not None]
    return {"names": names, "target": order.target, **_report(present_comparison(record))}


def _report(report: Document) -> Answer:
    return {
        "headline": report.headline,
        "tables": [_table(table) for table in report.tables],
        "remarks": list(report.remarks),
    }


def _table(table: Table) -> Answer:
    rows = [[str(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "header": list(table.header), "rows": rows, "right": sorted(table.right)}


def _predict(order: Order, progress: Tell) -> Answer:
    """Predictions for another table, as a file."""
    model = load_model(_place(order, MODEL))
    done = predict_table(model, order.data, _place(order, order.out), Reading(progress=progress), keep=order.keep)
    return {"file": order.out, "rows": done.rows, "remarks": list(done.remarks)}


def _decide(order: Order, progress: Tell) -> Answer:
    """Decisions about another table, by the costs that the model was learned with."""
    how = decider(load_model(_place(order, MODEL)))
    done = decide_table(how, order.data, _place(order, order.out), Reading(progress=progress), keep=order.keep)
    return {"file": order.out, "rows": done.rows, "chosen": done.chosen, "remarks": list(done.remarks)}


def _export(order: Order, _: Tell) -> Answer:
    """The model in another language, as a file."""
    model = load_model(_place(order, MODEL))
    export(model, order.language, _place(order, order.out))  # type: ignore[call-overload]
    return {"file": order.out, "remarks": []}


def _place(order: Order, name: str) -> str:
    return os.path.join(order.folder, name)


WORK: dict[str, Callable[[Order, Tell], Answer]] = {
    "read": _read,
    "learn": _learn,
    "compare": _compare,
    "predict": _predict,
    "decide": _decide,
    "export": _export,
}


if __name__ == "__main__":
    main()
