"""Draw lines, dots, boxes and words at given pixels as one Vega-Lite chart.

It is for charts whose layout matters, such as a critical difference diagram. Marks of the same style share a
layer.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from committee.charts.style import FONT, GREY, INK, PALE, Chart, altair, styled

Record = dict[str, float | str]
# The mean width of a letter, as a share of the font size.
LETTER = 0.56


class Canvas:
    """A drawing area. y grows downwards.

    Parameters
    ----------
    width, height : float
        In pixels.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._layers: dict[tuple[Any, ...], list[Record]] = defaultdict(list)

    def line(
        self,
        x: float,
        y: float,
        x2: float,
        y2: float,
        *,
        thick: float = 1.0,
        colour: str = INK,
        dashes: tuple[int, ...] = (),
        about: str = "",
    ) -> None:
        """Draw a line. The tooltip shows `about`."""
        style = ("rule", thick, colour, dashes)
        self._layers[style].append({"x": x, "y": y, "x2": x2, "y2": y2, "about": about})

    def dot(self, x: float, y: float, *, size: float = 40.0, colour: str = INK, about: str = "") -> None:
        """Draw a dot. Its size is in square pixels."""
        self._layers["point", size, colour].append({"x": x, "y": y, "about": about})

    def box(self, x: float, y: float, x2: float, y2: float, *, colour: str, about: str = "") -> None:
        """Fill a box."""
        self._layers["rect", colour].append({"x": x, "y": y, "x2": x2, "y2": y2, "about": about})

    def word(
        self,
        x: float,
        y: float,
        text: str,
        *,
        align: str = "left",
        size: float = 13.0,
        colour: str = INK,
        is_bold: bool = False,
        about: str = "",
    ) -> None:
        """Write a word, vertically centered at y."""
        style = ("text", align, size, colour, is_bold)
        self._layers[style].append({"x": x, "y": y, "text": text, "about": about})

    def cell(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: str = "",
        *,
        colour: str = PALE,
        ink: str = INK,
        size: float = 12.0,
        is_bold: bool = False,
        about: str = "",
    ) -> None:
        """Draw a cell of a table: a box with a gap of one pixel around it, and a word in its middle."""
        self.box(x + 1, y + 1, x + width - 1, y + height - 1, colour=colour, about=about)
        if text:
            style = ("text", "center", size, ink, is_bold)
            middle = {"x": x + width / 2, "y": y + height / 2}
            self._layers[style].append({**middle, "text": text, "about": about})

    def label(self, x: float, y: float, text: str, *, size: float = 12.0) -> None:
        """Write a word in the middle of a line, with a white edge that covers the line."""
        self._layers["halo", size].append({"x": x, "y": y, "text": text, "about": ""})
        self.word(x, y, text, align="center", size=size)

    def arrow(self, x: float, y: float, x2: float, y2: float, *, colour: str = GREY) -> None:
        """Draw an arrow to the right."""
        self.line(x, y, x2 - 6, y2, colour=colour, thick=1.4)
        self.word(x2 + 1, y2, "▸", align="right", size=15, colour=colour)

    def chart(self, title: str = "", subtitle: str = "") -> Chart:
        """Return an altair chart with the colours and fonts of all charts."""
        return styled(self.layers(), title, subtitle)

    def layers(self) -> Any:
        """Return the marks: boxes at the bottom, followed by lines, dots and words."""
        order = ("rect", "rule", "halo", "point", "text")
        layers = [
            self._layer(style, records)
            for style, records in sorted(self._layers.items(), key=lambda each: order.index(each[0][0]))
        ]
        return altair().layer(*layers).properties(width=self.width, height=self.height)

    def _layer(self, style: tuple[Any, ...], records: list[Record]) -> Any:
        alt = altair()
        chart = alt.Chart(alt.Data(values=records))
        kind, *rest = style
        if kind == "rule":
            thick, colour, dashes = rest
            given = {"strokeDash": list(dashes)} if dashes else {"strokeCap": "round"}
            mark = chart.mark_rule(strokeWidth=thick, color=colour, **given)
        elif kind == "point":
            size, colour = rest
            mark = chart.mark_point(size=size, filled=True, color=colour, opacity=1.0)
        elif kind == "rect":
            mark = chart.mark_rect(color=rest[0])
        elif kind == "halo":
            mark = chart.mark_text(
                baseline="middle",
                fontSize=rest[0],
                font=FONT,
                stroke="white",
                strokeWidth=7,
                strokeJoin="round",
                color="white",
            )
        else:
            align, size, colour, is_bold = rest
            weight = "bold" if is_bold else "normal"
            mark = chart.mark_text(
                align=align, baseline="middle", fontSize=size, color=colour, fontWeight=weight, font=FONT
            )
        across = alt.Scale(domain=[0, self.width], nice=False, zero=False)
        down = alt.Scale(domain=[self.height, 0], nice=False, zero=False)
        places = {"x": alt.X("x:Q", scale=across, axis=None), "y": alt.Y("y:Q", scale=down, axis=None)}
        if kind in ("rule", "rect"):
            places |= {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
        if kind in ("halo", "text"):
            places["text"] = alt.Text("text:N")
        if any(record["about"] for record in records):
            places["tooltip"] = alt.Tooltip("about:N", title=" ")
        return mark.encode(**places)


def width_of(text: str, size: float = 13.0) -> float:
    """Estimate the width of a word in pixels.

    Examples
    --------
    >>> round(width_of("forest"))
    44
    """
    return LETTER * size * len(text)
