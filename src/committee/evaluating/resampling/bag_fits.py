"""Fit an estimator on bootstrap samples (bags), and apply a function to the votes of each fit.

In: an estimator, a table, the number of bags and a function of votes. Out: the results of the function, and
the rows of each bag. Fit 0 uses all rows; the fits on bags follow. Bags are drawn as in bagging, so they do
not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from sklearn.base import is_classifier, is_regressor

from committee.combining.metadata_routing import accepts_weights
from committee.evaluating.resampling.confidence_intervals import Where, check_n_draws, in_tasks, seed_of
from committee.learners.training_data import Training
from committee.members.member_fit import fit_member
from committee.members.member_tasks import naming
from committee.members.member_votes import votes_of
from committee.members.seeds import seeded
from committee.members.training_set import TrainingSet, in_order
from committee.sampling.bags import Bags
from committee.table import read
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.schema import take_rows
from committee.table.source import open_source
from committee.table.table_reading import read_like
from committee.task import (
    Classification,
    Regression,
    are_repetitions,
    check_lengths,
)

# Maps the number of a fit and its votes to the array to keep.
OfVotes = Callable[[int, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Bagged:
    """An estimator to fit on bags, and its training set.

    Parameters
    ----------
    estimator : estimator
    training : TrainingSet
    weights : ndarray of float64 of shape (n_rows,)
    repeats : ndarray of int64 of shape (n_rows,)
        The repetitions of each row: its weight if weights are small integers, else 1, or 0 for weight 0.
    bags : Bags
    seed : int
    n_bags : int
    """

    estimator: object
    training: TrainingSet
    weights: np.ndarray
    repeats: np.ndarray
    bags: Bags
    seed: int
    n_bags: int

    @classmethod
    def of(
        cls,
        estimator: object,
        X: TableLike,
        y: ArrayLike,
        n_bags: int,
        sample_weight: ArrayLike | None,
        random_state: RandomState,
    ) -> Bagged:
        """Check an estimator and its training data, and prepare the bags.

        Examples
        --------
        >>> Bagged.of("tree", [[1]], [1], 10, None, 0)
        Traceback (most recent call last):
        ValueError: estimator must be a classifier or a regressor. Got 'tree'.
        """
        is_estimator = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
        if not is_estimator or not (is_classifier(estimator) or is_regressor(estimator)):
            raise ValueError(f"estimator must be a classifier or a regressor. Got {estimator!r}.")
        check_n_draws(n_bags)
        task_type = Classification if is_classifier(estimator) else Regression
        training_set = TrainingSet.of(task_type, X, y, sample_weight, None)
        if not training_set.is_open:
            raise ValueError(
                f"y must have at least two classes. Got {np.unique(training_set.answers).tolist()}."
            )
        weights = np.ones(training_set.n_rows) if training_set.weights is None else training_set.weights
        if not are_repetitions(weights) and not accepts_weights(estimator):
            raise ValueError(
                f"{type(estimator).__name__} does not accept sample_weight, and only small integer weights "
                "can be replaced by repeated rows. Pass such weights, none, or another estimator."
            )
        repeats = (weights if are_repetitions(weights) else weights > 0).astype(np.int64)
        training = Training(read(X), training_set.task, training_set.y, repeats.astype(np.float64))
        bags = Bags.of(training, training.bin(1), None, bootstrap=True, max_samples=1.0, repeats=repeats)
        return cls(estimator, training_set, weights, repeats, bags, seed_of(random_state), int(n_bags))

    def rows(self, number: int) -> np.ndarray:
        """Return the training rows of a fit, each as often as it was drawn."""
        counts = self.repeats if number == 0 else self.bags.draw(self.seed, number)
        return np.repeat(np.arange(len(counts)), counts)

    def is_outside(self) -> np.ndarray:
        """Return whether each row is outside of each bag, of shape (n_bags, n_rows)."""
        return np.array([self.is_outside_of(number + 1) for number in range(self.n_bags)])

    def is_outside_of(self, number: int) -> np.ndarray:
        """Return whether each row is outside of a bag, of shape (n_rows,)."""
        is_outside = np.ones(self.training.n_rows, dtype=bool)
        is_outside[self.rows(number)] = False
        return is_outside

    def test_rows(self, X: TableLike | None, y: ArrayLike) -> tuple[Any, np.ndarray]:
        """Return a test table in the form that members accept, and its y as class codes or numbers."""
        source = open_source(X)
        answers = self.training.task.encode(y, "y_test")
        check_lengths(source.n_rows, answers)
        try:
            read_like(source, self.training.schema)
        except ValueError as error:
            raise ValueError(f"X_test does not fit X. {error}") from error
        return in_order(source, self.training.schema).native, answers

    def called(self, number: int) -> str:
        """Return the name of a fit's model for error messages."""
        return f"{type(self.estimator).__name__}, on {f'bag {number}' if number else 'all rows'},"

    def fitted(self, number: int) -> Any:
        """Fit and return a model. On a bag with a single class, it predicts this class."""
        training, rows = self.training, self.rows(number)
        # If weights are repetitions, `rows` already repeats the rows.
        has_none = training.weights is None or are_repetitions(training.weights)
        weights = None if has_none else self.weights[rows]
        own = seeded(self.estimator, np.random.default_rng([self.seed, number, 1]))
        table, answers = take_rows(training.X, rows), training.answers[rows]
        with naming(self.called(number), "be fitted"):
            return fit_member(own, table, answers, weights, are_classes=training.are_classes)

    def map_fits(
        self, function: OfVotes, X: TableLike | None = None, *, first: int = 0, **where: Unpack[Where]
    ) -> list[np.ndarray]:
        """Apply a function to the votes of each fit, in order.

        Parameters
        ----------
        function : callable
            Called with the number of a fit and its votes, of shape (n_rows, n_outputs). Returns an array.
        X : table, default=None
            The rows to vote on. None means the rows of the training set.
        first : int, default=0
            The number of the first fit: 0 for the fit on all rows, 1 for the first bag.
        **where : dict
            `by`, `runner`, `n_jobs` and `verbose`; see `in_tasks`.
        """
        table = self.training.X if X is None else X
        n_fits = self.n_bags + 1 - first
        return in_tasks(map_some_fits, (self, function, table, first), n_fits, step=1, what="bags", **where)

    def votes(self, number: int, X: TableLike) -> np.ndarray:
        """Return the votes of a fit on rows, of shape (n_rows, n_outputs). The model is not kept."""
        model = self.fitted(number)
        with naming(self.called(number), "vote"):
            return votes_of(model, X, self.training.task)


def map_some_fits(shared: tuple[Bagged, OfVotes, TableLike, int], begin: int, end: int) -> list[np.ndarray]:
    """Fit on some bags, and apply the function to their votes."""
    bagged, function, X, first = shared
    return [function(number, bagged.votes(number, X)) for number in range(first + begin, first + end)]
