"""The plane of two columns: its grid, the rows on it, and the labels that models give to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.charts.plots import N_CELLS, SHAPES, axis, field
from committee.charts.style import INK, altair, colour_of, mixed
from committee.table.input_types import ArrayLike, TableLike

# The margin around the rows, as a share of their range.
MARGIN = 0.06
# The strength of the colours of a field, so that the points remain visible.
STRENGTH = 0.3


@dataclass(frozen=True, eq=False)
class Plane:
    """Rows of two columns of numbers with their classes.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
    names : tuple of str
        The names of the columns.
    codes : ndarray of int of shape (n_rows,)
        The classes of the rows.
    classes : ndarray of shape (n_classes,)
    backend : object
        The kind of the frame, or None for an array.
    """

    points: np.ndarray
    names: tuple[str, str]
    codes: np.ndarray
    classes: np.ndarray
    backend: Any = None

    @classmethod
    def of(cls, X: TableLike, y: ArrayLike | None) -> Plane:
        """Read a table of two columns and the classes of its rows. None gives all rows the same class.

        Examples
        --------
        >>> Plane.of([[1, 2, 3]], [0])
        Traceback (most recent call last):
        ValueError: X must have two columns of finite numbers, the axes of the picture. Got 3 columns.
        """
        names, backend = ("column 0", "column 1"), None
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            backend, names = frame.implementation, tuple(frame.columns)
            X = frame.to_numpy()
        points = np.asarray(X, dtype=np.float64)
        wanted = "X must have two columns of finite numbers, the axes of the picture."
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"{wanted} Got {points.shape[-1] if points.ndim else 0} columns.")
        if not np.isfinite(points).all():
            raise ValueError(f"{wanted} Fill in missing values.")
        labels = np.zeros(len(points), dtype=int) if y is None else np.asarray(y)
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(points, names, codes, classes, backend)

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges of the cells in both directions."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        margin = MARGIN * np.where(high > low, high - low, 1.0)
        across, up = np.linspace(low - margin, high + margin, N_CELLS + 1).T
        return across, up

    @property
    def grid(self) -> Any:
        """The centers of all cells, row by row, in a container of the kind of X."""
        centers = [(each[1:] + each[:-1]) / 2 for each in self.edges]
        across, up = (each.ravel() for each in np.meshgrid(*centers))
        if self.backend is None:
            return np.column_stack([across, up])
        return nw.from_dict(
            dict(zip(self.names, (across, up), strict=True)), backend=self.backend
        ).to_native()

    def codes_of(self, labels: ArrayLike) -> np.ndarray:
        """Return the codes of labels."""
        return np.searchsorted(self.classes, np.asarray(labels))

    def axes(self, is_bare: bool) -> dict[str, Any]:
        """Return the encodings of both axes. Bare axes have no labels."""
        alt = altair()
        found = {}
        for name, title, edges in zip(("x", "y"), self.names, self.edges, strict=True):
            given = axis(name, "" if is_bare else title, (float(edges[0]), float(edges[-1])))
            if is_bare:
                given["axis"] = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
            found[name] = (alt.X if name == "x" else alt.Y)(**given)
        return found

    def field(self, codes: np.ndarray, colours: Mapping[int, str] | None = None) -> Any:
        """Fill the cells with the colours of codes, by default of classes."""
        if colours is None:
            colours = {code: mixed(colour_of(code), STRENGTH) for code in range(len(self.classes))}
        return field(np.asarray(codes).reshape(N_CELLS, N_CELLS), colours, *self.edges)

    def rows(
        self,
        *,
        weights: np.ndarray | None = None,
        is_wrong: np.ndarray | None = None,
        is_bare: bool = True,
        in_ink: bool = False,
    ) -> Any:
        """Draw the rows as points. The colour and the shape are the class, and the area is the weight."""
        alt = altair()
        shares = np.ones(len(self.points)) if weights is None else weights / weights.mean()
        values = [
            {"x": float(x), "y": float(y), "class": str(self.classes[code]), "weight": float(share)}
            | {"is_wrong": bool(is_wrong is not None and is_wrong[row])}
            for row, ((x, y), code, share) in enumerate(zip(self.points, self.codes, shares, strict=True))
        ]
        names = [str(each) for each in self.classes]
        colours = [INK if in_ink else colour_of(code) for code in range(len(names))]
        shapes = [SHAPES[code % len(SHAPES)] for code in range(len(names))]
        data = alt.Data(values=values)
        shape = alt.Shape("class:N", scale=alt.Scale(domain=names, range=shapes), legend=None)
        colour = alt.Color("class:N", scale=alt.Scale(domain=names, range=colours), legend=None)
        # The area of a point of mean weight, in square pixels.
        size = 26 if len(values) > 60 else 42
        area = alt.Size(
            "weight:Q", scale=alt.Scale(domain=[0, 12], range=[2, 12 * size], clamp=True), legend=None
        )
        marks = alt.Chart(data).mark_point(filled=True, opacity=0.95, stroke="white", strokeWidth=0.6)
        drawn = marks.encode(**self.axes(is_bare), color=colour, shape=shape, size=area)
        if is_wrong is None:
            return drawn
        cross = alt.Chart(alt.Data(values=[each for each in values if each["is_wrong"]])).mark_text(
            text="×", fontSize=15, fontWeight="bold", color=INK
        )
        return drawn + cross.encode(**self.axes(is_bare))

    def panel(self, layers: Sequence[Any], title: Any, width: float = 190.0, height: float = 165.0) -> Any:
        """Lay layers over one another, as one of several charts."""
        return altair().layer(*layers).properties(width=width, height=height, title=title)


def member_labels(model: Any, X: Any, plane: Plane) -> np.ndarray:
    """Return the codes of the labels that the members of a fitted ensemble give, (n_members, n_rows)."""
    if hasattr(model, "votes"):
        return plane.codes_of(np.asarray(model.classes_)[np.asarray(model.votes(X)).argmax(axis=2)])
    if not hasattr(model, "estimators_"):
        raise ValueError(f"The picture needs a fitted ensemble of classifiers. Got {type(model).__name__}.")
    return np.array([plane.codes_of(member.predict(X)) for member in model.estimators_])


def member_names(model: Any, n_members: int) -> list[str]:
    """Return the names of the members, or their numbers."""
    named = getattr(model, "estimators", None)
    if isinstance(named, list) and len(named) == n_members:
        return [name for name, _ in named]
    return [f"member {place + 1}" for place in range(n_members)]
