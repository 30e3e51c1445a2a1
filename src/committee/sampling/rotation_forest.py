"""Rotation forests (Rodriguez, Kuncheva and Alonso 2006): members see the table along axes of their own.

In: a table and a class or a number for each row. Out: trees, each with a rotation of the table that was drawn
for it. The engine draws, rotates and grows; a member is its rotation and its tree.
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
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, CLASS_WEIGHT, N_JOBS, VERBOSE, draw_seed
from committee.learners.voter import Classifies, Regresses, Tabular, is_plain
from committee.members.member_votes import Task
from committee.parameters import (
    RANDOM_STATE,
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
from committee.sampling.ensemble import Ensemble, feature_importances, feature_importances_std, leaves_of_rows
from committee.sampling.out_of_bag import OutOfBag, check_metric, warn_if_all_rows_seen
from committee.sampling.out_of_bag_rules import Ruling, check_rule_of_trees, needs_votes, fit_rule_on_trees
from committee.saving import Fields, saved
from committee.saving.predictors.deciders import name_of_sum
from committee.saving.states.tree_states import RotationState
from committee.table import Schema, Table
from committee.task import are_repetitions


@declared
class RotationForest(CallbackSupportMixin, Ensemble):
    """Trees that differ because each sees the columns along other axes.

    For each tree the columns are parted at random into groups. Each group is turned to the principal axes of
    a sample of its own, and the tree is grown on all rows along the new axes, all of which are kept.

    Attributes
    ----------
    estimators_ : sequence of rotation forests of one tree
        The members, made when they are asked for.
    feature_importances_, feature_importances_std_ : ndarray of shape (n_columns,)
        How much the splits on each column lower the impurity: mean and standard deviation over the trees. A
        split on an axis counts for a column by the square of the column's share in the axis. The means sum
        to 1, or are all 0.
    """

    _tree: ClassVar[str] = "cart"

    n_estimators: int = parameter(100, integer(1), "The number of trees.", kw_only=False)
    min_group: int = parameter(
        3, integer(1, NO_LIMIT), "How many columns a group has at least; the last may have fewer."
    )
    max_group: int = parameter(
        3,
        integer(1, NO_LIMIT),
        "How many columns a group has at most. Sizes are drawn evenly between the two.",
    )
    remove_proportion: float = parameter(
        0.5, number(0, 1, closed="left"), "Which part of its rows a group's sample leaves out."
    )
    min_samples_leaf: int = parameter(
        2, integer(1, NO_LIMIT), "How many rows a leaf must have; they count by their weight."
    )
    bootstrap: bool = parameter(
        False,
        boolean,
        "Whether each tree sees rows drawn with replacement, in proportion to their weights, rather than all "
        "rows: as many as `RandomForestClassifier` draws.",
    )
    time_limit: float | None = parameter(
        None,
        optional(number(0, closed="neither")),
        "Seconds from the start of `fit`. No tree is begun that would not be done by then, as the slowest so "
        "far says; at least one is grown. The trees are the first of those that the forest would have "
        "without a limit. What follows, the votes out of bag and a rule that learns from them, is not in it.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    random_state: Any = parameter(
        None,
        RANDOM_STATE,
        "The seed. The same seed gives the same trees on any number of threads, None other ones each time.",
    )
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
            Weights of the rows, of which those of weight 0 are as absent. A row of weight 2 is the row twice
            if the weights are integers of a mean below 4; others count only by their ratios. None gives every
            row the weight 1.

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
        """The members: a sequence of fitted rotation forests of one tree, each made when it is asked for."""
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
            message = f"With a time_limit, it is not known how many trees there will be. {error}"
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
        """Let the engine grow the trees, in what is left of the time since the start."""
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
        parameters.tells_outside = needs_votes(rule, training.task, is_scored=bool(self.oob_score))
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
        """Become a fitted forest."""
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


@saved
@declared
class RotationForestClassifier(Classifies, RotationForest):
    """A rotation forest for classes: C4.5 trees, each on axes that were turned for it.

    Each group of columns is turned to the principal axes of a sample: of the classes that each were kept with
    probability 1/2, at least one, all rows but `remove_proportion` of them. It shines on tables of numbers.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, as are the next two.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        NaN for a row that all trees saw.
    oob_curve_ : ndarray of shape (n_members,)
        The misclassified share of the rows after every tree, by the mean of the votes whatever the rule is;
        by their majority if that is the rule.

    Notes
    -----
    Before they are turned, columns of numbers are scaled by their range to [0, 1]; a value more than 1,024
    ranges away, as infinity is, counts as that far. Categories become a column each, 1 for their rows and 0
    for others; of two categories one does. A column that does not vary takes no part. What is missing is
    filled, in the sight of a tree, with the column's mean over the rows that the tree sees.

    A group always keeps as many axes as it has columns. A sample of fewer rows than columns fixes only some
    of them, the others are at right angles to these; a sample of one row or without variance leaves the group
    as it is. A class without rows in the sight of a tree is not among those that are drawn.

    A rule that learns, as "cawpe" does, needs `bootstrap`: it learns from votes on rows outside of the bags.

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
        "The kind of the trees: those of `C45Classifier`, pruned or not, or CART with the Gini impurity.",
    )
    class_weight: Any = parameter(None, *CLASS_WEIGHT)

    @property
    def oob_decision_function_(self) -> np.ndarray:
        """The out-of-bag probabilities, of shape (n_rows, n_classes); NaN for a row that all trees saw."""
        return self._oob_decision()

    @property
    def _tree(self) -> str:  # type: ignore[override]
        return self.tree


@saved
@declared
class RotationForestRegressor(Regresses, RotationForest):
    """A rotation forest for numbers: CART trees, each on axes that were turned for it.

    As `RotationForestClassifier`, but a group's sample is drawn from all rows.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, as are the next two.
    oob_prediction_ : ndarray of shape (n_rows,)
        NaN for a row that all trees saw.
    oob_curve_ : ndarray of shape (n_members,)
        The mean squared error of the mean of the votes after every tree, whatever the rule.

    Examples
    --------
    >>> X, y = [[1, 5], [2, 4], [8, 7], [9, 9]] * 5, [1.0, 1.0, 5.0, 6.0] * 5
    >>> RotationForestRegressor(random_state=0).fit(X, y).predict([[1, 5], [9, 9]])
    array([1., 6.])
    """

    @property
    def oob_prediction_(self) -> np.ndarray:
        """The out-of-bag prediction for each row; NaN for a row that all trees saw."""
        return self._oob_decision()[:, 0]


def take_rotation(forest: Any, rotations: Any, position: int) -> Any:
    """One tree of a rotation forest as a forest of its own."""
    alone = {"n_estimators": 1, "oob_score": False, "rule": forest._rule}
    member = type(forest)(**forest.get_params(deep=False) | alone)
    trees = _engine.take_trees(rotations, position, position + 1)
    importances = forest._importances[position : position + 1]
    member._keep_learnt(trees, forest.schema_, forest._task, importances, None)
    ruling = Ruling.of(as_rule(forest._rule), forest._task, None, None, is_scored=False)
    member._keep_ruling(ruling, keeps_votes=False)
    return member


def check_memory(table: Table, threads: int) -> None:
    """Raise if the columns that categories become do not fit into memory: every thread sorts all of them."""
    n_categories = table.schema.n_categories
    n_axes = int(np.where(n_categories > 2, n_categories, 1).sum())
    needed, free = 8.0 * table.n_rows * n_axes * (1 + 2 * threads), available_bytes()
    if needed > free:
        most = table.schema.names[int(n_categories.argmax())]
        way_out = f", or drop the column of most categories, {most!r}" if n_categories.any() else ""
        raise ValueError(
            f"A rotation of {n_axes:,} columns, as many as numbers and categories, takes "
            f"{needed / 2**30:.1f} GiB of memory on {threads} threads, and {free / 2**30:.1f} GiB are free. "
            f"Lower n_jobs{way_out}."
        )
