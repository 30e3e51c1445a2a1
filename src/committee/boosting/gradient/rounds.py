"""Implement the base class of gradient boosting and LogitBoost, with the parameters and the fit.

In: a table, a class or a number for each row and, optionally, validation rows. Out: a sum of trees. The
engine computes all rounds in one call. Each round fits trees to the derivatives of the loss with respect to
the current scores.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from committee import _engine
from committee.boosting.gradient.additive_trees import AdditiveTrees, Boosted, Steps, sources_of
from committee.boosting.gradient.training_rows import TrainingRows, check_two_classes, validation_rows
from committee.learners import tree_parameters
from committee.learners.fit_session import (
    CallbackSupportMixin,
    FitFrame,
    TaskCalls,
    warn_of_no_more,
    with_callbacks,
)
from committee.learners.training_data import (
    NO_LIMIT,
    Training,
    check_grows,
    check_same_task,
    fit_table,
    read_resumed_table,
    training_of,
)
from committee.parameters import (
    boolean,
    check_parameters,
    declared,
    either,
    integer,
    number,
    one_of,
    optional,
    parameter,
    share,
)
from committee.running import Work, n_threads
from committee.running.deadline import has_deadline, is_time_up
from committee.table import BinnedTable, Table, TargetStatistics
from committee.table.binning import MAX_BINS
from committee.votes.folds import spare_share

# If leaves must have LARGE_LEAF rows, bins have at least ROWS_OF_A_BIN rows on average, unless the user sets
# `max_bins` to more than MOST_COARSE_BINS for exact splits.
LARGE_LEAF, ROWS_OF_A_BIN, MOST_COARSE_BINS = 18, 3, 255


@declared
class Rounds(CallbackSupportMixin, AdditiveTrees):
    """Base class of boosted trees, each of which corrects the sum of the previous ones."""

    # The name of the parameter that sets the number of rounds.
    _rounds_parameter: ClassVar[str] = "n_estimators"

    learning_rate: float | str = parameter(
        0.1, number(0, closed="neither"), "The factor by which the values of the leaves are multiplied."
    )
    max_leaf_nodes: int | None = parameter(
        31,
        optional(integer(2, tree_parameters.ANY_SIZE)),
        "The largest number of leaves of a tree. None sets no limit.",
    )
    max_depth: int | None = parameter(None, *tree_parameters.MAX_DEPTH)
    min_samples_leaf: int = parameter(
        1,
        integer(1, tree_parameters.ANY_SIZE),
        "The smallest number of rows in a leaf, regardless of their weights.",
    )
    max_bins: int = parameter(
        255,
        integer(2, MAX_BINS),
        "The largest number of bins of a column of numbers. If a column has at most that many distinct "
        "values, every threshold is tried. More than 255 bins take twice the memory. If `max_bins` is at "
        "most 255 and `min_samples_leaf` is at least 18, bins have at least three rows on average, because "
        "finer bins take time without improving the model. A `BinnedTable` has its own bins.",
    )
    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)
    max_native_categories: int | None = parameter(
        32,
        optional(integer(0, tree_parameters.ANY_SIZE)),
        "The largest number of categories of columns that are split into sets of categories. Columns of more "
        "categories are replaced by ordered target statistics: the mean target of the category over the rows "
        "that precede a row in a random order, with one statistic per class for more than two classes. None "
        "replaces no columns. The categories of a `BinnedTable` are never replaced.",
    )
    early_stopping: bool | str = parameter(
        "auto",
        either(boolean, one_of("auto")),
        "Whether to stop when the loss on validation rows has not improved for `n_iter_no_change` rounds, "
        'and to keep the rounds up to the best one. "auto" does so if X_val is passed to `fit`.',
    )
    validation_fraction: float = parameter(
        0.1,
        share(whole=False),
        "The share of the rows of each class that is held out for validation, if early_stopping=True and no "
        "X_val is passed to `fit`.",
    )
    n_iter_no_change: int = parameter(
        10, integer(1), "The number of rounds without improvement after which early stopping ends the fit."
    )
    tol: float = parameter(1e-7, number(0), "The smallest reduction of the loss that is an improvement.")
    warm_start: bool = parameter(False, *tree_parameters.WARM_START)
    random_state: Any = parameter(None, *tree_parameters.SEED)
    n_jobs: int | None = parameter(None, *tree_parameters.N_JOBS)
    verbose: int = parameter(0, *tree_parameters.VERBOSE)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        init_score: Any = None,
        init_score_val: Any = None,
    ) -> Self:
        """Fit trees round by round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. Integer weights are repetitions if the
            mean of the positive ones is below 4: a row of weight 2 counts as two rows. Target statistics do
            not repeat rows, because copies would use each other's target. Other weights, and all weights if
            `class_weight` is set, are scaled to a mean of 1.
        X_val, y_val : table and array-like, default=None
            The validation rows.
        sample_weight_val : array-like, default=None
            Weights of the validation rows.
        init_score : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Initial scores, for example those of another model. Predictions do not include them: add them to
            the decision function of new rows.
        init_score_val : array-like, default=None
            Initial scores of the validation rows.

        Returns
        -------
        self
        """
        check_parameters(self)
        resumes = bool(self.warm_start) and hasattr(self, "_forest")
        training = self._read_training(X, y, sample_weight, resumes)
        if resumes and self._has_enough():
            warn_of_no_more("trees")
            return self
        n_scores = training.n_classes if training.n_classes > 2 else 1
        rows = TrainingRows.of(training, init_score, n_scores, may_repeat=self._may_repeat())
        check_two_classes(rows.y, training.task)
        self._check_target(rows.y, training)
        seed = self._seed if resumes else tree_parameters.draw_seed(self.random_state)
        given = X_val, y_val, sample_weight_val, init_score_val
        validation = None
        if any(each is not None for each in given):
            validation = validation_rows(self, training, given, n_scores)
            self._check_target(validation.y, training, "y_val")
            if (init_score is None) != (init_score_val is None):
                raise ValueError("init_score needs init_score_val for the rows of X_val. Pass both or none.")
        elif self._holds_out(len(rows.y)):
            classes = rows.y if training.n_classes else np.zeros(len(rows.y), dtype=np.int32)
            rows, validation = rows.divided(spare_share(classes, self.validation_fraction, seed))
        before = self._boosted if resumes else None
        if self._may_repeat() and not self._replaced_columns(rows.table, before):
            rows = rows.repeated()
        if before:
            check_same_start(before, init_score)
        steps = self._find_steps(training, rows, validation, seed)
        n_before = before.n_rounds if before else 0
        stops_early = validation is not None and bool(self.early_stopping)
        n_more = steps.n_rounds - n_before
        frame = FitFrame(
            self, X, y, "round", steps.n_rounds, n_before=n_before, is_limit=stops_early, n_tasks=n_more
        )
        result, boosted = self._boost(
            training, rows, validation, steps, seed, before, frame.work, frame.calls, stops_early=stops_early
        )

        def keep() -> None:
            self._keep_boosted(result.forest, boosted, training, seed)

        frame.end(result.interruption, result.n_rounds, keep)
        return self

    def _read_training(self, X: Any, y: Any, sample_weight: Any, resumes: bool) -> Training:
        if resumes and isinstance(X, BinnedTable):
            raise ValueError("warm_start=True needs a table to continue, not a BinnedTable. Pass the table.")
        table = read_resumed_table(self, X) if resumes else fit_table(self, X, sample_weight)
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        if resumes:
            check_same_task(training.task, self._task)
        return training

    def _has_enough(self) -> bool:
        name = self._rounds_parameter
        wanted: int | str = getattr(self, name)
        if isinstance(wanted, str):
            raise ValueError(
                f"warm_start=True adds rounds to {self.n_iter_} rounds, up to {name}. Set {name} to a "
                f"number, not to {wanted!r}."
            )
        check_grows(wanted, self.n_iter_, "rounds", name)
        return wanted == self.n_iter_

    def _holds_out(self, n_rows: int) -> bool:
        """Return whether rows are held out for validation if no X_val is passed."""
        return self.early_stopping not in (False, "auto")

    def _check_target(self, y: np.ndarray, training: Training, name: str = "y") -> None:
        """Raise unless the loss can be computed for y."""

    def _find_steps(
        self, training: Training, rows: TrainingRows, validation: TrainingRows | None, seed: int
    ) -> Steps:
        """Return the number of rounds, which early stopping may reduce, and the learning rate."""
        return Steps(int(getattr(self, self._rounds_parameter)), float(self.learning_rate))

    def _boost(
        self,
        training: Training,
        rows: TrainingRows,
        validation: TrainingRows | None,
        steps: Steps,
        seed: int,
        before: Boosted | None,
        work: Work,
        calls: TaskCalls | None = None,
        *,
        stops_early: bool,
    ) -> tuple[_engine.Boosted, Boosted]:
        """Compute the rounds. The estimator does not change, so that a failed fit has no effect."""
        threads, n_columns = n_threads(self.n_jobs), training.table.schema.n_columns
        has_init_score = rows.scores is not None
        statistics, rows, validation = self._encode(rows, validation, training.n_classes, seed, before)
        rows = rows.repeated() if self._may_repeat() else rows
        parameters = self._parameters(training, sources_of(statistics, n_columns), stops_early)
        n_before = before.n_rounds if before else 0
        parameters.n_rounds, parameters.learning_rate = steps.n_rounds - n_before, steps.learning_rate
        parameters.seed = seed
        if before:
            rows = rows.scored(self._forest, threads)
            validation = None if validation is None else validation.scored(self._forest, threads)
        binned = rows.binned(threads, self._most_bins(len(rows.y)))

        def fitted(n_done: int, forest: _engine.Forest) -> dict[str, Any]:
            done = steps._replace(n_rounds=n_before + n_done)
            boosted = Boosted.unfinished(done, binned.has_missing, statistics, n_columns)
            return copy.copy(self)._keep_boosted(forest, boosted, training, seed).__dict__

        loss = getattr(self, "loss", None)
        with work:
            result = _engine.boost(
                _engine.BoostRows(binned.codes, rows.y, rows.weights, rows.scores),
                training.n_classes,
                parameters,
                loss if callable(loss) else None,
                self._forest if before else None,
                None if validation is None else validation.codes_like(binned, threads),
                after_round(work, calls, fitted),
                threads,
            )
        boosted = Boosted.of(result, steps.learning_rate, binned.has_missing, statistics, n_columns)
        boosted = boosted.after(before) if before else replace(boosted, has_init_score=has_init_score)
        return result, boosted

    def _may_repeat(self) -> bool:
        # The weight of a class is not a number of repetitions of its rows.
        return getattr(self, "class_weight", None) is None

    def _encode(
        self,
        rows: TrainingRows,
        validation: TrainingRows | None,
        n_classes: int,
        seed: int,
        before: Boosted | None,
    ) -> tuple[TargetStatistics | None, TrainingRows, TrainingRows | None]:
        """Replace the columns of many categories by target statistics.

        The rows must not be repeated yet, because a copy would use the target of the row.
        """
        columns = self._replaced_columns(rows.table, before)
        if not columns:
            return None, rows, validation
        threads = n_threads(self.n_jobs)
        binned = rows.binned(threads, self._most_bins(len(rows.y)))
        by_content, _ = rows.by_content(binned, threads)
        order = by_content[np.random.Generator(np.random.Philox(key=seed)).permutation(len(by_content))]
        statistics, rows = rows.with_statistics(n_classes, columns, order)
        if before and before.statistics:
            # The trees of the previous fit were grown on the statistics of that fit.
            statistics = before.statistics
        return statistics, rows, None if validation is None else validation.encoded(statistics)

    def _parameters(
        self, training: Training, sources: np.ndarray, stops_early: bool
    ) -> _engine.BoostParameters:
        parameters = self._boost_parameters(training)
        tree = parameters.tree
        if directions := tree.monotonic:
            tree.monotonic = [directions[source] for source in sources]
        if interactions := tree.interactions:
            tree.interactions = [np.flatnonzero(np.isin(sources, each)).tolist() for each in interactions]
        if stops_early:
            check_stops(parameters.objective.loss)
            parameters.n_iter_no_change = int(self.n_iter_no_change)
        return parameters

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        """Convert the parameters to those of the engine."""
        parameters = _engine.BoostParameters()
        tree = parameters.tree
        tree.max_leaf_nodes = min(int(self.max_leaf_nodes or 0), NO_LIMIT)
        if self.max_depth is not None:
            tree.max_depth = min(int(self.max_depth), NO_LIMIT)
        tree.min_samples_leaf = min(int(self.min_samples_leaf), NO_LIMIT)
        parameters.tol = float(self.tol)
        return parameters

    def _most_bins(self, n_rows: int) -> int:
        """Return the largest number of bins of a column of numbers in a table of `n_rows` rows."""
        if self.min_samples_leaf < LARGE_LEAF or self.max_bins > MOST_COARSE_BINS:
            return int(self.max_bins)
        return max(2, min(int(self.max_bins), n_rows // ROWS_OF_A_BIN))

    def _keep_boosted(self, forest: _engine.Forest, boosted: Boosted, training: Training, seed: int) -> Self:
        self._boosted, self._seed, self._data = boosted, seed, training.data
        return self._keep(forest, training.table.schema, training.task, boosted.has_missing)

    def _replaced_columns(self, table: Table | BinnedTable, before: Boosted | None) -> list[int]:
        """Return the columns of many categories that target statistics replace."""
        if before is not None:
            return [] if before.statistics is None else list(before.statistics.by_column)
        if isinstance(table, BinnedTable) or self.max_native_categories is None:
            return []
        return np.flatnonzero(table.schema.n_categories > self.max_native_categories).tolist()


def after_round(
    work: Work, calls: TaskCalls | None, fitted: Callable[[int, _engine.Forest], dict[str, Any]]
) -> Callable[[int, Callable[[], _engine.Forest]], bool] | None:
    """Make the function that the engine calls after each round, or None if there is no use for it.

    The engine passes the number of rounds and a function that returns the model, and stops if the result is
    True. `fitted` converts a model to the attributes of a fitted estimator.
    """
    if not work.has_receiver and calls is None and not has_deadline():
        return None

    def report(n_done: int, model: Callable[[], _engine.Forest]) -> bool:
        work.report(n_done)
        wants_to_stop = calls is not None and calls.report(n_done, lambda: fitted(n_done, model()))
        return wants_to_stop or is_time_up()

    return report


def check_same_start(before: Boosted, init_score: Any) -> None:
    """Raise unless both this fit and the previous one have initial scores, or neither has."""
    if before.has_init_score == (init_score is not None):
        return
    had, way_out = ("one", "Pass it again") if before.has_init_score else ("none", "Pass none")
    raise ValueError(
        f"init_score must be the same for all rounds with warm_start=True, and the previous fit had {had}. "
        f"{way_out}, or set warm_start=False."
    )


def check_stops(loss: str) -> None:
    """Raise if early stopping cannot compute the loss."""
    if loss == "custom":
        raise ValueError(
            "Early stopping needs the loss, and a callable returns only its derivatives. Set "
            "early_stopping=False."
        )
