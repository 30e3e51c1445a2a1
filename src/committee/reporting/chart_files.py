"""Write charts to SVG, PNG, PDF and HTML files. The HTML works offline."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from committee.charts.style import Chart, altair

FORMATS = ("svg", "png", "pdf", "html")
# A PNG has three times as many pixels in each direction as the chart.
SAVE_OPTIONS: dict[str, dict[str, object]] = {"html": {"inline": True}, "png": {"scale_factor": 3.0}}
# The documentation of the parameters of all functions that draw a comparison.
DRAWN = {
    "comparison": "comparison : Comparison",
    "alpha": "alpha : float, default=0.05",
    "title": 'title : str, default=""',
}


def save_picture(chart: Chart, path: str | os.PathLike[str]) -> Path:
    """Save a chart in the format of the suffix.

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
        raise ValueError(f"A chart can be saved as {', '.join(FORMATS)}. Got {place.name!r}.")
    require_renderer()
    chart.save(place, **SAVE_OPTIONS.get(form, {}))
    return place


def require_renderer() -> None:
    """Raise unless the libraries that write charts to files are installed."""
    altair()
    try:
        importlib.import_module("vl_convert")
    except ImportError as error:
        raise ImportError("Saving charts needs vl-convert-python. Install committee[report].") from error
