"""How a result of a public function shows itself: what makes its document stands above."""

from __future__ import annotations

from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

EVALUATION, SHOWING = "likely.present.report.evaluation", "likely.present.showing"
PRESENTERS = {
    "AttributeTables": f"{SHOWING} show_tables",
    "Changes": "likely.present.report.drift present_changes",
    "Checkup": f"{EVALUATION} present_checkup",
    "Comparison": f"{SHOWING} show_comparison",
    "Counterfactual": f"{SHOWING} show_counterfactual",
    "Curve": f"{SHOWING} show_curve",
    "Decision": f"{SHOWING} show_decision",
    "Drift": "likely.present.report.drift present_drift",
    "Joint": "likely.classroom.joint_table show_joint",
    "Ledger": "likely.present.report.explanation present_ledger",
    "Judgement": "likely.present.report.card show_judgement",
    "Look": "likely.present.report.look present_look",
    "Model": "likely.present.report.model present_model",
    "Posterior": f"{SHOWING} show_posterior",
    "Questions": "likely.present.report.explanation present_questions",
    "Regression": "likely.classroom.regression present_regression",
    "Repeats": f"{EVALUATION} present_repeats",
    "Schema": f"{SHOWING} show_schema",
    "StraightLine": "likely.classroom.plotting show_straight_line",
    "SubgroupScores": f"{SHOWING} show_subgroups",
    "Summary": f"{SHOWING} show_summary",
    "Sureness": f"{SHOWING} show_sureness",
    "Trust": f"{SHOWING} show_trust",
    "TwoNumbers": "likely.classroom.plotting show_two_numbers",
}
"""What makes the document of a public result, by the name of its class: names only, imported when one is shown."""


class Presented:
    """A result that `print` shows as the terminal does, and a notebook as tables and charts."""

    __slots__ = ()

    def __repr__(self) -> str:
        headline = str(self._face("to_headline"))
        return f"<{type(self).__name__}: {headline}>"

    def __str__(self) -> str:
        if getattr(self, "one", None) is True:  # the answer for one row is printed in a line
            return repr(self)
        return str(self._face("to_text"))

    def _repr_html_(self) -> str:
        return str(self._face("to_html"))

    def _face(self, renderer: str) -> Any:
        """Its document as one of the faces writes it."""
        name = next(c.__name__ for c in type(self).__mro__ if c.__name__ in PRESENTERS)
        document = self._made("likely.present.document in_python", self._made(PRESENTERS[name], self))
        return self._made("likely.present.document " + renderer, document)

    @staticmethod
    def _made(place: str, thing: object) -> Any:
        """What a function, named with its module, makes of a thing."""
        module, _, function = place.partition(" ")
        return getattr(import_module(module), function)(thing)


def framed_page(page: str, title: str, height: int = 720) -> str:
    """A whole page inside another one: it can reach nothing around it, and is not reached by the style there."""
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads allow-popups" srcdoc="{escape(page)}" '
        f'style="width:100%;height:{height}px;border:0" loading="lazy"></iframe>'
    )


def open_page(page: str) -> str:
    """Show a page in the browser; the file that it was written to."""
    import webbrowser
    from tempfile import mkstemp

    handle, path = mkstemp(prefix="likely-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(page)
    webbrowser.open(Path(path).as_uri())
    return path
