"""Fit rotation forests (Rodriguez, Kuncheva and Alonso 2006): each tree is grown on a rotated table.

In: a table and a class or a number for each row. Out: trees, each with its own random rotation of the table.
The engine draws the rotations, rotates the table and grows the trees.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.combining.rule import Rule, check_rule
from committee.combining.rule_registry import as_rule
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, with_callbacks
from committee.learners.fitted_members import Members
from committee.learners.training_data import NO_LIMIT, Training, seen_table, training_of
from committee.learners.tree_parameters import (
    CATEGORICAL_FEATURES,
    CLASS_WEIGHT,
    N_JOBS,
    SEED,
    VERBOSE,
    draw_seed,
)
from committee.learners.voter import Classifies, Regresses, Tabular, is_plain
from committee.members.member_votes import Task
from committee.parameters import (
    boolean,
    check_parameters,
    declared,
    integer,
    number,
    one_of,
    optional,
    parameter,
)
from committee.running import available_bytes, n_threads
from committee.sampling.bags import n_draws, repeats_of
from committee.sampling.ensemble import (
    Ensemble,
    feature_importances,
    feature_importances_std,
    leaves_of_rows,
    oob_decision_function,
    oob_prediction,
)
from committee.sampling.out_of_bag import OutOfBag, check_metric, warn_if_all_rows_seen
from committee.sampling.out_of_bag_rules import Ruling, check_rule_of_trees, fit_rule_on_trees, needs_votes
from committee.saving import Fields
from committee.saving.predictors.deciders import name_of_sum
from committee.saving.states.tree_states import RotationState
from committee.table import Schema, Table
from committee.task import are_repetitions


@declared
class RotationForest(CallbackSupportMixin, Ensemble):
    """The base of rotation forests, whose trees are grown along different axes.

    For each tree, the columns are divided at random into groups. Each group is rotated to the principal axes
    of its own sample of rows. All axes are kept, and the tree is grown along them on all rows.

    Attributes
    ----------
    estimators_ : sequence of rotation forests of one tree
        The members. They are created when they are accessed.
    feature_importances_, feature_importances_std_ : ndarray of shape (n_columns,)
        How much the splits on each column lower the impurity: mean and standard deviation over the trees. A
        split on an axis counts for a column by the square of the column's coefficient in the axis. The means
        sum to 1, or are all 0.
    """

    _tree: ClassVar[str] = "cart"

    n_estimators: int = parameter(100, integer(1), "The number of trees.", kw_only=False)
    min_group: int = parameter(
        3, integer(1, NO_LIMIT), "The minimum number of columns of a group. The last group may have fewer."
    )
    max_group: int = parameter(
        3,
        integer(1, NO_LIMIT),
        "The maximum number of columns of a group. All sizes from `min_group` to `max_group` have the same "
        "probability.",
    )
    remove_proportion: float = parameter(
        0.5, number(0, 1, closed="left"), "The share of the rows that the sample of a group leaves out."
    )
    min_samples_leaf: int = parameter(
        2, integer(1, NO_LIMIT), "The minimum number of rows of a leaf. Rows count by their weight."
    )
    bootstrap: bool = parameter(
        False,
        boolean,
        "Whether each tree is grown on rows that are drawn with replacement, in proportion to their weights, "
        "instead of all rows. The number of draws is the same as in `RandomForestClassifier`.",
    )
    time_limit: float | None = parameter(
        None,
        optional(number(0, closed="neither")),
        "The time limit for the trees, in seconds from the start of `fit`. A tree is started only if the "
        "remaining time is enough for the slowest tree so far. At least one tree is grown. The trees are the "
        "first trees of the forest without a limit. The limit does not include the computation of out-of-bag "
        "votes and the fit of a rule on them.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    random_state: Any = parameter(None, *SEED)
    n_jobs: int | None = parameter(None, *N_JOBS)
    verbose: int = parameter(0, *VERBOSE)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw the rotations and grow the trees.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. Rows of weight 0 are ignored. If the
            weights are integers with a mean below 4, a row of weight 2 is the row twice. For other weights,
            only the ratios matter.

        Returns
        -------
        self
        """
        start = time.monotonic()
        check_parameters(self)
        self._check_together()
        table = seen_table(self, X, sample_weight)
        check_memory(table, min(n_threads(self.n_jobs), int(self.n_estimators)))
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        seed = draw_seed(self.random_state)
        rule = self._new_rule(seed)
        self._check_rule(rule, training.task)
        n_trees = int(self.n_estimators)
        frame = FitFrame(self, X, y, "tree", n_trees, is_limit=self.time_limit is not None)
        repeats = repeats_of(sample_weight, table.n_rows)
        n_drawn = n_draws(training.weights, repeats, table.n_rows, None) if self.bootstrap else 0
        with frame.work:
            grown = self._grow(table, training, rule, seed, n_drawn, start, frame.hook)
        is_scored = bool(self.oob_score)

        def outside_of(tree: int) -> np.ndarray:
            assert grown.outside is not None
            return grown.outside[tree] == 1

        def keep() -> None:
            ruling = fit_rule_on_trees(
                rule, grown.forest, training, X, outside_of, n_threads(self.n_jobs), is_scored=is_scored
            )
            out_of_bag = None
            if grown.out_of_bag is not None:
                out_of_bag = OutOfBag.of(grown.out_of_bag, training, self.oob_score, ruling.decision)
            self._data = training.data
            self._keep_learnt(grown.forest, table.schema, training.task, grown.importances, out_of_bag)
            self._keep_ruling(ruling, keeps_votes=False)

        frame.end(grown.interruption, 0, keep)
        warn_if_all_rows_seen(self._out_of_bag)
        return self

    feature_importances_ = property(feature_importances)
    feature_importances_std_ = property(feature_importances_std)
    apply = leaves_of_rows

    @property
    def estimators_(self) -> Members:
        """The members: a sequence of fitted rotation forests of one tree, each created on access."""
        check_is_fitted(self)
        return Members(self, self._forest, take_rotation)

    def _check_together(self) -> None:
        if self.min_group > self.max_group:
            raise ValueError(
                f"min_group must be at most max_group. Got min_group={self.min_group} and "
                f"max_group={self.max_group}."
            )
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True. Got bootstrap=False.")

    def _check_rule(self, rule: Rule, task: Task) -> None:
        check_metric(self.oob_score, task)
        check_rule_of_trees(rule, task, int(self.n_estimators), self)
        if self.time_limit is None:
            return
        try:
            check_rule(rule, 1, task)
        except ValueError as error:
            message = f"With a time_limit, the number of trees is not known in advance. {error}"
            raise ValueError(message) from error

    def _grow(
        self,
        table: Table,
        training: Training,
        rule: Rule,
        seed: int,
        n_drawn: int,
        start: float,
        hook: Callable[[int], bool] | None,
    ) -> _engine.GrownRotations:
        """Grow the trees in the engine, within the time that is left."""
        parameters = _engine.RotationForestParameters()
        rotation = parameters.rotation
        rotation.min_group, rotation.max_group = int(self.min_group), int(self.max_group)
        rotation.remove_proportion = float(self.remove_proportion)
        rotation.weights_repeat = training.weights is None or are_repetitions(training.weights)
        parameters.is_c45 = self._tree != "cart"
        parameters.c45.pruning = "pessimistic" if self._tree == "c45" else None
        parameters.min_leaf_rows = int(self.min_samples_leaf)
        parameters.n_trees, parameters.seed = int(self.n_estimators), seed
        parameters.bootstrap, parameters.n_draws = bool(self.bootstrap), n_drawn
        parameters.out_of_bag = bool(self.oob_score)
        parameters.returns_outside = needs_votes(rule, training.task, is_scored=bool(self.oob_score))
        parameters.rule = name_of_sum(rule)
        if self.time_limit is not None:
            parameters.seconds = max(0.0, float(self.time_limit) - (time.monotonic() - start))
        grown = _engine.grow_rotation_forest(
            list(table.columns),
            table.schema.n_categories.tolist(),
            training.y,
            training.n_classes,
            training.fixed,
            n_drawn if self.bootstrap else training.total_weight,
            parameters,
            hook,
            n_threads(self.n_jobs),
        )
        if hook is not None and grown.interruption is None:
            hook(grown.forest.n_trees)
        return grown

    def _keep_learnt(
        self, forest: Any, schema: Schema, task: Any, importances: np.ndarray, out_of_bag: OutOfBag | None
    ) -> Self:
        """Store the results of a fit."""
        self._keep_task(schema, task)
        self._forest, self._out_of_bag = forest, out_of_bag
        self._importances: np.ndarray = importances
        self._matrix_width = schema.n_columns if is_plain(schema) else -1
        return self

    def _state(self) -> RotationState:
        return RotationState(self.schema_, self._task, self._forest, self._kept_rule())

    def _learnt(self) -> dict[str, Any]:
        return Tabular._learnt(self) | {"importances": self._importances} | self._learnt_ruling()

    def _take_learnt(self, fields: Fields) -> None:
        state = RotationState.take(fields, self._task_type)
        n_trees, n_columns = state.forest.n_trees, state.schema.n_columns
        importances = fields.array("importances", np.float64, (n_trees, n_columns))
        self._keep_learnt(state.forest, state.schema, state.task, importances, None)
        self._take_ruling(state.kept, fields, n_trees, None)


@declared
class RotationForestClassifier(Classifies, RotationForest):
    """A rotation forest classifier: C4.5 trees, each grown on a randomly rotated table.

    Each group of columns is rotated to the principal axes of a sample of the rows. The sample keeps each
    class with probability 1/2 (at least one class), and leaves out `remove_proportion` of the rows of these
    classes. Rotation forests work best on numeric tables.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, like the next two.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        NaN for a row in the bags of all trees.
    oob_curve_ : ndarray of shape (n_members,)
        The misclassified share of the rows after every tree, by the majority of the votes if that is the
        rule, and by their mean for all other rules.

    Notes
    -----
    Before the rotation, numeric columns are scaled by their range to [0, 1]. Values that are more than 1,024
    ranges away, such as infinity, are clipped to this distance. Each category becomes a column that is 1 in
    its rows and 0 in all others, except that two categories become a single column. Constant columns are
    ignored. For each tree, missing values are replaced by the mean of the column over the rows of the tree.

    A group always keeps as many axes as it has columns. A sample with fewer rows than columns determines only
    some of the axes, and the others are orthogonal to them. A group whose sample has only one row, or no
    variance, is not rotated. A sample draws only classes that have rows in the bag of the tree.

    A rule that learns, such as "cawpe", needs `bootstrap`, because it is fitted on out-of-bag votes.

    References
    ----------
    J. J. Rodriguez, L. I. Kuncheva, C. J. Alonso, Rotation forest: A new classifier ensemble method, IEEE
    TPAMI 28, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RotationForestClassifier(bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.9, forest.predict(X[:2])
    (True, array([0, 0]))
    """

    tree: str = parameter(
        "c45",
        one_of("c45", "c45_unpruned", "cart"),
        "The kind of the trees: `C45Classifier`, pruned or unpruned, or CART with the Gini impurity.",
    )
    class_weight: Any = parameter(None, *CLASS_WEIGHT)

    oob_decision_function_ = property(oob_decision_function)

    @property
    def _tree(self) -> str:  # type: ignore[override]
        return self.tree


@declared
class RotationForestRegressor(Regresses, RotationForest):
    """A rotation forest regressor: CART trees, each grown on a randomly rotated table.

    It rotates like `RotationForestClassifier`, but the sample of a group is drawn from all rows.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, like the next two.
    oob_prediction_ : ndarray of shape (n_rows,)
        NaN for a row in the bags of all trees.
    oob_curve_ : ndarray of shape (n_members,)
        The mean squared error of the mean of the votes after every tree, whatever the rule.

    Examples
    --------
    >>> X, y = [[1, 5], [2, 4], [8, 7], [9, 9]] * 5, [1.0, 1.0, 5.0, 6.0] * 5
    >>> RotationForestRegressor(random_state=0).fit(X, y).predict([[1, 5], [9, 9]])
    array([1., 6.])
    """

    oob_prediction_ = property(oob_prediction)


def take_rotation(forest: Any, rotations: Any, position: int) -> Any:
    """Return one tree of a rotation forest as a forest of one tree."""
    alone = {"n_estimators": 1, "oob_score": False, "rule": forest._rule}
    member = type(forest)(**forest.get_params(deep=False) | alone)
    trees = _engine.take_trees(rotations, position, position + 1)
    importances = forest._importances[position : position + 1]
    member._keep_learnt(trees, forest.schema_, forest._task, importances, None)
    ruling = Ruling.of(as_rule(forest._rule), forest._task, None, None, is_scored=False)
    member._keep_ruling(ruling, keeps_votes=False)
    return member


def check_memory(table: Table, threads: int) -> None:
    """Raise if the rotated columns do not fit in memory. Every thread sorts all of them."""
    n_categories = table.schema.n_categories
    n_axes = int(np.where(n_categories > 2, n_categories, 1).sum())
    needed, free = 8.0 * table.n_rows * n_axes * (1 + 2 * threads), available_bytes()
    if needed > free:
        most = table.schema.names[int(n_categories.argmax())]
        way_out = f", or drop the column with the most categories, {most!r}" if n_categories.any() else ""
        raise ValueError(
            f"A rotation of {n_axes:,} columns (one for each category) needs {needed / 2**30:.1f} GiB of "
            f"memory on {threads} threads, but only {free / 2**30:.1f} GiB are free. Lower n_jobs{way_out}."
        )
