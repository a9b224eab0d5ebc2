"""Tables of the documents that are made of something else: of what learners can do, and of the pages of benchmarks/.

Each is a function that gives lines of Markdown. `scripts/docs` puts them where `<!-- begin: table NAME -->` stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
LANGUAGES = ("sql", "onnx", "pmml", "json", "python", "javascript")
RIVALS = {"auto": "**likely**"}


# -- learner × language -----------------------------------------------------------------------------------------------


def sample_tables() -> dict[str, dict[str, list[Any]]]:
    """Small tables, one for each kind of column and one with two kinds; 60 rows, three classes."""
    codes = [(7 * k) % 3 for k in range(60)]
    labels = [f"c{c}" for c in codes]
    levels = {f"l{j}": [f"v{(c + k * (j + 1)) % 4}" for k, c in enumerate(codes)] for j in range(3)}
    numbers = {f"x{j}": [c + ((k * (3 + j)) % 11) / 5 for k, c in enumerate(codes)] for j in range(3)}
    words = [["free", "prize", "win"], ["meeting", "monday", "plan"], ["goal", "match", "team"]]
    texts = {"t": [" ".join(words[c][(k + j) % 3] for j in range(2)) + f" w{k % 5}" for k, c in enumerate(codes)]}
    kinds: dict[str, dict[str, list[Any]]] = {
        "levels": levels,
        "numbers": numbers,
        "mixed": {**levels, **numbers},
        "text": texts,
    }
    return {kind: {**columns, "y": labels} for kind, columns in kinds.items()}


def export_rows() -> dict[str, dict[str, list[str]]]:
    """For each learner and language the kinds of tables whose models can be written; under "" those it learns from."""
    import likely
    from likely.errors import LikelyError
    from likely.models.registry import LEARNERS

    out: dict[str, dict[str, list[str]]] = {}
    tables = sample_tables()
    for name, learner in sorted(LEARNERS.items()):
        can: dict[str, list[str]] = {language: [] for language in ("", *LANGUAGES)}
        for kind, table in tables.items():
            try:
                types = {column: "text" for column in table if column == "t"}
                model = likely.fit(table, "y", _instance(name, learner), types=types)
            except LikelyError:
                continue
            rows = ({key: cells[k] for key, cells in table.items() if key != "y"} for k in range(12))
            if len({str(model.posterior(row)) for row in rows}) == 1:
                continue  # it leaves such columns out
            can[""].append(kind)
            for language in LANGUAGES:
                try:
                    likely.export(model, language)
                except LikelyError:
                    continue
                can[language].append(kind)
        out[name] = can
    return out


def _instance(name: str, learner: Any) -> Any:
    """The learner as it comes; those that are made of others get naive Bayes and logistic regression."""
    import likely

    members = [likely.NaiveBayes(), likely.Logistic()]
    made: dict[str, Any] = {"Pool": lambda: learner(members), "Mixture": lambda: learner(members, weights=[0.5, 0.5])}
    made["Gibbs"] = lambda: learner(likely.NaiveBayes())
    return made.get(name, learner)()


def exports() -> str:
    rows = [["learner", "learns from", *LANGUAGES], ["---"] * (2 + len(LANGUAGES))]
    for name, can in export_rows().items():
        if can[""]:
            rows.append([f"`{name}`", ", ".join(can[""]), *(_kinds(can[language], can[""]) for language in LANGUAGES)])
    return _table(rows)


def _kinds(able: list[str], learned: list[str]) -> str:
    if not able:
        return "–"
    if able == learned:
        return "yes"
    return "all but text" if able == [kind for kind in learned if kind != "text"] else ", ".join(able)


# -- pages of benchmarks ----------------------------------------------------------------------------------------------


def quality() -> str:
    """Ranks and means of QUALITY.md, small sets beside larger tables."""
    page = _page("QUALITY.md")
    keel, larger = (_rows_after(page, title) for title in ("## 43 sets of KEEL", "## 26 larger tables"))
    heads = ("small sets: rank by log loss", "by accuracy", "seconds", "larger tables: rank by log loss", "by accuracy")
    out = [f"| | {' | '.join(heads)} | seconds |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, a in keel.items():
        b = larger[name]
        cells = [a["mean rank of 10"], a["mean rank of 10 (2)"], a["seconds: mean"]]
        cells += [b["mean rank of 10"], b["mean rank of 10 (2)"], b["seconds: mean"]]
        out.append("| " + " | ".join([RIVALS.get(name, name), *cells]) + " |")
    return "\n".join(out)


def scores() -> str:
    """Ranks, mean scores and seconds of QUALITY.md, small sets before larger tables."""
    keys = {"rank by log loss": "mean rank of 10", "log loss": "log loss: mean", "accuracy": "accuracy: mean"}
    keys |= {"calibration error": "calibration error", "seconds": "seconds: mean"}
    out = []
    for title, size in (("## 43 sets of KEEL", "small sets"), ("## 26 larger tables", "larger tables")):
        rows = _rows_after(_page("QUALITY.md"), title)
        out += [f"| {size} | {' | '.join(keys)} |", "|---|" + "---:|" * len(keys)]
        out += [
            f"| {RIVALS.get(name, name)} | {' | '.join(row[key] for key in keys.values())} |"
            for name, row in rows.items()
        ]
        out.append("")
    return "\n".join(out[:-1])


def lost() -> str:
    """The sets of QUALITY.md on which likely's default is behind the best of the others by the most log loss."""
    found = []
    for block in re.split(r"^### ", _page("QUALITY.md"), flags=re.MULTILINE)[1:]:
        name = block.splitlines()[0].strip()
        rows = _rows_after(block, name)
        losses = {who: float(row["log loss"]) for who, row in rows.items()}
        ours = losses.pop("auto")
        best = min(losses, key=lambda who: losses[who])
        found.append((losses[best] - ours, name, ours, best, losses[best]))
    worse = sorted(entry for entry in found if entry[0] < 0)
    out = ["| set | likely | best of the others | |", "|---|---:|---:|---|"]
    out += [f"| {name} | {ours:.4f} | {theirs:.4f} | {who} |" for _, name, ours, who, theirs in worse[:8]]
    first = f"likely has the lowest log loss on {len(found) - len(worse)} of {len(found)} sets."
    return "\n".join([f"{first} Where it is furthest behind:", "", *out])


def additive() -> str:
    """Log losses of ADDITIVE.md: order 2, the best order and the best of the others, and where another one is ahead."""
    rows = _rows_after(_page("ADDITIVE.md"), "## Log loss on unseen rows (nats)")
    out = ["| table | order 2 | best order | | best of the others | | ratio |", "|---|---:|---:|---|---:|---|---:|"]
    for name, row in rows.items():
        figures = {head: float(cell) for head, cell in row.items() if re.fullmatch(r"[\d.]+", cell)}
        ratio = figures.pop("best order / best boosting")
        ours = {head: loss for head, loss in figures.items() if head.startswith("Additive")}
        first, other = min(ours, key=ours.__getitem__), min(figures.keys() - ours, key=figures.__getitem__)
        cells = [name, f"{ours['Additive order 2']:.4f}", f"{ours[first]:.4f}", first.split()[-1]]
        out.append("| " + " | ".join([*cells, f"{figures[other]:.4f}", other, f"{ratio:.3f}"]) + " |")
    behind = [name for name, row in rows.items() if float(row["best order / best boosting"]) > 1]
    last = f"On {len(behind)} of these {len(rows)} tables another one is ahead of every order: {', '.join(behind)}."
    return "\n".join([*out, "", last])


def text() -> str:
    """Accuracy and log loss on texts: of the contestants of TEXT.md ours, and the best of each kind."""
    lines = _section("TEXT.md", "## How well: 20 Newsgroups").splitlines()
    shown = (
        "**likely",
        "MultinomialNB(.01)",
        "log tf-idf, ComplementNB(.1)",
        "log tf-idf, Log",
        "log tf-idf, LinearSVC, cal",
    )
    return "\n".join([*lines[:2], *(line for line in lines[2:] if line[2:].startswith(shown))])


def naive() -> str:
    return _section("CLUSTER.md", "# likely beside other naive Bayes")


def core() -> str:
    """The lines of RESULTS.md that say most: those that have an aim, of the largest table."""
    lines = _section("RESULTS.md", "# Benchmarks of the core").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    told = [
        row for row in rows[2:] if row[2] and not re.search(r"\b[12],000,000 rows$|nothing compiled|read-only", row[0])
    ]
    return _table([[row[0], row[1], row[2]] for row in [*rows[:2], *told]])


def report() -> str:
    return _section("REPORT.md", "# A report from a fresh process")


def partly() -> str:
    return _section("PARTLY_KNOWN.md", "# Rows of which only a part is known")


def missed() -> str:
    """Every aim that was missed, of all pages that have aims."""
    out = []
    for page in ("QUALITY.md", "RESULTS.md", "FAMILY.md", "TEXT.md"):
        heading = ""
        for line in _page(page).splitlines():
            if line.startswith("| **"):
                heading = line.strip("| *")
            if line.startswith("|") and "missed" in line and not line.startswith("| aim"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                what = f"{cells[0]} ({heading})" if page == "QUALITY.md" and heading else cells[0]
                wanted = next(c for c in cells if re.search(r"[≤≥<]", c))
                got = _measured(page, cells, wanted)
                out.append(f"| {what} | {got} | {wanted.replace(' missed', '')} | [{page}](../benchmarks/{page}) |")
    return "\n".join(["| what | measured | aim | |", "|---|---:|---:|---|", *out])


def _measured(page: str, cells: list[str], wanted: str) -> str:
    before = cells[: cells.index(wanted)]
    return before[-1] if len(before) > 1 else before[0]


def value(key: str) -> str:
    """One cell of a page of benchmarks/: `page|title of a section|first cell of the row|head of the column`."""
    page, title, row, head = key.split("|")
    return _rows_after(_page(page), title)[row][head]


def _page(name: str) -> str:
    return (BENCHMARKS / name).read_text(encoding="utf-8")


def _section(page: str, title: str) -> str:
    """The first table after a heading, as it stands."""
    after = _page(page).split(title, 1)[1].splitlines()[1:]
    start = next(k for k, line in enumerate(after) if line.startswith("|"))
    end = next((k for k in range(start, len(after)) if not after[k].startswith("|")), len(after))
    return "\n".join(after[start:end])


def _rows_after(text: str, title: str) -> dict[str, dict[str, str]]:
    """The first table after a title: rows by their first cell, cells by heads; a second head of a name is numbered."""
    lines = [line for line in text.split(title, 1)[1].splitlines() if line.strip()]
    start = next(k for k, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    heads: list[str] = []
    for head in rows[0]:
        heads.append(f"{head} (2)" if head in heads else head)
    return {row[0]: dict(zip(heads, row, strict=True)) for row in rows[2:]}


def reading() -> str:
    """What may be said about reading a table, as it is declared."""
    from likely.intake.options import Reading, option_flag
    from likely.models.settings import declared

    rows = [["in Python", "option", "default", "meaning"], ["---"] * 4]
    for name, default, about in declared(Reading):
        form = about.form
        flags = [option_flag(part) for part in form.parts] if form is not None and form.parts else [option_flag(name)]
        written = (
            ", ".join(f"`{flag}`" for flag in flags) if about.group or form is not None or default is False else ""
        )
        rows.append([f"`{name}`", written, f"`{default!r}`", about.meaning.replace("|", "\\|")])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


TABLES: dict[str, Callable[[], str]] = {
    "exports": exports,
    "quality": quality,
    "scores": scores,
    "lost": lost,
    "additive": additive,
    "text": text,
    "naive": naive,
    "core": core,
    "report": report,
    "partly": partly,
    "reading": reading,
    "missed": missed,
}
