"""Encode a table as a matrix of finite numbers, for members and rules that need one.

In: a table of any kind. Out: a column for each number, with missing values replaced by the median, shifted
and scaled; and for each category one indicator column per value.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from committee.combining.rule import Rule
from committee.parameters import check_parameters, declared, integer, one_of, parameter
from committee.saving import Fields, Saveable
from committee.saving.format.file_errors import require
from committee.saving.states.encoding_state import learnt_encoding, take_encoding
from committee.saving.states.state import KeptRule, check_rule
from committee.table import Table, keep_schema, predict_table, read, takes_any_table
from committee.table.column_summaries import (
    as_numbers,
    frequent_codes,
    mean_and_deviation,
    median_of,
    spread_of,
)
from committee.table.input_types import ArrayLike, TableLike
from committee.table.matrix_encoding import SCALINGS, MatrixEncoding
from committee.task import Classification, Regression, row_weights


@declared
class TableEncoder(TransformerMixin, Saveable, BaseEstimator):
    """Encode a table with categories and missing values as a matrix of numbers.

    A missing or infinite number is replaced by the median of its column; columns are then shifted and scaled
    (`scaling`). A category becomes an indicator column for each of its values. A missing value, or one that
    the fit has not seen, is 0 in all of them.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_columns,)
        Only if all column names are text.
    schema_ : Schema
        The columns of the training table.
    medians_, means_, deviations_ : ndarray of shape (n_columns,)
        The replacements of missing numbers, the shifts and the scales; 0, 0 and 1 for categories.
    kept_ : list of ndarray
        For each column of the table, the codes of the values that have a column; empty for numbers.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20.0, 40.0, None], "city": ["Oslo", "Bonn", "Oslo"]})
    >>> TableEncoder().fit_transform(frame).round(2)
    array([[-0.71,  0.  ,  1.  ],
           [ 1.41,  1.  ,  0.  ],
           [-0.71,  0.  ,  1.  ]])
    """

    max_categories: int = parameter(
        32,
        integer(1),
        "The largest number of values of a category that get a column: the most frequent, the first of ties.",
    )
    scaling: str = parameter(
        "standard",
        one_of(*SCALINGS),
        'The scaling of numbers. "standard" gives mean 0 and standard deviation 1. "robust" gives median 0 '
        "and quartiles at a distance of 1, and compresses outliers to less than 3 (Holzmüller et al. 2024). "
        "No single number is large then, which suits networks and linear models.",
    )

    def fit(self, X: TableLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn medians, means and deviations of numbers, and the values of categories.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : None
            Ignored.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows: a row of weight 2 is the row twice.

        Returns
        -------
        self
        """
        check_parameters(self)
        table = read(X)
        weights = row_weights(sample_weight, table.n_rows)
        return self._fit_table(table, np.ones(table.n_rows) if weights is None else weights)

    def transform(self, X: TableLike) -> np.ndarray:
        """Encode a table as a matrix.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_features_out)
        """
        if not self._has_learnt():
            check_is_fitted(self)
        return self._transform_table(predict_table(self, X))

    def _fit_table(self, table: Table, weights: np.ndarray) -> Self:
        n_columns = table.schema.n_columns
        medians, means, deviations = np.zeros(n_columns), np.zeros(n_columns), np.ones(n_columns)
        kept = [np.empty(0, dtype=np.int64)] * n_columns
        for i, (values, is_category) in enumerate(zip(table.columns, table.schema.is_category, strict=True)):
            if is_category:
                kept[i] = frequent_codes(values, weights, self.max_categories)
            else:
                numbers = as_numbers(values)
                medians[i] = median_of(numbers, weights)
                filled = np.where(np.isnan(numbers), medians[i], numbers)
                if self.scaling == "robust":
                    means[i], deviations[i] = medians[i], spread_of(filled, weights)
                else:
                    means[i], deviations[i] = mean_and_deviation(filled, weights)
        return self._keep(MatrixEncoding(table.schema, self.scaling, medians, means, deviations, kept))

    def _keep(self, encoding: MatrixEncoding) -> Self:
        """Store the fitted state."""
        keep_schema(self, encoding.schema)
        self.medians_, self.means_, self.deviations_ = encoding.medians, encoding.means, encoding.deviations
        self.kept_ = encoding.kept
        self._encoding = encoding
        return self

    def _transform_table(self, table: Table) -> np.ndarray:
        return self._encoding.encode(table)

    def __sklearn_tags__(self) -> Tags:
        return takes_any_table(super().__sklearn_tags__())

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return "_encoding" in self.__dict__

    def _learnt(self) -> dict[str, object]:
        return learnt_encoding(self._encoding)

    def _take_learnt(self, fields: Fields) -> None:
        self._keep(take_encoding(fields, self.scaling))


def fitted_rule(
    kept: KeptRule, n_members: int, n_columns: int, task: Classification | Regression
) -> tuple[Rule | None, TableEncoder | None]:
    """Take the rule and the encoder from a file; raise `DamagedFile` if they are for another committee."""
    taken = Fields(vars(kept))
    rule, encoder = taken.optional("rule", Rule), taken.optional("encoder", TableEncoder)
    check_rule(rule, n_members, task)
    if rule is not None:
        require(
            (encoder is not None) == rule._looks_at_X(), "The rule uses the columns of X without an encoder"
        )
    is_same = encoder is None or encoder.n_features_in_ == n_columns
    require(is_same, "The rows are encoded with other columns")
    return rule, encoder


def new_encoder(**parameters: object) -> TableEncoder:
    """Make an encoder with some parameters."""
    made: Any = TableEncoder
    return made(**parameters)
