"""Predict with additive ensembles after each round, and record the rounds of boosted trees.

In: trees or members that were fitted one after the other. Out: the scores of new rows, which are sums over
the rounds, and the predictions that a link function makes from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.boosting.gradient.scikit_learn_booster import to_scikit_learn_booster
from committee.learners.fitted_members import Members
from committee.learners.tree_arrays import tree_arrays
from committee.learners.voter import Classifies, Voter, attribute_of_part
from committee.saving import Fields
from committee.saving.states.tree_states import BoostedState
from committee.table import Table, TargetStatistics

# The number of scores that are computed at a time. Rows are encoded once for all rounds of such a batch.
SCORES_AT_A_TIME = 2**20


class Steps(NamedTuple):
    """The number of rounds and the learning rate."""

    n_rounds: int
    learning_rate: float


@dataclass(frozen=True, eq=False)
class Boosted:
    """The record of some boosting rounds.

    Parameters
    ----------
    n_rounds : int
        The number of rounds of the model.
    learning_rate : float
        The learning rate of the last fit.
    statistics : TargetStatistics, or None
        The statistics that replace columns of many categories.
    gains : ndarray of shape (n_columns,)
        The total reduction of the loss by the splits on each column.
    split_counts : ndarray of int of shape (n_columns,)
        The number of splits on each column.
    has_missing : ndarray of bool of shape (n_columns,)
        Whether a column has missing values in the training rows.
    train_score, validation_score : ndarray
        The negative mean loss before the first round and after each round.
    has_init_score : bool, default=False
        Whether the first fit had initial scores from the user.
    """

    n_rounds: int
    learning_rate: float
    statistics: TargetStatistics | None
    gains: np.ndarray
    split_counts: np.ndarray
    has_missing: np.ndarray
    train_score: np.ndarray
    validation_score: np.ndarray
    has_init_score: bool = False

    @classmethod
    def of(
        cls,
        result: _engine.Boosted,
        learning_rate: float,
        has_missing: np.ndarray,
        statistics: TargetStatistics | None,
        n_columns: int,
    ) -> Self:
        """Make the record from the engine's result, summed over the encoded columns of each column."""
        sources = sources_of(statistics, n_columns)
        return cls(
            result.n_rounds,
            learning_rate,
            statistics,
            np.bincount(sources, result.gain, n_columns),
            np.bincount(sources, result.n_splits, n_columns).astype(np.int64),
            np.bincount(sources, has_missing, n_columns) > 0,
            -result.train_loss,
            -result.validation_loss,
        )

    @classmethod
    def unfinished(
        cls, steps: Steps, has_missing: np.ndarray, statistics: TargetStatistics | None, n_columns: int
    ) -> Self:
        """Make the record of a fit that is still running, which is sufficient for prediction."""
        unknown = np.full(n_columns, np.nan)
        missing = np.bincount(sources_of(statistics, n_columns), has_missing, n_columns) > 0
        return cls(*steps, statistics, unknown, unknown, missing, np.empty(0), np.empty(0))

    @property
    def importances(self) -> np.ndarray:
        """The share of each column in the reduction of the loss; all 0 without splits."""
        return self.gains / self.gains.sum() if self.gains.any() else self.gains

    def after(self, before: Boosted) -> Boosted:
        """Combine the record of these rounds with that of the previous rounds."""
        return Boosted(
            before.n_rounds + self.n_rounds,
            self.learning_rate,
            self.statistics,
            before.gains + self.gains,
            before.split_counts + self.split_counts,
            before.has_missing | self.has_missing,
            joined(before.train_score, self.train_score, before.n_rounds, self.n_rounds),
            joined(before.validation_score, self.validation_score, before.n_rounds, self.n_rounds),
            before.has_init_score,
        )


def sources_of(statistics: TargetStatistics | None, n_columns: int) -> np.ndarray:
    """Return the table column from which each column of the engine was made."""
    return np.arange(n_columns) if statistics is None else statistics.sources(n_columns)


def joined(before: np.ndarray, after: np.ndarray, n_before: int, n_after: int) -> np.ndarray:
    """Concatenate the scores of the first `n_before` rounds and of the next `n_after` rounds.

    If one of them is empty because there were no validation rows, its scores are NaN.

    Examples
    --------
    >>> joined(np.array([-3.0, -2.0, -1.0]), np.array([-2.0, -1.5]), 1, 1)
    array([-3. , -2. , -1.5])
    >>> joined(np.empty(0), np.array([-2.0, -1.5]), 1, 1)
    array([ nan, -2. , -1.5])
    """
    if not len(before) and not len(after):
        return before
    if not len(before):
        return np.concatenate([np.full(n_before, np.nan), after])
    return np.concatenate([before[: n_before + 1], after[1:] if len(after) else np.full(n_after, np.nan)])


def staged_scores(
    forest: _engine.Forest | _engine.C45Forest, table: Table, trees_per_round: int, n_threads: int
) -> Iterator[np.ndarray]:
    """Yield the scores of the rows after each round, as a new array of shape (n_rows, n_scores)."""
    columns, n_trees = list(table.columns), forest.n_trees
    if isinstance(forest, _engine.C45Forest):
        scores: Any = 0.0
        for first in range(0, n_trees, trees_per_round):
            last = first + trees_per_round
            scores = scores + forest.scores(columns, table.n_rows, first, last, n_threads)
            yield scores
        return
    n_scores = max(table.n_rows, 1) * forest.n_scores
    step = trees_per_round * max(1, SCORES_AT_A_TIME // n_scores)
    before = None
    for first in range(0, n_trees, step):
        last = min(first + step, n_trees)
        stages = forest.staged_scores(columns, table.n_rows, first, last, trees_per_round, before, n_threads)
        before = stages[-1]
        yield from stages


class Staged(Voter):
    """An ensemble that can predict after each of its rounds."""

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for decision in self._staged_decisions(X):
            yield self._task.decode(decision)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Compute the score after each round: accuracy or R2.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None

        Yields
        ------
        float
        """
        metric = accuracy_score if isinstance(self, Classifies) else r2_score
        for prediction in self.staged_predict(X):
            yield float(metric(y, prediction, sample_weight=sample_weight))

    def _trees_per_round(self) -> int:
        return 1

    def _scores(self, X: Any) -> np.ndarray:
        """Sum the trees for each row into an array of shape (n_rows, n_scores)."""
        table = self._read(X)
        threads = self._threads(table.n_rows)
        return self._forest.scores(list(table.columns), table.n_rows, 0, self._forest.n_trees, threads)

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """Sum the trees up to each round."""
        table = self._read(X)
        threads = self._threads(table.n_rows)
        yield from staged_scores(self._forest, table, self._trees_per_round(), threads)

    def _staged_decisions(self, X: Any) -> Iterator[np.ndarray]:
        """Compute the decisions after each round."""
        for scores in self._staged_scores(X):
            yield self._forest.link(scores)


class StagedClasses(Classifies):
    """A classifier that can compute probabilities after each round."""

    def decision_function(self: Any, X: Any) -> np.ndarray:
        """Compute the scores of the classes, from which probabilities are computed.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
            For two classes, positive scores are for the second class.
        """
        return self._as_decision(self._scores(X))

    def staged_decision_function(self: Any, X: Any) -> Iterator[np.ndarray]:
        """Compute the decision function after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._as_decision(scores.copy())

    def staged_predict_proba(self: Any, X: Any) -> Iterator[np.ndarray]:
        """Compute the probabilities of the classes after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
        """
        return self._staged_decisions(X)

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in the shape that scikit-learn expects: a vector if there is one score per row."""
        return scores[:, 0] if scores.shape[1] == 1 else scores


class AdditiveTrees(Staged):
    """A sum of trees with the record of its rounds.

    Attributes
    ----------
    n_iter_, n_estimators_ : int
        The number of rounds. With early stopping, it is the best number.
    learning_rate_ : float
        The factor by which the values of the leaves were multiplied.
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        The negative mean loss before the first round and after each round; NaN if the loss is a callable.
        `validation_score_` is empty without validation rows.
    feature_importances_ : ndarray of shape (n_columns,)
        The share of each column in the reduction of the loss by splits. They sum to 1, or are all 0.
    split_counts_ : ndarray of shape (n_columns,)
        The number of splits on each column.
    trees_ : sequence of TreeArrays
        The trees of all rounds, with the names of `tree_` of scikit-learn. They are made on access.
    """

    _boosted: Boosted
    _seed: int

    n_iter_ = attribute_of_part(
        "_boosted",
        "n_rounds",
        "The number of rounds. With early stopping, it is the best number.",
    )
    n_estimators_ = attribute_of_part("_boosted", "n_rounds", "The number of rounds, the same as `n_iter_`.")
    learning_rate_ = attribute_of_part(
        "_boosted", "learning_rate", "The factor by which the values of the leaves were multiplied."
    )
    feature_importances_ = attribute_of_part(
        "_boosted",
        "importances",
        "The share of each column in the reduction of the loss by splits. They sum to 1, or are all 0.",
    )
    split_counts_ = attribute_of_part("_boosted", "split_counts", "The number of splits on each column.")
    train_score_ = attribute_of_part(
        "_boosted",
        "train_score",
        "The negative mean loss on the training rows before the first round and after each round.",
    )
    validation_score_ = attribute_of_part(
        "_boosted",
        "validation_score",
        "The negative mean loss on validation rows, as in `train_score_`; empty if there were none.",
    )

    @property
    def trees_(self) -> Members:
        """The trees of all rounds as read-only arrays, with the names of scikit-learn's `tree_`."""
        check_is_fitted(self)
        return Members(self, self._forest, lambda _, trees, position: tree_arrays(trees, position))

    def to_sklearn(self) -> BaseEstimator:
        """Return the same trees as a fitted histogram gradient boosting of scikit-learn.

        Libraries that read such models, such as shap and skl2onnx, then work. The predictions are equal up to
        the order of summation. Categories stay categories: at most 255 of them in a column.

        Returns
        -------
        sklearn.ensemble.HistGradientBoostingClassifier or HistGradientBoostingRegressor

        Examples
        --------
        >>> from committee import GradientBoostingRegressor
        >>> booster = GradientBoostingRegressor(20).fit([[1], [2], [8], [9]] * 9, [1.0, 1.0, 5.0, 6.0] * 9)
        >>> np.allclose(booster.to_sklearn().predict([[1], [9]]), booster.predict([[1], [9]]))
        True
        """
        check_is_fitted(self)
        if self._boosted.statistics is not None:
            raise ValueError(
                "This model replaces columns of many categories by statistics of y, and scikit-learn cannot. "
                "Merge their rare categories before the fit."
            )
        return to_scikit_learn_booster(self, self._forest, self._trees_per_round())

    def _read(self, X: Any) -> Table:
        table = super()._read(X)
        statistics = self._boosted.statistics
        return table if statistics is None else statistics.encode(table)

    def _state(self) -> BoostedState:
        return BoostedState(self.schema_, self._task, self._forest, self._boosted.statistics)

    def _learnt(self) -> dict[str, Any]:
        boosted = self._boosted
        return super()._learnt() | {
            "seed": self._seed,
            "n_rounds": boosted.n_rounds,
            "learning_rate": boosted.learning_rate,
            "gains": boosted.gains,
            "split_counts": boosted.split_counts,
            "train_score": boosted.train_score,
            "validation_score": boosted.validation_score,
            "has_init_score": boosted.has_init_score,
        }

    def _take_learnt(self, fields: Fields) -> None:
        state = BoostedState.take(fields, self._task_type)
        self._take_trees(state, fields)
        n_columns, n_trees = self.n_features_in_, self._forest.n_trees
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._boosted = Boosted(
            fields.integer("n_rounds", 1, max(1, n_trees)),
            fields.positive("learning_rate"),
            state.statistics,
            fields.array("gains", np.float64, (n_columns,)),
            fields.array("split_counts", np.int64, (n_columns,)),
            self._has_missing,
            # Scores are NaN if the loss is a callable.
            fields.array("train_score", np.float64, (None,), finite=False),
            fields.array("validation_score", np.float64, (None,), finite=False),
            # Older files do not contain it.
            "has_init_score" in fields and fields.take("has_init_score", bool),
        )
        fields.require(n_trees % self._boosted.n_rounds == 0, "the rounds have different numbers of trees")

    def _known_scores(self) -> dict[str, float]:
        boosted, scores = self._boosted, {}
        if boosted.n_rounds < len(boosted.train_score):
            scores["train"] = float(boosted.train_score[boosted.n_rounds])
        if boosted.n_rounds < len(boosted.validation_score):
            scores["validation"] = float(boosted.validation_score[boosted.n_rounds])
        return scores

    def _trees_per_round(self) -> int:
        return self._forest.n_trees // self._boosted.n_rounds
