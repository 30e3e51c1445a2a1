"""Gradient boosting with the names and defaults of scikit-learn's histogram gradient boosting."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.boosting.gradient.additive_trees import StagedClasses
from committee.boosting.gradient.objectives import check_numbers
from committee.boosting.gradient.rounds import Rounds
from committee.learners.training_data import Training
from committee.learners.tree_parameters import CLASS_WEIGHT, MONOTONIC_CST, directions_of
from committee.learners.voter import Regresses
from committee.parameters import (
    Constraint,
    boolean,
    declared,
    either,
    integer,
    is_integer,
    number,
    one_of,
    optional,
    parameter,
)
from committee.table import Schema

# early_stopping="auto" stops early with more rows than this.
MANY_ROWS = 10_000


@declared
class HistGradientBoosting(Rounds):
    """The base of histogram gradient boosting.

    Attributes
    ----------
    n_trees_per_iteration_ : int
        The number of trees of a round: 1, or the number of classes if there are more than two.
    is_categorical_ : ndarray of bool of shape (n_columns,), or None
        The columns of categories, None if there are none.
    do_early_stopping_ : bool
        Whether validation rows could end the fit.
    """

    _rounds_parameter: ClassVar[str] = "max_iter"

    max_iter: int = parameter(100, integer(1), "The number of rounds. Early stopping may reduce it.")
    min_samples_leaf: int = 20
    l2_regularization: float = parameter(
        0.0, number(0), "The weight of the squares of the leaves' values in the loss."
    )
    max_features: float = parameter(
        1.0,
        number(0, 1, closed="right"),
        "The share of the columns that is drawn as candidates for each split, of those that "
        "`interaction_cst` allows.",
    )
    monotonic_cst: Any = parameter(None, *MONOTONIC_CST)
    interaction_cst: Any = parameter(
        None,
        Constraint('"pairwise", "no_interactions", a list of sets of columns, or None'),
        "The sets of columns that may be split together on a path from the root to a leaf. Columns in none "
        'of the sets are one more set. "pairwise" is all pairs, "no_interactions" lets every tree split one '
        "column. Columns are positions or names.",
    )
    max_native_categories: int | None = None
    early_stopping: bool | str = parameter(
        "auto",
        either(boolean, one_of("auto")),
        "Whether to stop when the loss on validation rows has not improved for `n_iter_no_change` rounds, "
        'and to keep the rounds up to the best one. "auto" does so for more than 10,000 rows, or if X_val is '
        "passed to `fit`.",
    )

    @property
    def n_trees_per_iteration_(self) -> int:
        """The number of trees of a round."""
        check_is_fitted(self)
        return self._trees_per_round()

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """A boolean mask of the columns of categories, None if there are none."""
        check_is_fitted(self)
        mask = self.schema_.is_category
        return mask if mask.any() else None

    @property
    def do_early_stopping_(self) -> bool:
        """Whether validation rows could end the fit."""
        return bool(self.early_stopping) and len(self.validation_score_) > 0

    def _holds_out(self, n_rows: int) -> bool:
        return n_rows > MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)

    def _most_bins(self, n_rows: int) -> int:
        return int(self.max_bins)

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.loss = self.loss
        tree = parameters.tree
        tree.reg_lambda, tree.colsample_bynode = float(self.l2_regularization), float(self.max_features)
        tree.monotonic = directions_of(self.monotonic_cst, training)
        tree.interactions = interactions_of(self.interaction_cst, training.table.schema)
        return parameters


@declared
class HistGradientBoostingClassifier(StagedClasses, HistGradientBoosting):
    """Gradient boosting for classification, with the names and defaults of scikit-learn.

    It grows the same trees as scikit-learn's class of this name, up to rounding and ties; leaves under
    `monotonic_cst` may differ. `GradientBoostingClassifier` has more parameters, and defaults that
    suit most tables better.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = HistGradientBoostingClassifier(max_iter=50, interaction_cst="pairwise").fit(X, y)
    >>> booster.n_iter_, booster.score(X, y) > 0.95
    (50, True)
    """

    loss: str = parameter(
        "log_loss", one_of("log_loss"), "The loss to minimise: that of logistic and multinomial regression."
    )
    class_weight: Any = parameter(None, *CLASS_WEIGHT)


@declared
class HistGradientBoostingRegressor(Regresses, HistGradientBoosting):
    """Gradient boosting for regression, with the names and defaults of scikit-learn.

    It grows the same trees as scikit-learn's class of this name, up to rounding and ties; leaves under
    `monotonic_cst` and of the loss quantile may differ. `GradientBoostingRegressor` has more parameters, and
    defaults that suit most tables better.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> booster = HistGradientBoostingRegressor(max_iter=50, l2_regularization=1.0).fit(X, y)
    >>> booster.score(X, y) > 0.7
    True
    """

    loss: str = parameter(
        "squared_error",
        one_of("squared_error", "absolute_error", "gamma", "poisson", "quantile"),
        'The loss to minimise. "quantile" is the pinball loss; see `quantile`. "gamma" and "poisson" are '
        "half deviances with a log link.",
    )
    quantile: float | None = parameter(
        None, optional(number(0, 1)), 'The quantile to predict with loss="quantile". None is the median.'
    )

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.quantile = 0.5 if self.quantile is None else float(self.quantile)
        return parameters

    def _check_target(self, y: np.ndarray, training: Training, name: str = "y") -> None:
        check_numbers(self.loss, y, name)


def interactions_of(interaction_cst: Any, schema: Schema) -> list[list[int]]:
    """Return the sets of columns that may interact. The list is empty if all may.

    Examples
    --------
    >>> from committee.table import bin_table
    >>> schema = bin_table([[1, 2, 3]]).schema
    >>> interactions_of([{0, 1}], schema), interactions_of("no_interactions", schema)
    ([[0, 1], [2]], [[0], [1], [2]])
    """
    if interaction_cst is None:
        return []
    columns = range(schema.n_columns)
    if isinstance(interaction_cst, str) and interaction_cst in ("pairwise", "no_interactions"):
        size = min(2 if interaction_cst == "pairwise" else 1, schema.n_columns)
        return [list(each) for each in itertools.combinations(columns, size)]
    positions: dict[int | str, int] = {place: place for place in columns}
    if schema.named:
        positions |= {name: place for place, name in enumerate(schema.names)}
    if (
        isinstance(interaction_cst, str)
        or not isinstance(interaction_cst, Iterable)
        or not all(isinstance(each, Iterable) and not isinstance(each, str) for each in interaction_cst)
    ):
        raise ValueError(
            'interaction_cst must be "pairwise", "no_interactions", a list of sets of columns, or None. '
            f"Got {interaction_cst!r}."
        )
    sets = [list(each) for each in interaction_cst]
    for column in itertools.chain.from_iterable(sets):
        if not (is_integer(column) or isinstance(column, str)) or column not in positions:
            raise ValueError(
                f"interaction_cst contains the column {column!r}, which X does not have. Use positions from "
                f"0 to {schema.n_columns - 1}, or names."
            )
    groups = [sorted({positions[column] for column in each}) for each in sets if each]
    rest = sorted(set(columns) - set().union(*groups))
    return [*groups, rest] if rest else groups
