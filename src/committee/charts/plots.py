"""Draw curves, points and fields of colours on the axes of numbers, as layers of altair charts.

In: numbers. Out: layers without a title, which are combined with `altair.layer` and `panels`. A field covers
the plane of two columns: neighbouring cells of the same colour are one rectangle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from committee.charts.style import FONT, GREY, INK, Chart, altair, colour_of, styled, title_of

# Charts of points and curves, and small charts next to others, in pixels.
WIDTH, HEIGHT = 520, 320
# A field has this number of cells in each direction.
N_CELLS = 90
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
Records = Sequence[Mapping[str, object]]


def axis(name: str, title: str, domain: tuple[float, float] | None = None, form: str = "") -> dict[str, Any]:
    """Return the encoding of an axis of numbers, which does not need to contain 0."""
    alt = altair()
    limits = {"domain": list(domain), "nice": False} if domain else {}
    style = alt.Axis(format=form, tickCount=6) if form else alt.Axis(tickCount=6)
    return {"field": name, "type": "quantitative", "title": title or None, "axis": style} | {
        "scale": alt.Scale(zero=False, **limits)
    }


def by_series(names: Sequence[str], title: str = "") -> Any:
    """Return the encoding of the colour of series, in the order of their names."""
    alt = altair()
    scale = alt.Scale(domain=list(names), range=[colour_of(place) for place in range(len(names))])
    legend = None
    if len(names) > 1:
        # Names of levels are to the right of the chart, so the legend is below it.
        legend = alt.Legend(title=title or None, labelLimit=220, symbolStrokeWidth=3, orient="bottom")
    return alt.Color("series:N", scale=scale, legend=legend)


def curves(
    records: Records,
    names: Sequence[str],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    legend: str = "",
    thick: float = 2.2,
    steps: bool = False,
) -> Any:
    """Draw a curve for each series. Records have `x`, `y` and `series`."""
    alt = altair()
    order = {"interpolate": "step-after"} if steps else {}
    chart = alt.Chart(alt.Data(values=list(records))).mark_line(strokeWidth=thick, clip=True, **order)
    encoded = chart.encode(alt.X(**x), alt.Y(**y), by_series(names, legend))
    return encoded.properties(width=WIDTH, height=HEIGHT)


def level(value: float, text: str, *, colour: str = GREY) -> Any:
    """Draw a dashed horizontal line and a name to the right of the chart."""
    alt = altair()
    data = alt.Chart(alt.Data(values=[{"y": value, "text": text}]))
    line = data.mark_rule(color=colour, strokeDash=[5, 4], strokeWidth=1.4).encode(alt.Y("y:Q"))
    font = {"fontSize": 12, "color": INK if colour == GREY else colour, "font": FONT}
    word = data.mark_text(align="left", dx=6, **font)
    return line + word.encode(x=alt.value(WIDTH), y=alt.Y("y:Q"), text="text:N")


def field(codes: np.ndarray, colours: Mapping[int, str], x: np.ndarray, y: np.ndarray) -> Any:
    """Fill the plane with colours.

    Parameters
    ----------
    codes : ndarray of int of shape (n_y, n_x)
        The code of the colour of each cell.
    colours : mapping of int to str
    x, y : ndarray of shape (n_x + 1,) and (n_y + 1,)
        The edges of the cells.

    Returns
    -------
    altair.Chart
    """
    alt = altair()
    values: list[dict[str, Any]] = []
    open_boxes: dict[tuple[int, int, int], dict[str, Any]] = {}
    for row, line in enumerate(codes):
        begins = np.flatnonzero(np.diff(line, prepend=line[0] - 1)).tolist()
        runs = [(begin, end, int(line[begin])) for begin, end in pairwise([*begins, len(line)])]
        # A run that is the same in the previous row extends its rectangle.
        open_boxes = {run: open_boxes[run] for run in runs if run in open_boxes}
        for begin, end, code in runs:
            if (begin, end, code) not in open_boxes:
                box = {"x": float(x[begin]), "x2": float(x[end]), "y": float(y[row]), "code": code}
                open_boxes[begin, end, code] = box | {"colour": colours[code]}
                values.append(open_boxes[begin, end, code])
            open_boxes[begin, end, code]["y2"] = float(y[row + 1])
    chart = alt.Chart(alt.Data(values=values)).mark_rect(strokeWidth=1)
    places = {"x": alt.X("x:Q"), "x2": alt.X2("x2:Q"), "y": alt.Y("y:Q"), "y2": alt.Y2("y2:Q")}
    paints = {"fill": alt.Fill("colour:N", scale=None), "stroke": alt.Stroke("colour:N", scale=None)}
    return chart.encode(**places, **paints)


def panels(charts: Sequence[Any], columns: int, title: str, subtitle: str = "") -> Chart:
    """Arrange charts in rows, under one title."""
    alt = altair()
    chart = alt.concat(*charts, columns=columns, spacing={"row": 22, "column": 18})
    return styled(chart.resolve_scale(color="independent", size="shared"), title, subtitle)


def small_title(text: str, below: str = "") -> Any:
    """Make the title of a panel."""
    title = title_of(text, below)
    title.fontSize, title.subtitleFontSize, title.offset = 13, 11.5, 6
    return title
