"""A fitted sum of trees: scores that grow round by round, and the decision that a link makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from committee.boosting.boosted import Boosted, staged_scores
from committee.learners.voting import Classifies, Voter, attribute_of_part
from committee.saving import Fields
from committee.saving.states.tree_states import BoostedState
from committee.table import Table


class AdditiveTrees(Voter):
    """What can be asked of boosted trees beside their decision.

    Attributes
    ----------
    n_iter_, n_estimators_ : int
        The number of rounds: with early stopping, those up to the best one.
    learning_rate_ : float
        What the values of the leaves were multiplied by.
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        Minus the mean loss before the first round and after each, NaN if the loss is a callable;
        `validation_score_` is empty if there were no rows to validate by.
    feature_importances_ : ndarray of shape (n_columns,)
        How much the splits on each column lower the loss. They sum to 1, or are all 0.
    split_counts_ : ndarray of shape (n_columns,)
        How many splits there are on each column.
    """

    _boosted: Boosted
    _seed: int

    n_iter_ = attribute_of_part(
        "_boosted",
        "n_rounds",
        "The number of rounds of the model: with early stopping, those up to the best one.",
    )
    n_estimators_ = attribute_of_part(
        "_boosted", "n_rounds", "The number of rounds, `n_iter_` by another name."
    )
    learning_rate_ = attribute_of_part(
        "_boosted", "learning_rate", "What the values of the leaves were multiplied by."
    )
    feature_importances_ = attribute_of_part(
        "_boosted",
        "importances",
        "How much the splits on each column lower the loss. They sum to 1, or are all 0.",
    )
    split_counts_ = attribute_of_part("_boosted", "split_counts", "How many splits there are on each column.")
    train_score_ = attribute_of_part(
        "_boosted",
        "train_score",
        "Minus the mean loss on the training rows, before the first round and after each.",
    )
    validation_score_ = attribute_of_part(
        "_boosted",
        "validation_score",
        "Minus the mean loss on the rows to validate by, as `train_score_`; empty if there were none.",
    )

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """What `predict` would answer after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for scores in self._staged_scores(X):
            yield self._task.decode(self._forest.link(scores))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """What `score` would answer after each round: accuracy or R2.

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
        for answer in self.staged_predict(X):
            yield float(metric(y, answer, sample_weight=sample_weight))

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
            # A loss that is a callable tells no scores.
            fields.array("train_score", np.float64, (None,), finite=False),
            fields.array("validation_score", np.float64, (None,), finite=False),
            # The first files do not tell.
            "has_init_score" in fields and fields.take("has_init_score", bool),
        )
        fields.require(n_trees % self._boosted.n_rounds == 0, "the rounds have not all as many trees")

    def _known_scores(self) -> dict[str, float]:
        boosted, scores = self._boosted, {}
        if boosted.n_rounds < len(boosted.train_score):
            scores["train"] = float(boosted.train_score[boosted.n_rounds])
        if boosted.n_rounds < len(boosted.validation_score):
            scores["validation"] = float(boosted.validation_score[boosted.n_rounds])
        return scores

    def _scores(self, X: Any) -> np.ndarray:
        """The sums of the trees, of shape (n_rows, n_scores)."""
        table = self._read(X)
        threads = self._threads(table.n_rows)
        return self._forest.scores(list(table.columns), table.n_rows, 0, self._forest.n_trees, threads)

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """The sums after each round."""
        table = self._read(X)
        width = self._forest.n_trees // self.n_iter_
        return staged_scores(self._forest, table, width, self._threads(table.n_rows))


class AdditiveClasses(Classifies):
    """Scores that a link turns into probabilities."""

    def decision_function(self: Any, X: Any) -> np.ndarray:
        """The scores of the classes before they are turned into probabilities.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes, the score of the second one.
        """
        return as_decision(self._scores(X))

    def staged_decision_function(self: Any, X: Any) -> Iterator[np.ndarray]:
        """What `decision_function` would answer after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        for scores in self._staged_scores(X):
            yield as_decision(scores.copy())

    def staged_predict_proba(self: Any, X: Any) -> Iterator[np.ndarray]:
        """What `predict_proba` would answer after each round.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._forest.link(scores)


def as_decision(scores: np.ndarray) -> np.ndarray:
    """Scores in the shape that scikit-learn expects: a vector if there is one for each row."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
