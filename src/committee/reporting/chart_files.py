"""Write charts to files: SVG, PNG and PDF for papers, and HTML that needs no network."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from pathlib import Path

from committee.charts.style import Chart, altair

FORMATS = ("svg", "png", "pdf", "html")
# Pixels of a PNG for each of the picture.
PNG_SCALE = 3.0
# What functions that draw a comparison say of their parameters.
DRAWN = {
    "comparison": "comparison : Comparison",
    "alpha": "alpha : float, default=0.05",
    "title": 'title : str, default=""',
}


def save_picture(chart: Chart, path: str | os.PathLike[str]) -> Path:
    """Save a chart; the suffix says the format.

    Parameters
    ----------
    chart : altair.Chart
    path : str or path
        With the suffix .svg, .png, .pdf or .html.

    Returns
    -------
    Path
    """
    place = Path(path)
    form = place.suffix.removeprefix(".")
    if form not in FORMATS:
        raise ValueError(f"A picture is saved as one of {', '.join(FORMATS)}. Got {place.name!r}.")
    require_renderer()
    if form == "html":
        chart.save(place, inline=True)
    elif form == "png":
        chart.save(place, scale_factor=PNG_SCALE)
    else:
        chart.save(place)
    return place


def save_pictures(charts: dict[str, Chart], folder: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Save charts under their names, in every format."""
    wanted = list(formats)
    return [save_picture(each, folder / f"{name}.{form}") for name, each in charts.items() for form in wanted]


def require_renderer() -> None:
    """Raise unless charts can be written to files here."""
    altair()
    try:
        importlib.import_module("vl_convert")
    except ImportError as error:
        raise ImportError("Pictures in files need vl-convert-python. Install committee[report].") from error
