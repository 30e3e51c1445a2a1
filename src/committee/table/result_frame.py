"""Show results as data frames, and as HTML tables in notebooks.

In: a dataclass of numbers and arrays of the same length, or columns. Out: a frame of pandas, polars or
pyarrow, or HTML.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

BACKENDS = ("pandas", "polars", "pyarrow")
# The most rows of an HTML table.
MOST_ROWS = 24


class Tabulated:
    """A result that is a table. By default its columns are the fields of the dataclass.

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Scores(Tabulated):
    ...     metric: str
    ...     values: list[float]
    >>> Scores("error", [0.25, 0.5]).to_frame("polars").rows()
    [('error', 0.25), ('error', 0.5)]
    """

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the result as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            None means the first of these that is installed.

        Returns
        -------
        DataFrame or Table
        """
        return frame_of(self._columns(), backend)

    def _repr_html_(self) -> str:
        return html_of(type(self).__name__, self._shown_columns())

    def _shown_columns(self) -> Mapping[str, Sequence[object]]:
        """Return the columns of the HTML table."""
        return self._columns()

    def _columns(self) -> dict[str, list[Any]]:
        """Return the fields that are not None. Numbers are repeated if other fields are arrays."""
        known = dataclasses.fields(self)  # type: ignore[arg-type]
        fields = {each.name: getattr(self, each.name) for each in known if each.repr}
        parts = {name: np.ravel(value).tolist() for name, value in fields.items() if value is not None}
        n_rows = max(map(len, parts.values()))
        return {name: part * n_rows if len(part) == 1 else part for name, part in parts.items()}


def frame_of(columns: Mapping[str, Sequence[object]], backend: str | None = None) -> Any:
    """Create a data frame from columns.

    Parameters
    ----------
    columns : mapping of str to sequence
    backend : {"pandas", "polars", "pyarrow"}, default=None
        None means the first of these that is installed.

    Returns
    -------
    DataFrame or Table
    """
    if backend is None:
        backend = next((name for name in BACKENDS if importlib.util.find_spec(name) is not None), None)
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, and be installed. Got {backend!r}.")
    if importlib.util.find_spec(backend) is None:
        raise ImportError(f"backend={backend!r} needs the package. Install it, or pass another backend.")
    whose: Any = backend
    return nw.from_dict(columns, backend=whose).to_native()


def html_of(title: str, columns: Mapping[str, Sequence[object]]) -> str:
    """Write columns as an HTML table.

    Examples
    --------
    >>> html_of("Scores", {"name": ["a<b"], "error": [0.123456]}).splitlines()[-2]
    '<tr><td>a&lt;b</td><td>0.1235</td></tr>'
    """
    rows = list(zip(*columns.values(), strict=True))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = [
        "<tr>" + "".join(f"<td>{escape(cell_of(value))}</td>" for value in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    ]
    more = len(rows) - MOST_ROWS
    rest = [f'<tr><td colspan="{len(columns)}">and {more} more</td></tr>'] if more > 0 else []
    table = [f"<table><caption>{escape(title)}</caption>", f"<tr>{head}</tr>", *lines, *rest, "</table>"]
    return "\n".join(table)


def cell_of(value: object) -> str:
    """Write a value of a table: nothing for None, and numbers with four digits."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
