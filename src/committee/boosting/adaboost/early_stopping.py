"""Stop AdaBoost early, by the error on held-out rows after each member.

In: rounds, which can be restricted to some of the rows, and their settings. Out: a run with the number of
members that has the lowest error on held-out rows.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from committee.boosting.adaboost.python_rounds import RoundSettings, Run
from committee.boosting.adaboost.weights import Distribution, Scheme
from committee.combining.fixed_rules import one_hot
from committee.learners.fit_session import hook_of
from committee.running import Work
from committee.table import Table
from committee.task import Classification, check_lengths, row_weights, weighted_median
from committee.votes.folds import N_FOLDS, spare_folds, spare_share


class Curve:
    """The error on a table after each member: the misclassification rate or the mean absolute error.

    Parameters
    ----------
    rounds : EngineRounds or PythonRounds
    scheme : Scheme
    X : table, as returned by `rounds.read`
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None
    """

    def __init__(
        self, rounds: Any, scheme: Scheme, X: Any, y: np.ndarray, weights: np.ndarray | None
    ) -> None:
        self.rounds, self.scheme = rounds, scheme
        self.X, self.y, self.weights = X, y, weights
        self.errors: list[float] = []
        self._sums: Any = 0.0
        self._numbers: list[np.ndarray] = []
        self._votes: list[float] = []

    @classmethod
    def of_held_out(cls, rounds: Any, scheme: Scheme, is_held_out: np.ndarray) -> Curve:
        """Make the curve for held-out rows, with rounds that use the other rows."""
        held_out = np.flatnonzero(is_held_out)
        weights = None if rounds.weights is None else rounds.weights[held_out]
        rest = rounds.on_rows(np.flatnonzero(~is_held_out))
        return cls(rest, scheme, rounds.table_of(held_out), rounds.y[held_out], weights)

    @property
    def best(self) -> int:
        """The smallest number of members with the lowest error; 0 if there are no members."""
        return int(np.argmin(self.errors)) + 1 if self.errors else 0

    def add(self, run: Run) -> None:
        """Add the errors after each member of a run."""
        if not len(run.votes):
            return
        cast = self.rounds.votes(run.members, self.X, self.scheme, len(self.errors))
        for votes, vote in zip(cast, run.votes, strict=True):
            self.errors.append(self._after(votes, vote))

    def _after(self, votes: np.ndarray, vote: float) -> float:
        if self.scheme.name == "r2":
            self._numbers.append(votes[:, 0])
            self._votes.append(vote)
            median = weighted_median(np.array(self._numbers), np.array(self._votes))
            return float(np.average(np.abs(median - self.y), weights=self.weights))
        if self.scheme.is_crisp:
            votes = one_hot(votes.argmax(axis=1), votes.shape[1])
        self._sums = self._sums + vote * votes
        return float(np.average(self._sums.argmax(axis=1) != self.y, weights=self.weights))


def start(rounds: Any, scheme: Scheme) -> Distribution:
    """Return the distribution of the first round."""
    return Distribution.start(rounds.weights, rounds.n_rows, scheme.n_mislabels)


def boost_while_better(rounds: Any, settings: RoundSettings, curve: Curve, n_iter_no_change: int) -> Run:
    """Boost until the error has not fallen for some rounds, and keep the members up to the lowest error."""
    run: Run | None = None
    distribution = start(rounds, settings.scheme)
    n_done = 0
    while n_done < settings.n_rounds:
        # The smallest number of further rounds after which early stopping is possible.
        n_next = min(curve.best + n_iter_no_change, settings.n_rounds) - n_done
        part = replace(
            settings, n_rounds=n_next, first_round=n_done, progress=progress_after(settings, n_done)
        )
        more = uninterrupted(rounds.boost(part, distribution))
        curve.add(more)
        run = more if run is None else run.then(more, rounds.join)
        distribution, n_done = run.distribution, len(run.votes)
        if run.is_over or len(more.votes) < n_next or n_done - curve.best >= n_iter_no_change:
            break
    assert run is not None
    return first_members(rounds, run, curve.best)


def progress_after(settings: RoundSettings, n_done: int) -> Any:
    """Return the progress hook of settings, with the completed rounds added to the number."""
    report = settings.progress
    return None if report is None else lambda n_more: report(n_done + n_more)


def uninterrupted(run: Run) -> Run:
    """Return a run, or raise the exception that interrupted it."""
    if run.interruption is not None:
        raise run.interruption
    return run


def first_members(rounds: Any, run: Run, n_members: int) -> Run:
    """Return a run that consists of the first members of another."""
    if n_members == len(run.votes):
        return run
    return replace(
        run,
        members=rounds.take(run.members, n_members),
        errors=run.errors[:n_members],
        votes=run.votes[:n_members],
        weights=None if run.weights is None else run.weights[:n_members],
        importances=None if run.importances is None else run.importances[:n_members],
    )


def out_of_fold_errors(rounds: Any, settings: RoundSettings, name: str, verbose: int) -> np.ndarray:
    """Compute the mean out-of-fold error after each member.

    If a run ends early, its last error is repeated. `name` and `verbose` are those of the estimator.
    """
    folds = fold_numbers(rounds, settings.seed)
    calls = {
        f"fold {fold + 1} of {N_FOLDS}": (settings, name, folds == fold)
        for fold in range(N_FOLDS)
        if (folds == fold).any()
    }
    total = np.zeros(settings.n_rounds)
    heaviness = 0.0
    with (
        Work("folds", name, N_FOLDS, verbose=verbose) as work,
        closing(rounds.side_by_side(errors_on_fold, calls)) as results,
    ):
        for n_done, (errors, weight) in enumerate(results, start=1):
            work.report(n_done, -errors.min(), shown=("error", errors.min()))
            total += weight * errors
            heaviness += weight
    return total / heaviness


def errors_on_fold(
    rounds: Any, settings: RoundSettings, name: str, is_held_out: np.ndarray
) -> tuple[np.ndarray, float]:
    """Compute the errors on held-out rows after each member, and the weight of these rows."""
    curve = Curve.of_held_out(rounds, settings.scheme, is_held_out)
    with Work("members", name, settings.n_rounds) as work:
        own = replace(settings, progress=hook_of(work, None), keeps_weights=False)
        curve.add(uninterrupted(curve.rounds.boost(own, start(curve.rounds, settings.scheme))))
    errors = np.array(curve.errors + curve.errors[-1:] * (settings.n_rounds - len(curve.errors)))
    return errors, float(len(curve.y) if curve.weights is None else curve.weights.sum())


def fold_numbers(rounds: Any, seed: int) -> np.ndarray:
    """Return the fold of each row, or -1 for rows that no fold holds out, such as rows of weight 0."""
    rows, classes = rows_to_divide(rounds)
    folds = np.full(rounds.n_rows, -1)
    folds[rows] = spare_folds(classes, seed)
    if (folds < 0).all():
        raise ValueError(
            f"Early stopping divides the rows of each class, and no class has more than one of the "
            f"{len(rows)} rows. Set early_stopping=False."
        )
    return folds


def held_out_rows(rounds: Any, share: float, seed: int) -> np.ndarray:
    """Return a mask of the rows to hold out: a share, but never all, of the rows of each class."""
    rows, classes = rows_to_divide(rounds)
    mask = np.zeros(rounds.n_rows, dtype=bool)
    mask[rows] = spare_share(classes, share, seed)
    return mask


def rows_to_divide(rounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of positive weight and their classes, which are all 0 in regression."""
    rows = np.arange(rounds.n_rows) if rounds.weights is None else np.flatnonzero(rounds.weights)
    if len(rows) < 2:
        raise ValueError(
            f"Early stopping divides the rows, and X has {len(rows)} with weight. Set early_stopping=False."
        )
    is_class_task = isinstance(rounds.task, Classification)
    return rows, rounds.y[rows] if is_class_task else np.zeros(len(rows), dtype=np.int32)


def validation_curve(rounds: Any, scheme: Scheme, given: tuple[Any, Any, Any]) -> Curve:
    """Make the curve for X_val, y_val and sample_weight_val."""
    X_val, y_val, sample_weight_val = given
    try:
        X = rounds.read(X_val)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val does not fit X. {error}") from error
    y = rounds.task.encode(y_val, "y_val")
    n_rows = X.n_rows if isinstance(X, Table) else X.shape[0]
    check_lengths(n_rows, y)
    return Curve(rounds, scheme, X, y, row_weights(sample_weight_val, n_rows, "sample_weight_val"))
