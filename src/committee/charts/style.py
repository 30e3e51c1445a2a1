"""Define the fonts and colours of all charts, and import altair when the first chart is drawn."""

from __future__ import annotations

import importlib
from os import PathLike
from typing import Any, Protocol

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
INK, GREY, PALE = "#1f2933", "#7b8794", "#e4e7eb"
ACCENT, SECOND = "#c2410c", "#1d4ed8"
# The colours of classes, members and series, in this order. Colour-blind readers can distinguish them, after
# M. Okabe, K. Ito, "Color universal design" (2008).
PALETTE = (SECOND, ACCENT, "#009e73", "#e69f00", "#cc79a7", "#56b4e9", GREY, "#6b4c9a")


class Chart(Protocol):
    """The interface of altair's charts. Its own types would make every importing module import altair."""

    def to_dict(self) -> dict[str, Any]:
        """Return the Vega-Lite specification."""

    def save(self, path: str | PathLike[str], **options: object) -> None:
        """Write a file."""


def altair() -> Any:
    """Import and return altair."""
    try:
        return importlib.import_module("altair")
    except ImportError as error:
        raise ImportError("Charts need altair. Install committee[plot].") from error


def styled(chart: Any, title: str = "", subtitle: str = "") -> Chart:
    """Add a title to a chart, and set the fonts and colours."""
    if title or subtitle:
        chart = chart.properties(title=title_of(title, subtitle))
    found: Chart = (
        chart.configure(background="white", padding=16, font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=INK,
            domainColor=GREY,
            tickColor=GREY,
            gridColor=PALE,
            titlePadding=10,
        )
        .configure_legend(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelColor=INK, titleColor=INK
        )
    )
    return found


def mixed(colour: str, share: float) -> str:
    """Mix a share of a colour with white.

    Examples
    --------
    >>> mixed("#c2410c", 0.0), mixed("#c2410c", 1.0)
    ('#ffffff', '#c2410c')
    """
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)


def colour_of(number: int) -> str:
    """Return the colour of a class, member or series. Colours repeat if there are many.

    Examples
    --------
    >>> colour_of(0) == colour_of(len(PALETTE)) == PALETTE[0]
    True
    """
    return PALETTE[number % len(PALETTE)]


def title_of(title: str, subtitle: str) -> Any:
    """Make a title with a subtitle. Vega drops the subtitle of an empty title, so it becomes the title."""
    below = {"fontSize": 12, "fontWeight": "normal", "color": GREY, "font": FONT}
    placed = {"anchor": "start", "frame": "group", "offset": 14}
    if not title:
        return altair().TitleParams(subtitle, **below, **placed)
    return altair().TitleParams(
        title,
        **({"subtitle": subtitle} if subtitle else {}),
        fontSize=15,
        fontWeight="bold",
        color=INK,
        font=FONT,
        subtitleFontSize=12,
        subtitleColor=GREY,
        subtitleFont=FONT,
        subtitlePadding=4,
        **placed,
    )
