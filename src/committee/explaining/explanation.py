"""Define the result of `explain`: attributions that sum to the decision."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from committee.printing import aligned
from committee.table.schema import take_rows

# The number of columns that are shown.
MOST_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Explanation:
    """How much each column contributes to the decision on each row: Shapley values.

    The attributions of a row and `base_value` sum to the decision on the scale `scale`. They are exact, or
    estimated if `standard_errors` is not None.

    Parameters
    ----------
    attributions : ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_classes)
        In the units of the scale. Log-odds of two classes, and numbers, have no axis of classes.
    base_value : float or ndarray of shape (n_classes,)
        The decision without knowledge of any column.
    scale : {"probability", "log_odds", "decision", "target", "log_target"}
        What the attributions sum to: the probabilities; the log-odds of the second of two classes, or for
        more classes the scores whose softmax (for `one_versus_all`, logistic function) gives the
        probabilities; the decision function of AdaBoost; the predicted number, or its logarithm.
    method : {"path_dependent", "interventional", "sampling"}
        What happens to the columns outside of a coalition: they follow the training rows of each node, or
        they have the values of background rows. "sampling" estimates the latter.
    columns : tuple of str
        The columns of the user's table.
    classes : ndarray, or None
        The classes of the last axis, or those of the log-odds. None for numbers.
    standard_errors : ndarray of the shape of the attributions, or None
        The standard errors of estimates.
    interactions : ndarray of shape (n_rows, n_columns, n_columns) or with an axis of classes, or None
        The interaction values of pairs of columns, if they were requested: half of the joint effect of two
        columns in each of the two places, and the main effect of a column on the diagonal. They sum over the
        last axis of columns to the attributions.
    data : object
        The explained table.

    Examples
    --------
    >>> from committee import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1, 0], [2, 0], [9, 1]], [0.0, 0.0, 6.0])
    >>> explanation = tree.explain([[1, 0], [9, 1]])
    >>> explanation.base_value, explanation.attributions
    (2.0, array([[-2.,  0.],
           [ 4.,  0.]]))
    >>> explanation.sums
    array([0., 6.])
    """

    attributions: np.ndarray
    base_value: Any
    scale: str
    method: str
    columns: tuple[str, ...]
    classes: np.ndarray | None
    standard_errors: np.ndarray | None = None
    interactions: np.ndarray | None = None
    data: Any = field(default=None, repr=False)

    @property
    def is_exact(self) -> bool:
        """Whether the attributions are exact Shapley values, not estimates."""
        return self.standard_errors is None

    @property
    def sums(self) -> np.ndarray:
        """The decision on the scale: the attributions of each row and the base value."""
        sums: np.ndarray = self.base_value + self.attributions.sum(axis=1)
        return sums

    @property
    def importances(self) -> np.ndarray:
        """The mean absolute attribution of each column, summed over classes."""
        sizes = np.abs(self.attributions).mean(axis=0)
        return sizes.sum(axis=1) if sizes.ndim == 2 else sizes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.attributions)

    def __getitem__(self, rows: Any) -> Explanation:
        """Return the explanation of some rows, selected by a slice, a mask or a list of positions."""
        chosen = np.arange(len(self))[rows]
        if chosen.ndim == 0:
            chosen = chosen[np.newaxis]
        return replace(
            self,
            attributions=self.attributions[chosen],
            standard_errors=None if self.standard_errors is None else self.standard_errors[chosen],
            interactions=None if self.interactions is None else self.interactions[chosen],
            data=take_rows(self.data, chosen),
        )

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.attributions.shape))
        title = f"Explanation of {shape} attributions ({self.scale}, {self.method})"
        table = aligned(["column", "mean |attribution|"], self._largest(), right=[1])
        return f"{title}\n{table}"

    def _repr_html_(self) -> str:
        title = html.escape(repr(self).splitlines()[0])
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{size}</td></tr>"
            for name, size in self._largest()
        )
        return (
            f"<table><caption>{title}</caption><thead><tr><th scope='col'>column</th>"
            f"<th scope='col'>mean |attribution|</th></tr></thead><tbody>{rows}</tbody></table>"
        )

    def _largest(self) -> list[list[str]]:
        """Return the names and importances of the most important columns."""
        order = np.argsort(-self.importances, kind="stable")[:MOST_SHOWN]
        return [[self.columns[place], f"{self.importances[place]:.4g}"] for place in order]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a line for each row, column and class.

        Returns
        -------
        pandas.DataFrame
            With the columns row, class (if there is an axis of classes), column, attribution, and
            standard_error for estimates.

        Examples
        --------
        >>> from committee import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[1, 0], [2, 0], [9, 1]], [0.0, 0.0, 6.0])
        >>> tree.explain([[9, 1]]).to_frame()
           row column  attribution
        0    0     x0          4.0
        1    0     x1          0.0
        """
        import pandas as pd

        has_classes = self.attributions.ndim == 3
        shape = self.attributions.shape
        places = np.indices(shape).reshape(len(shape), -1)
        found: dict[str, Any] = {
            "row": places[0],
            "column": np.asarray(self.columns, dtype=object)[places[1]],
        }
        if has_classes and self.classes is not None:
            found["class"] = self.classes[places[2]]
        found["attribution"] = self.attributions.ravel()
        if self.standard_errors is not None:
            found["standard_error"] = self.standard_errors.ravel()
        return pd.DataFrame(found)

    def to_shap(self) -> Any:
        """Return the attributions as a `shap.Explanation`, for the plots of shap, which must be installed.

        Returns
        -------
        shap.Explanation
        """
        import shap

        base = np.broadcast_to(self.base_value, self.attributions.shape[::2])
        has_classes = self.attributions.ndim == 3
        return shap.Explanation(
            values=self.attributions,
            base_values=np.array(base),
            data=np.asarray(self.data),
            feature_names=list(self.columns),
            output_names=list(map(str, self.classes)) if has_classes and self.classes is not None else None,
        )
