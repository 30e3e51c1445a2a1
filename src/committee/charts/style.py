"""Define the fonts and colours of all charts, and import altair when the first chart is drawn."""

from __future__ import annotations

import importlib
from os import PathLike
from typing import Any, Protocol

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
INK, GREY, PALE = "#1f2933", "#7b8794", "#e4e7eb"
ACCENT, SECOND = "#c2410c", "#1d4ed8"


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
    )
    return found


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
