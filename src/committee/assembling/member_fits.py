"""Fit members on all rows and on folds, each fit as a task of a runner.

In: members, the training set and folds. Out: the models of each member and, if there are folds, its votes on
the held-out rows. Members with bootstrap samples vote out of bag instead, in a single fit on all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from committee.assembling.bank.ballot import Ballot
from committee.assembling.named_members import Member
from committee.boosting.gradient.rounds import Rounds
from committee.learners.network import Network
from committee.members.member_fit import fit_member
from committee.members.member_tasks import naming
from committee.members.member_votes import Task as Target
from committee.members.member_votes import gives_scores, own_labels, votes_of
from committee.members.table_encoder import TableEncoder
from committee.members.training_set import TrainingSet
from committee.running import Runner, Task, TaskError
from committee.sampling.bagging.bagging import Bagging
from committee.sampling.forest.forest import Forest
from committee.table.input_types import TableLike
from committee.table.raw_column import Dictionary, Numbers
from committee.table.schema import take_rows
from committee.table.source import open_source, take_columns
from committee.task import Classification
from committee.votes.folds import Fold
from committee.votes.honest_votes import Cast
from committee.votes.vote_arrays import dtype_of

# Tables with at least this many values are not copied for each fold if that can be avoided.
MANY_VALUES = 2**22
# The model (None unless it is kept), the rows that it was not fitted on, its votes on them, and its labels if
# they may differ from the highest votes.
HeldOut = tuple[BaseEstimator | None, np.ndarray, np.ndarray, np.ndarray | None]
Fit = HeldOut | tuple[BaseEstimator, None, None, None]
NOT_FITTED = (
    'This %(name)s is not fitted, but cv="prefit" needs fitted members. clone and cross-validation make '
    "unfitted copies of them: pass sklearn.frozen.FrozenEstimator(member), which stays fitted."
)


@dataclass(frozen=True, eq=False)
class Plan:
    """The settings of the fits.

    Parameters
    ----------
    folds : list of (ndarray, ndarray)
        Empty if no honest votes are needed.
    refit : bool
        Whether to fit a model on all rows. If False, the models of the folds are kept.
    uses_bags : bool
        Whether members may vote out of bag instead of in folds.
    as_scores : bool
        Whether members without probabilities return scores for calibration.
    """

    folds: list[Fold]
    refit: bool
    uses_bags: bool
    as_scores: bool

    @property
    def what(self) -> str:
        """The unit of progress: a fold or a member."""
        return "fold" if self.folds else "member"


@dataclass(frozen=True, eq=False)
class MemberFit:
    """The fits of a member.

    Parameters
    ----------
    member : Member
    models : list of estimators
        One model that was fitted on all rows, or one for each fold, whose votes are averaged.
    held_out : list of (ndarray, ndarray) or (ndarray, ndarray, ndarray or None)
        Held-out rows, and the votes and any labels on them. A row can occur several times.
    seconds : float or None, default=None
        The total time of the fits, if it is known.
    """

    member: Member
    models: list[BaseEstimator]
    held_out: list[Cast]
    seconds: float | None = None


def fit_members(
    members: list[Member],
    training: TrainingSet,
    plan: Plan,
    run: Runner,
    *,
    on_error: str,
    report: Callable[[int], object],
) -> list[MemberFit]:
    """Fit all members.

    Parameters
    ----------
    members : list of Member
    training : TrainingSet
    plan : Plan
    run : Runner
    on_error : {"raise", "drop"}
    report : callable
        Called after every fit with the number of finished fits.

    Returns
    -------
    list of MemberFit
        The fits in the order of the members, without dropped members.
    """
    shared = run.put(training)
    tasks = {}
    for place, member in enumerate(members):
        for name, function, arguments in fits_of(member, training, plan):
            task = run.submit(
                function, shared, member.estimator, member.columns, plan.as_scores, *arguments, name=name
            )
            tasks[task] = place
    failures = carry_out(tasks, run, on_error=on_error, report=report)
    warn_of_dropped(members, failures)
    fitted = {
        place: MemberFit(member, [], []) for place, member in enumerate(members) if place not in failures
    }
    for task, place in tasks.items():
        if place in fitted:
            model, rows, *cast = task.result()
            if model is not None:
                fitted[place].models.append(model)
            if rows is not None:
                fitted[place].held_out.append((rows, *cast))
    return list(fitted.values())


def carry_out(
    tasks: dict[Task, int],
    run: Runner,
    *,
    on_error: str,
    report: Callable[[int], object],
    keep: Callable[[Task], object] | None = None,
) -> dict[int, BaseException]:
    """Wait for all fits, and collect failures.

    Parameters
    ----------
    tasks : dict of Task to int
        Each task with the position of its member.
    run : Runner
    on_error : {"raise", "drop"}
    report : callable
        Called after every fit with the number of finished fits.
    keep : callable, default=None
        Called with every task that succeeds as soon as it ends.

    Returns
    -------
    dict of int to exception
        The first failure of each failed member. Failures are in the order of the tasks, so that every run
        reports the same.
    """
    try:
        for n_done, task in enumerate(run.as_completed(tasks), start=1):
            error = task.exception()
            if error is not None and (on_error == "raise" or not isinstance(error, TaskError)):
                raise error
            if error is None and keep is not None:
                keep(task)
            report(n_done)
    finally:
        for task in tasks:
            task.cancel()
    failures: dict[int, BaseException] = {}
    for task, place in tasks.items():
        error = task.exception()
        if error is not None:
            failures.setdefault(place, error)
    return failures


def n_fits(members: list[Member], training: TrainingSet, plan: Plan) -> int:
    """Return the number of fits."""
    return sum(1 for member in members for _ in fits_of(member, training, plan))


def fits_of(
    member: Member, training: TrainingSet, plan: Plan
) -> Iterator[tuple[str, Callable[..., Fit], tuple[object, ...]]]:
    """Yield each fit of a member as a name, a function and its last arguments."""
    if plan.folds and plan.uses_bags and has_bags(member.estimator):
        yield f"member {member.name!r}, all rows", fit_in_bags, ()
        return
    for number, (train, held_out) in enumerate(plan.folds):
        yield f"member {member.name!r}, fold {number}", fit_fold, (train, held_out, not plan.refit)
    if plan.refit or not plan.folds:
        yield f"member {member.name!r}, all rows", fit_all, ()


def has_bags(estimator: BaseEstimator) -> bool:
    """Return whether an estimator can vote out of bag."""
    if isinstance(estimator, Bagging) and estimator.rule not in ("mean", "majority"):
        return False  # The rule is fitted on the out-of-bag votes.
    return isinstance(estimator, Forest | Bagging) and bool(estimator.bootstrap)


def fit_fold(
    training: TrainingSet,
    estimator: BaseEstimator,
    columns: list[int] | None,
    as_scores: bool,
    train: np.ndarray,
    held_out: np.ndarray,
    keeps: bool,
) -> HeldOut:
    """Fit on some rows and vote on others. Return the model if it is kept, these rows, votes and labels."""
    X = take_columns(training.X, columns)
    model = fitted(estimator, training, X, train)
    as_scores = as_scores and gives_scores(estimator)
    cast = [
        votes_and_labels(model, take_rows(X, rows), training.task, estimator, as_scores=as_scores)
        for rows in blocks_of(held_out, X.shape[1])
    ]
    votes, labels = zip(*cast, strict=True)
    if len(cast) == 1:
        return model if keeps else None, held_out, votes[0], labels[0]
    joined = None if labels[0] is None else np.concatenate(labels)
    return model if keeps else None, held_out, np.concatenate(votes), joined


def votes_and_labels(
    model: BaseEstimator, X: TableLike, task: Target, estimator: BaseEstimator, *, as_scores: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the votes of a fitted member, and its labels if they may differ from the highest votes."""
    votes: np.ndarray = votes_of(model, X, task, as_scores=as_scores).astype(dtype_of(task))
    return votes, own_labels(estimator, model, X, task)


def cast_ballot(
    shared: tuple[TrainingSet, TableLike | None],
    member: Member,
    recipe: str,
    fold: int | None,
    train: np.ndarray | None,
    held_out: np.ndarray | None,
) -> Ballot:
    """Fit a member, and return its votes on held-out rows and on the test rows."""
    training, X_test = shared
    estimator, columns = member.estimator, member.columns
    if train is None or held_out is None:
        model, rows, votes, labels = fit_in_bags(training, estimator, columns, False)
    else:
        model, rows, votes, labels = fit_fold(training, estimator, columns, True, train, held_out, True)
    are_scores = training.are_classes and gives_scores(estimator)
    ballot = Ballot(member.name, fold, rows, votes, None, recipe, are_scores=are_scores, labels=labels)
    if X_test is None:
        return ballot
    test_votes, test_labels = votes_and_labels(
        model, take_columns(X_test, columns), training.task, estimator, as_scores=are_scores
    )
    return replace(ballot, test_votes=test_votes, test_labels=test_labels)


def blocks_of(rows: np.ndarray, n_columns: int) -> list[np.ndarray]:
    """Split rows into blocks, so that a copy of each has at most `MANY_VALUES` values or one row.

    Examples
    --------
    >>> [len(block) for block in blocks_of(np.arange(2500), MANY_VALUES // 1000)]
    [1000, 1000, 500]
    """
    n_at_once = max(1, MANY_VALUES // n_columns)
    return [rows[begin : begin + n_at_once] for begin in range(0, max(1, len(rows)), n_at_once)]


def fit_all(
    training: TrainingSet, estimator: BaseEstimator, columns: list[int] | None, as_scores: bool
) -> Fit:
    """Fit on all rows. Return the model without votes."""
    X = take_columns(training.X, columns)
    return fitted(estimator, training, X, training.rows), None, None, None


def fit_in_bags(
    training: TrainingSet, estimator: BaseEstimator, columns: list[int] | None, as_scores: bool
) -> HeldOut:
    """Fit on all rows. Return the model, the rows outside of at least one bag, and the votes on them."""
    X = take_columns(training.X, columns)
    rows = training.rows
    with warnings.catch_warnings():
        # Rows without out-of-bag votes are not used to fit the rule, so a warning about them is not needed.
        warnings.filterwarnings("ignore", "Every bag contains", UserWarning)
        model = fitted(clone(estimator).set_params(oob_score=True), training, X, rows)
    if isinstance(training.task, Classification):
        votes = np.zeros((len(rows), training.task.n_outputs))
        votes[:, np.searchsorted(training.task.classes, model.classes_)] = model.oob_decision_function_
    else:
        votes = model.oob_prediction_[:, None]
    is_voted = ~np.isnan(votes).any(axis=1)
    return model, rows[is_voted], votes[is_voted].astype(dtype_of(training.task)), None


def fitted(estimator: BaseEstimator, training: TrainingSet, X: TableLike, rows: np.ndarray) -> BaseEstimator:
    """Return a clone of an estimator that is fitted on some rows."""
    answers, weights, groups = training.answers, training.weights, training.groups
    # The number of rows is not enough, because rows drawn with replacement need not be all rows.
    if not np.array_equal(rows, np.arange(training.n_rows)):
        X, answers = rows_for(estimator, X, rows), answers[rows]
        weights, groups = (None if each is None else each[rows] for each in (weights, groups))
    return fit_member(estimator, X, answers, weights, groups, are_classes=training.are_classes)


def rows_for(estimator: BaseEstimator, X: Any, rows: np.ndarray) -> TableLike:
    """Take some rows of a table for a fit.

    The rows of a large table are not copied if the estimator reads it column by column.
    """
    if X.shape[0] * X.shape[1] >= MANY_VALUES and reads_columns(estimator):
        source = open_source(X)
        if all(isinstance(column, Numbers | Dictionary) for column in source.columns):
            return source.part(rows)
    return take_rows(X, rows)


def reads_columns(estimator: BaseEstimator) -> bool:
    """Return whether an estimator reads a table column by column in its fit."""
    if isinstance(estimator, Pipeline):
        return isinstance(estimator.steps[0][1], TableEncoder)
    if isinstance(estimator, Forest):
        return estimator.rule in ("mean", "majority")  # Other rules may use the columns of X.
    return isinstance(estimator, Rounds | Network)


def take_prefit(
    members: list[Member], training: TrainingSet, as_scores: bool, *, on_error: str
) -> list[MemberFit]:
    """Return the votes of fitted members on the training rows."""
    fitted: list[MemberFit] = []
    failures: dict[int, BaseException] = {}
    for place, member in enumerate(members):
        try:
            fitted.append(take_fitted(member, training, as_scores))
        except Exception as error:
            if on_error == "raise":
                raise
            failures[place] = error
    warn_of_dropped(members, failures)
    return fitted


def take_fitted(member: Member, training: TrainingSet, as_scores: bool) -> MemberFit:
    """Return the votes of a fitted member on the training rows."""
    X = take_columns(training.X, member.columns)
    with naming(f"Member {member.name!r}", "vote"):
        check_is_fitted(member.estimator, msg=NOT_FITTED)
        n_columns = getattr(member.estimator, "n_features_in_", X.shape[1])
        if n_columns != X.shape[1]:
            raise ValueError(f"It was fitted on {n_columns} columns, but X has {X.shape[1]}.")
        rows = training.rows
        as_scores = as_scores and gives_scores(member.estimator)
        cast = votes_and_labels(
            member.estimator, take_rows(X, rows), training.task, member.estimator, as_scores=as_scores
        )
    return MemberFit(member, [member.estimator], [(rows, *cast)])


def warn_of_dropped(members: list[Member], failures: dict[int, BaseException]) -> None:
    """Warn about each failed member. Raise if all members failed."""
    for place in sorted(failures):
        if len(failures) == len(members):
            raise ValueError(f"Every member failed. The first: {failures[place]}") from failures[place]
        warnings.warn(
            f"Member {members[place].name!r} is dropped. {failures[place]}", RuntimeWarning, stacklevel=4
        )
