"""Pictures as SVG or PNG: two numbers with their classes, a line, charts of a look or a model; normal densities."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command, out_option
from likely.cli.learning import Learning, learning_options
from likely.cli.options import Values, data_argument, json_option, target_argument
from likely.errors import SettingError, shown

if TYPE_CHECKING:
    from likely.present.charts.drawing import Chart

LAYERS = ("points", "ellipses", "naive", "contours", "regions")
CHARTS = ("bits", "confusion", "reliability", "graph")


def _read_size(_: click.Context, __: click.Parameter, given: str | None) -> tuple[int, int] | None:
    """1280x720 as two whole numbers."""
    if given is None:
        return None
    parts = given.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdigit() and 64 <= int(part) <= 16_384 for part in parts):
        raise SettingError(f"--size is {shown(given)}. Give width and height in pixels, such as 1280x720.")
    return int(parts[0]), int(parts[1])


def _read_numbers(option: str, given: str | None) -> tuple[float, float] | None:
    """Two numbers with a comma between them; -inf and inf are numbers."""
    if given is None:
        return None
    try:
        low, high = (float(part) for part in given.split(","))
    except ValueError:
        raise SettingError(f"{option} is {shown(given)}. Give two numbers with a comma between them.") from None
    if math.isnan(low) or math.isnan(high):
        raise SettingError(f"{option} is {shown(given)}, which is not a number.")
    return low, high


size_option = click.option(
    "--size",
    default="1280x720",
    metavar="WxH",
    callback=_read_size,
    help="Width and height of a PNG in pixels; an SVG has their shape.",
)


@command(short_help="A picture as SVG or PNG: two numbers by class, a line, charts.")
@data_argument()
@target_argument
@click.argument("columns", nargs=-1)
@out_option("FILE.svg|FILE.png", "Output file.", "picture", required=True)
@click.option(
    "--show",
    default="points,ellipses",
    metavar="LAYERS",
    help=f"For two numbers, comma-separated: {', '.join(LAYERS)}. naive: the axis-parallel ellipses of naive Bayes.",
)
@click.option("--point", metavar="X,Y", help="One more point, for the learner to classify.")
@click.option("--level", type=float, default=0.01, help="Contours: this share of a class's greatest density.")
@click.option("--neighbors", type=click.IntRange(1), metavar="K", help="The ball of the K rows nearest to the point.")
@click.option("--line", is_flag=True, help="TARGET as a straight line of one column, with residuals.")
@click.option("--chart", type=click.Choice(CHARTS), help="A chart from `likely look`, or the graph of a model.")
@click.option("--attribute", metavar="NAME", help="The evidence of an attribute's values.")
@size_option
@learning_options
def plot(
    data: object,
    how: Learning,
    columns: tuple[str, ...],
    out: str,
    show: str,
    point: str | None,
    level: float,
    neighbors: int | None,
    line: bool,
    chart: str | None,
    attribute: str | None,
    size: tuple[int, int],
) -> None:
    """Draw two numbers of DATA by the classes of TARGET: likely plot iris.csv species petal_length petal_width -o a.png

    Without COLUMNS, the two most informative numbers are drawn. --line draws the regression of TARGET on one column;
    --chart and --attribute draw a chart of what `likely look` finds, or of a model (DATA is a file of `likely fit`).
    """
    if sum((line, chart is not None, attribute is not None)) > 1:
        raise SettingError("Choose one of --line, --chart and --attribute.")
    drawn: Chart
    if isinstance(data, str) and data.endswith(".likely"):
        from likely.apply.fitting import load_model
        from likely.classroom.plotting import plot as draw

        if chart not in (None, "graph") or line:
            raise SettingError("For a model, use --chart graph or --attribute NAME. The others need the table.")
        drawn = draw(load_model(data), None if attribute else "graph", attribute=attribute)
    elif line:
        drawn = _line(data, how, columns, size)
    elif chart is not None or attribute is not None:
        drawn = _chart(data, how, chart, attribute)
    else:
        drawn = _two_numbers(data, how, columns, (show, point, level, neighbors), size)
    drawn.save(out, size if line or not (chart or attribute) else None)
    terminal.write(f"{out}: {os.path.getsize(out):,} bytes.")


def _slide(size: tuple[int, int]) -> tuple[float, float]:
    """The size that a picture is drawn in: words keep theirs, whatever the number of pixels."""
    from likely.classroom.drawings import SIZE

    return SIZE[0], SIZE[0] * size[1] / size[0]


def _line(data: object, how: Learning, columns: tuple[str, ...], size: tuple[int, int]) -> Chart:
    from likely.classroom.pictures import straight_line
    from likely.classroom.plotting import plot as draw

    if len(columns) != 1:
        raise SettingError("A line needs one column: likely plot DATA TARGET COLUMN --line.")
    reading = {name: value for name, value in how.reading.items() if name != "types"}
    found = straight_line(data, how.target or "", columns[0], **reading)
    return draw(found, size=_slide(size))


def _chart(data: object, how: Learning, chart: str | None, attribute: str | None) -> Chart:
    from likely.classroom.plotting import plot as draw
    from likely.evaluate.look import look

    record = how.run(look, data, how.learner, picture=True)
    return draw(record, chart, attribute=attribute)


def _two_numbers(
    data: object,
    how: Learning,
    columns: tuple[str, ...],
    asked: tuple[str, str | None, float, int | None],
    size: tuple[int, int],
) -> Chart:
    from likely.classroom.pictures import two_numbers
    from likely.classroom.plotting import plot as draw

    show, point, level, neighbors = asked
    if len(columns) > 2:
        raise SettingError("A picture needs two numbers. Name two columns, or none.")
    layers = [layer.strip() for layer in show.split(",") if layer.strip()]
    more: Values = {
        "show": layers,
        "point": _read_numbers("--point", point),
        "level": level,
        "neighbors": neighbors,
        "learner": how.learner,
    }
    found = how.run(two_numbers, data, *columns, **more)
    for note in found.notes:
        terminal.say(note)
    return draw(found, size=_slide(size))


@command(short_help="A normal density: the probability between two values, drawn.")
@click.argument("mean", type=float)
@click.argument("deviation", type=float)
@click.option("--between", metavar="A,B", help="P(A ≤ x ≤ B); -inf and inf are allowed.")
@click.option("--at", type=float, metavar="X", help="f(X), the height of the density, which is no probability.")
@click.option(
    "--width", type=float, help="For --at: the width of an interval around X, whose area is about width · f(X).  [1]"
)
@out_option("FILE.svg|FILE.png", "Draw the density and the area.", "picture")
@size_option
@json_option
def normal(
    mean: float,
    deviation: float,
    between: str | None,
    at: float | None,
    width: float | None,
    out: str | None,
    size: tuple[int, int],
    as_json: bool,
) -> None:
    """Compute a probability of a normal density, given MEAN and DEVIATION: likely normal 73 6.2 --between 66,80

    With --at it gives the density at a point, and compares width · density with the exact area.

    Negative numbers go after two hyphens: likely normal --between=-1,1 -- -0.5 2
    """
    from likely.classroom.query import Normal
    from likely.sums import state

    found = Normal(mean, deviation)
    if width is not None and at is None:
        raise SettingError("--width is for --at X, the point in the middle. Give --at as well.")
    if at is not None and between is not None:
        raise SettingError("--at gives a density and --between an area. Ask for one of them.")
    wide = 1.0 if width is None else width
    if at is not None:
        ends: tuple[float, float] = found.ends_around(at, wide)
    else:
        ends = _read_numbers("--between", between) or (mean - deviation, mean + deviation)
    share = found.between(*ends)
    if out is not None:
        from likely.classroom.drawings import draw_normal
        from likely.present.charts.drawing import standalone

        standalone(draw_normal(mean, deviation, *ends, share, _slide(size))).save(out, size)
    record = {
        "mean": mean,
        "deviation": deviation,
        "between": [end if math.isfinite(end) else None for end in ends],
        "z": [z if math.isfinite(z) else None for z in map(found.standard, ends)],
        "probability": share,
    }
    if at is not None:
        height = found.density(at)
        record |= {"at": at, "density": height, "width": wide, "width_times_density": wide * height}
    if as_json:
        terminal.write_bytes(state.as_json(record))
        return
    terminal.write("\n".join(found.working(*ends) if at is None else found.working_at(at, wide)))
