"""The fit of boosting in rounds, shared by gradient boosting and LogitBoost.

In: a table, a class or a number for each row and, if one likes, rows to validate by. Out: a sum of trees. The
engine does all rounds in one call: each fits trees to the derivatives of the loss by the scores so far.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from committee import _engine
from committee.boosting.boosted import Boosted, Steps, sources_of
from committee.boosting.out_of_fold import copies_of
from committee.boosting.round_parameters import RoundParameters
from committee.boosting.rows import (
    Rows,
    check_two_classes,
    hold_out,
    repeated,
    training_rows,
    validation_rows,
)
from committee.boosting.target_statistics import learn_statistics
from committee.learners.callbacks import CallbackSupportMixin, TaskCalls, task_calls, with_callbacks
from committee.learners.training import Training, check_same_task, fit_table, table_to_go_on, training_of
from committee.learners.tree_parameters import draw_seed
from committee.parameters import check_parameters, declared
from committee.running import Work, n_threads
from committee.running.stopping import has_deadline, is_time_up
from committee.table import BinnedTable, Table, TargetStatistics, to_codes


@declared
class Rounds(CallbackSupportMixin, RoundParameters):
    """Trees that are added up, each correcting the sum of those before."""

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
        """Add trees, round by round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. Integers whose mean over the positive ones
            is below 4 are repetitions: a row of weight 2 is the row twice, but for columns that target
            statistics replace, where copies would see each other's target. Other weights, and all where
            there are weights of classes, are scaled to a mean of 1.
        X_val, y_val : table and array-like, default=None
            Rows to validate by.
        sample_weight_val : array-like, default=None
            Weights of the rows to validate by.
        init_score : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Scores to start from, for example those of another model. Predictions do not contain them: add
            them to the decision function of new rows.
        init_score_val : array-like, default=None
            Scores to start from of the rows to validate by.

        Returns
        -------
        self
        """
        check_parameters(self)
        goes_on = bool(self.warm_start) and hasattr(self, "_forest")
        training = self._read_training(X, y, sample_weight, goes_on)
        if goes_on and self._has_enough():
            return self
        n_scores = training.n_classes if training.n_classes > 2 else 1
        rows = training_rows(training, init_score, n_scores, may_repeat=self._may_repeat())
        check_two_classes(rows.y, training.task)
        self._check_target(rows.y, training)
        seed = self._seed if goes_on else draw_seed(self.random_state)
        given = X_val, y_val, sample_weight_val, init_score_val
        validation = None
        if any(each is not None for each in given):
            validation = validation_rows(self, training, given, n_scores)
            self._check_target(validation.y, training, "y_val")
            if (init_score is None) != (init_score_val is None):
                raise ValueError("init_score needs init_score_val for the rows of X_val. Pass both or none.")
        elif self.early_stopping not in (False, "auto"):
            rows, validation = hold_out(rows, training.n_classes, self.validation_fraction, seed)
        before = self._boosted if goes_on else None
        if self._may_repeat() and not self._replaced_columns(rows.table, before):
            rows = repeated(rows)
        if before:
            check_starts_alike(before, init_score)
        steps = self._find_steps(training, rows, validation, seed)
        n_more = steps.n_rounds - (before.n_rounds if before else 0)
        calls = task_calls(self, X, y, "round", n_more)
        self._boost(training, rows, validation, steps, seed, before, calls)
        if calls:
            calls.end(lambda: self.__dict__)
        return self

    def _read_training(self, X: Any, y: Any, sample_weight: Any, goes_on: bool) -> Training:
        if goes_on and isinstance(X, BinnedTable):
            raise ValueError("warm_start=True goes on with a table, not with a BinnedTable. Pass the table.")
        table = table_to_go_on(self, X) if goes_on else fit_table(self, X, sample_weight)
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        if goes_on:
            check_same_task(training.task, self._task)
        return training

    def _has_enough(self) -> bool:
        if isinstance(self.n_estimators, str):
            raise ValueError(
                f"warm_start=True goes on with {self.n_iter_} rounds up to n_estimators. Set that to a "
                f"number, not to {self.n_estimators!r}."
            )
        if self.n_estimators < self.n_iter_:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {self.n_iter_} rounds that "
                "warm_start=True goes on with."
            )
        if self.n_estimators > self.n_iter_:
            return False
        message = "Warm-start fitting without increasing n_estimators does not fit new trees."
        warnings.warn(message, stacklevel=4)
        return True

    def _check_target(self, y: np.ndarray, training: Training, name: str = "y") -> None:
        """Raise unless the loss can be computed for y."""

    def _find_steps(self, training: Training, rows: Rows, validation: Rows | None, seed: int) -> Steps:
        """The number of rounds, which early stopping may still lower, and their rate."""
        return Steps(int(self.n_estimators), float(self.learning_rate))

    def _boost(
        self,
        training: Training,
        rows: Rows,
        validation: Rows | None,
        steps: Steps,
        seed: int,
        before: Boosted | None,
        calls: TaskCalls | None,
    ) -> None:
        """Do the rounds, and become a fitted estimator at last, so that a fit that fails changes nothing."""
        threads, n_columns = n_threads(self.n_jobs), training.table.schema.n_columns
        has_init_score = rows.scores is not None
        statistics, rows, validation = self._encode(rows, validation, training.n_classes, seed, before)
        rows = repeated(rows) if self._may_repeat() else rows
        parameters = self._parameters(training, validation, sources_of(statistics, n_columns))
        n_there = before.n_rounds if before else 0
        parameters.n_rounds, parameters.learning_rate = steps.n_rounds - n_there, steps.learning_rate
        parameters.seed = seed
        if before:
            rows = scored(rows, self._forest, threads)
            validation = None if validation is None else scored(validation, self._forest, threads)
        binned = binned_rows(rows, threads, self._most_bins(len(rows.y)))

        def fitted(n_done: int, forest: _engine.Forest) -> dict[str, Any]:
            done = steps._replace(n_rounds=n_there + n_done)
            boosted = Boosted.unfinished(done, binned.has_missing, statistics, n_columns)
            return copy.copy(self)._keep_boosted(forest, boosted, training, seed).__dict__

        loss = getattr(self, "loss", None)
        with Work(
            "rounds",
            type(self).__name__,
            steps.n_rounds,
            n_before=n_there,
            is_limit=parameters.n_iter_no_change > 0,
            verbose=self.verbose,
        ) as work:
            answer = _engine.boost(
                _engine.BoostRows(binned.codes, rows.y, rows.weights, rows.scores),
                training.n_classes,
                parameters,
                loss if callable(loss) else None,
                self._forest if before else None,
                None if validation is None else validation_codes(validation, binned, threads),
                after_round(work, calls, fitted),
                threads,
            )
        interruption = answer.interruption
        is_kept = self.warm_start and isinstance(interruption, KeyboardInterrupt) and answer.n_rounds > 0
        if interruption is None or is_kept:
            boosted = Boosted.of(answer, steps.learning_rate, binned.has_missing, statistics, n_columns)
            boosted = boosted.after(before) if before else replace(boosted, has_init_score=has_init_score)
            self._keep_boosted(answer.forest, boosted, training, seed)
        if interruption is not None:
            raise interruption

    def _may_repeat(self) -> bool:
        # The weight of a class says how much its rows matter, not how many there are.
        return getattr(self, "class_weight", None) is None

    def _encode(
        self, rows: Rows, validation: Rows | None, n_classes: int, seed: int, before: Boosted | None
    ) -> tuple[TargetStatistics | None, Rows, Rows | None]:
        """Replace the columns of many categories by target statistics.

        The rows must not have been repeated: a copy would see the target of the row.
        """
        columns = self._replaced_columns(rows.table, before)
        if not columns:
            return None, rows, validation
        threads = n_threads(self.n_jobs)
        binned = binned_rows(rows, threads, self._most_bins(len(rows.y)))
        by_content, _ = content_order(rows, binned, threads)
        order = by_content[np.random.Generator(np.random.Philox(key=seed)).permutation(len(by_content))]
        statistics, rows = with_statistics(rows, n_classes, columns, order)
        if before and before.statistics:
            # The trees of the fit before ask about the statistics of that fit.
            statistics = before.statistics
        return statistics, rows, None if validation is None else encoded(validation, statistics)

    def _parameters(
        self, training: Training, validation: Rows | None, sources: np.ndarray
    ) -> _engine.BoostParameters:
        parameters = self._boost_parameters(training)
        if directions := parameters.tree.monotonic:
            parameters.tree.monotonic = [directions[source] for source in sources]
        if validation is not None and self.early_stopping:
            check_stops(parameters.objective.loss)
            parameters.n_iter_no_change = int(self.n_iter_no_change)
        return parameters

    def _keep_boosted(self, forest: _engine.Forest, boosted: Boosted, training: Training, seed: int) -> Self:
        self._boosted, self._seed, self._data = boosted, seed, training.data
        return self._keep(forest, training.table.schema, training.task, boosted.has_missing)

    def _replaced_columns(self, table: Table | BinnedTable, before: Boosted | None) -> list[int]:
        """The columns of many categories, which target statistics replace."""
        if before is not None:
            return [] if before.statistics is None else list(before.statistics.by_column)
        if isinstance(table, BinnedTable) or self.max_native_categories is None:
            return []
        return np.flatnonzero(table.schema.n_categories > self.max_native_categories).tolist()


def after_round(
    work: Work, calls: TaskCalls | None, fitted: Callable[[int, _engine.Forest], dict[str, Any]]
) -> Callable[[int, Callable[[], _engine.Forest]], bool] | None:
    """What the engine calls after every round, with the number of rounds and a function that gives the model.

    It stops if the answer is True. `fitted` makes a model the attributes of an estimator.
    """
    if not work.is_heard and calls is None and not has_deadline():
        return None

    def tell(n_done: int, model: Callable[[], _engine.Forest]) -> bool:
        work.tell(n_done)
        wants_to_stop = calls is not None and calls.tell(n_done, lambda: fitted(n_done, model()))
        return wants_to_stop or is_time_up()

    return tell


def check_starts_alike(before: Boosted, init_score: Any) -> None:
    """Raise unless rounds that go on begin from scores of the user's if those before did."""
    if before.has_init_score == (init_score is not None):
        return
    had, way_out = ("one", "Pass it again") if before.has_init_score else ("none", "Pass none")
    raise ValueError(
        f"init_score must be the same for all rounds, and those that warm_start=True goes on with had {had}. "
        f"{way_out}, or set warm_start=False."
    )


def check_stops(loss: str) -> None:
    """Raise if early stopping has no loss to watch."""
    if loss == "custom":
        raise ValueError(
            "Early stopping watches the loss, and a callable gives its derivatives only. Set "
            "early_stopping=False."
        )


def with_statistics(
    rows: Rows, n_classes: int, columns: list[int], order: np.ndarray
) -> tuple[TargetStatistics, Rows]:
    """Replace columns of training rows: what is averaged is the number, or whether a row is of a class."""
    assert isinstance(rows.table, Table)
    targets = np.eye(n_classes)[rows.y] if n_classes > 2 else rows.y.astype(np.float64)[:, np.newaxis]
    statistics, table = learn_statistics(rows.table, targets, rows.weights, columns, order)
    return statistics, replace(rows, table=table)


def encoded(rows: Rows, statistics: TargetStatistics) -> Rows:
    """Replace columns of rows to validate by."""
    assert isinstance(rows.table, Table)
    return replace(rows, table=statistics.encode(rows.table))


def scored(rows: Rows, forest: _engine.Forest, threads: int) -> Rows:
    """Rows with the scores that the trees so far give them."""
    table = rows.table
    assert isinstance(table, Table)
    scores = forest.scores(list(table.columns), table.n_rows, 0, forest.n_trees, threads)
    return replace(rows, scores=scores if rows.scores is None else rows.scores + scores)


def binned_rows(rows: Rows, threads: int, max_bins: int) -> BinnedTable:
    """The rows in the engine's codes."""
    if isinstance(rows.table, BinnedTable):
        return rows.table
    fixed = None if rows.weights is None else _engine.fixed_weights(rows.weights)
    return to_codes(rows.table, fixed, threads, max_bins)


def content_order(rows: Rows, binned: BinnedTable, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """An order of rows that depends on what they contain, not on where they stand; and which are copies.

    What is drawn along it is the same for any order of the table.
    """
    hashes = _engine.hash_rows(binned.codes, threads)
    order = np.lexsort([rows.y, hashes])
    return order, copies_of(hashes[order], rows.y[order])


def validation_codes(rows: Rows, binned: BinnedTable, threads: int) -> _engine.BoostRows:
    """Return rows to validate by in the bins of the training rows, as the engine takes them."""
    table = rows.table
    if isinstance(table, BinnedTable):
        codes = table.codes
    else:
        codes = _engine.encode(binned.codes, list(table.columns), table.n_rows, threads)
    return _engine.BoostRows(codes, rows.y, rows.weights, rows.scores)
