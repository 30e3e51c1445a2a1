"""Fit mixtures of experts by EM from a random start (Jordan and Jacobs 1994).

In: rows, and the settings of gates and experts. Out: a `Mixture`. The objective is the log-likelihood of the
rows, minus the penalties of our own gates and experts. With soft assignment, the likelihood of a row is the
sum over experts of gate times density. With hard assignment, it is the largest of these products.

EM sums over rows, and the last bits of a sum depend on the order of its terms. Therefore `Rows` are sorted,
and equal rows are merged into one row with their total weight. The order of the rows then does not change the
mixture, and a row with weight 2 is equivalent to the row twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, is_classifier
from sklearn.dummy import DummyClassifier

from committee.assembling.experts.softmax import Gate, Model, fit_ridge, penalty_of, raised
from committee.combining.metadata_routing import arguments, request
from committee.learners.training_data import Training
from committee.members.member_tasks import naming, numbered
from committee.members.member_votes import Task, votes_of
from committee.members.seeds import seeded
from committee.members.table_encoder import TableEncoder
from committee.running import Work
from committee.running.deadline import check, is_time_up
from committee.running.resources import BlasLimit
from committee.saving.plain_models.mixture_models import (
    SMALLEST,
    Branches,
    LinearModel,
    SoftmaxModel,
    log_shares,
)
from committee.table import Table
from committee.table.column_summaries import as_numbers, mean_and_deviation
from committee.task import Classification, Regression, scaled

# The share of each row that is divided equally between the experts at the start.
EVEN_SHARE = 0.05
# An expert is not fitted again if its share of the total weight is smaller.
LEAST_SHARE = 1e-8
# The smallest variance, relative to y. Otherwise the likelihood of an expert on a few rows could be infinite.
MIN_VARIANCE = 1e-4
LOG_OF_TWO_PI = float(np.log(2 * np.pi))
# Sums over several threads would differ in their last bits.
ONE_THREAD = BlasLimit(1)


@dataclass(frozen=True, eq=False)
class Rows:
    """The encoded training rows of gates and experts, shared by all restarts.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers of mean 0 and standard deviation 1.
    weights : ndarray of shape (n_rows,)
        Weights > 0.
    task : Classification or Regression
    center, spread : float
        The mean and the standard deviation of y before scaling. They are 0 and 1 for classes.
    """

    matrix: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    task: Task
    center: float
    spread: float

    @cached_property
    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes that occur, and the position of each row's class among them."""
        assert isinstance(self.task, Classification)
        codes, places = np.unique(self.y, return_inverse=True)
        return self.task.classes[codes], places

    @classmethod
    def of(cls, training: Training, encoder: TableEncoder) -> Rows:
        """Fit the encoder, and encode the rows with positive weight."""
        assert isinstance(training.table, Table)
        given = np.ones(len(training.y)) if training.weights is None else scaled(training.weights)
        table, y, weights = merged(training.table, training.y, given)
        matrix = encoder._fit_table(table, weights)._transform_table(table)
        counts, center, spread = weights > 0, 0.0, 1.0
        if isinstance(training.task, Regression):
            center, spread = mean_and_deviation(y, weights)
            y = (y - center) / spread
        return cls(matrix[counts], y[counts], weights[counts], training.task, center, spread)


def merged(table: Table, y: np.ndarray, weights: np.ndarray) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return the distinct rows of a table and their y, sorted, with the total weight of each.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([[2.0], [1.0], [2.0]])
    >>> table, y, weights = merged(table, np.array([5, 4, 5]), np.array([1.0, 1.0, 2.0]))
    >>> table.columns[0], y, weights
    (array([1., 2.]), array([4, 5]), array([1., 3.]))
    """
    # NaN is not equal to itself, so replace it by infinity, which does not occur in tables.
    keys = [np.nan_to_num(as_numbers(column), nan=np.inf, posinf=np.inf) for column in table.columns]
    keys.append(y)
    order = np.lexsort([weights, *reversed(keys)])
    is_new = np.zeros(len(y), dtype=bool)
    is_new[0] = True
    for key in keys:
        is_new[1:] |= key[order[1:]] != key[order[:-1]]
    first = np.flatnonzero(is_new)
    rows = order[first]
    columns = tuple(column[rows] for column in table.columns)
    return Table(table.schema, columns, len(rows)), y[rows], np.add.reduceat(weights[order], first)


@dataclass(frozen=True, eq=False)
class EMSettings:
    """The settings of a fit.

    Parameters
    ----------
    name : str
        The name of the estimator in progress reports.
    tree : Branches
    estimator, gate_estimator : estimator or None
        None is our own linear model.
    is_hard : bool
        Whether each row is assigned to a single expert.
    alpha, tol : float
    max_iter, seed : int
    """

    name: str
    tree: Branches
    estimator: BaseEstimator | None
    gate_estimator: BaseEstimator | None
    is_hard: bool
    alpha: float
    tol: float
    max_iter: int
    seed: int


@dataclass(frozen=True, eq=False)
class Expert:
    """A fitted expert.

    Parameters
    ----------
    model : Model
    variance : float, default=1.0
        The variance of the noise around the predictions.
    """

    model: Model
    variance: float = 1.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Fitted gates and experts.

    Parameters
    ----------
    gates : list
        The gates level by level. Gates and experts are None before the first iteration.
    experts : list of Expert
    objectives : ndarray of shape (n_iterations,)
        The objective after each iteration, which never decreases.
    has_converged : bool
    """

    gates: Sequence[Gate | None]
    experts: Sequence[Expert | None]
    objectives: np.ndarray
    has_converged: bool


def climb(rows: Rows, plan: EMSettings, restart: int) -> Mixture:
    """Fit a mixture from one random start.

    Every iteration fits experts and gates to the shares of the experts in the rows, and then updates these
    shares. The fit ends when the objective per unit of weight increases by at most `tol`. Estimators that are
    not our own can lower the objective. Such a step is undone and ends the fit.
    """
    seed = (plan.seed, restart)
    total = rows.weights.sum()
    with one_thread(), Work("iterations", plan.name, plan.max_iter, is_limit=True) as work:
        shares = first_shares(rows, plan, np.random.default_rng(seed))
        found = Mixture([None] * plan.tree.n_gates, [None] * plan.tree.n_experts, np.empty(0), False)
        while len(found.objectives) < plan.max_iter and not found.has_converged:
            check()
            gates, experts = maximise(rows, plan, shares, found, seed)
            logs = joint_logs(rows, plan, gates, experts)
            objective, shares = expect(logs, rows.weights, plan.is_hard)
            models = [expert.model for expert in experts]
            objective -= sum(penalty_of(each, plan.alpha) for each in gates) + sum(
                penalty_of(each, plan.alpha) for each in models
            )
            last = found.objectives[-1] if len(found.objectives) else -np.inf
            if objective < last:
                return Mixture(found.gates, found.experts, found.objectives, True)
            has_converged = bool(objective - last <= plan.tol * total)
            found = Mixture(gates, experts, np.append(found.objectives, objective), has_converged)
            work.report(len(found.objectives), objective / total)
            if is_time_up():
                break
    return found


def maximise(
    rows: Rows, plan: EMSettings, shares: np.ndarray, found: Mixture, seed: tuple[int, ...]
) -> tuple[list[Gate], list[Expert]]:
    """Fit gates and experts to the shares (the M-step).

    An expert without rows does not change. In the first iteration it is fitted to all rows.
    """
    weights = shares * rows.weights[:, None]
    experts = []
    for number, before in enumerate(found.experts):
        own = weights[:, number]
        has_rows = own.sum() > LEAST_SHARE * rows.weights.sum()
        if has_rows or before is None:
            before = fit_expert(rows, plan, own if has_rows else rows.weights, before, (*seed, 0, number))
        experts.append(before)
    targets = plan.tree.split(weights)
    gates = [
        fit_gate(rows, plan, target, before, (*seed, 1, number))
        for number, (target, before) in enumerate(zip(targets, found.gates, strict=True))
    ]
    return gates, experts


def fit_gate(
    rows: Rows, plan: EMSettings, targets: np.ndarray, before: Gate | None, seed: tuple[int, ...]
) -> Gate:
    """Fit a gate to soft targets of shape (n_rows, n_branches), whose rows sum to the weights.

    A softmax regression starts from the previous gate. Another classifier is fitted from scratch on one copy
    of each row for each branch, weighted by the share. A gate without rows does not change.
    """
    n_branches = targets.shape[1]
    start = SoftmaxModel.even(np.arange(n_branches), rows.matrix.shape[1]) if before is None else before
    if plan.gate_estimator is None:
        return raised(start, rows.matrix, targets, plan.alpha)
    passing, branches = np.nonzero(targets > SMALLEST)
    if len(passing) == 0:
        return start
    with naming(numbered(seed[-1], plan.gate_estimator, "Gate"), "be fitted"):
        return fit_weighted(
            plan.gate_estimator, rows.matrix[passing], branches, targets[passing, branches], seed
        )


def fit_expert(
    rows: Rows, plan: EMSettings, weights: np.ndarray, before: Expert | None, seed: tuple[int, ...]
) -> Expert:
    """Fit an expert to weighted rows. Our own linear model starts from the previous one."""
    is_class_task = isinstance(rows.task, Classification)
    if plan.estimator is not None:
        model: Model = fit_other(rows, plan.estimator, weights, seed)
    elif is_class_task:
        classes, places = rows.seen
        targets = np.zeros((len(weights), len(classes)))
        targets[np.arange(len(weights)), places] = weights
        last = None if before is None else before.model
        start = last if isinstance(last, SoftmaxModel) else SoftmaxModel.even(classes, rows.matrix.shape[1])
        model = raised(start, rows.matrix, targets, plan.alpha)
    else:
        model = fit_line(rows, plan.alpha, weights, before)
    if is_class_task:
        return Expert(model)
    with naming(numbered(seed[-1], model, "Expert"), "vote"):
        errors = errors_of(model, rows)
    return Expert(model, max(float(weights @ errors**2 / weights.sum()), MIN_VARIANCE))


def fit_line(rows: Rows, alpha: float, weights: np.ndarray, before: Expert | None) -> LinearModel:
    """Fit a ridge regression for the previous variance."""
    variance = 1.0 if before is None else before.variance
    found = LinearModel(fit_ridge(rows.matrix, rows.y, weights, alpha * variance))

    def loss(model: LinearModel) -> float:
        squares = float(weights @ errors_of(model, rows) ** 2)
        return 0.5 * squares / variance + penalty_of(model, alpha)

    # In a nearly singular system, rounding could lower the objective. Keep the previous model then.
    last = None if before is None else before.model
    return last if isinstance(last, LinearModel) and not loss(found) < loss(last) else found


def fit_other(rows: Rows, estimator: BaseEstimator, weights: np.ndarray, seed: tuple[int, ...]) -> Model:
    """Fit an estimator as expert to the rows with positive weight."""
    seen = np.flatnonzero(weights > SMALLEST)
    answers = rows.y[seen]
    if isinstance(rows.task, Classification):
        answers = rows.task.classes[answers]
    with naming(numbered(seed[-1], estimator, "Expert"), "be fitted"):
        return fit_weighted(estimator, rows.matrix[seen], answers, weights[seen], seed)


def fit_weighted(
    estimator: BaseEstimator,
    matrix: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    seed: tuple[int, ...],
) -> Model:
    """Fit a clone of an estimator to weighted rows, or a constant to rows of a single class."""
    is_sure = is_classifier(estimator) and (y == y[0]).all()
    model = DummyClassifier() if is_sure else seeded(estimator, np.random.default_rng(seed))
    request(model, "sample_weight")
    return model.fit(matrix, y, **arguments(model, "sample_weight", weights))


def joint_logs(rows: Rows, plan: EMSettings, gates: list[Gate], experts: list[Expert]) -> np.ndarray:
    """Return the logarithm of gate times density, of shape (n_rows, n_experts)."""
    densities = []
    for number, expert in enumerate(experts):
        with naming(numbered(number, expert.model, "Expert"), "vote"):
            densities.append(log_density(rows, expert))
    return joined_logs(gates, plan.tree, rows.matrix) + np.column_stack(densities)


def joined_logs(gates: Sequence[Gate], tree: Branches, matrix: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of experts, of shape (n_rows, n_experts)."""
    logs = []
    for number, gate in enumerate(gates):
        with naming(numbered(number, gate, "Gate"), "vote"):
            logs.append(gate_logs(gate, tree.n_branches, matrix))
    return tree.join(logs)


def gate_logs(gate: Gate, n_branches: int, matrix: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of branches, of shape (n_rows, n_branches)."""
    if isinstance(gate, SoftmaxModel):
        return gate.predict_log_proba(matrix)
    shares = np.zeros((len(matrix), n_branches))
    shares[:, gate.classes_] = gate.predict_proba(matrix)
    return log_shares(shares)


def log_density(rows: Rows, expert: Expert) -> np.ndarray:
    """Return the logarithm of the probability, or of the normal density, of each row's y."""
    if not isinstance(rows.task, Classification):
        squares = errors_of(expert.model, rows) ** 2
        return -0.5 * (squares / expert.variance + np.log(expert.variance) + LOG_OF_TWO_PI)
    every = np.arange(len(rows.y))
    if isinstance(expert.model, SoftmaxModel):
        return expert.model.predict_log_proba(rows.matrix)[every, rows.seen[1]]
    votes = votes_of(expert.model, rows.matrix, rows.task)
    return np.log(np.maximum(votes[every, rows.y], SMALLEST))


def errors_of(model: Model, rows: Rows) -> np.ndarray:
    """Return y minus the predictions of a model."""
    return rows.y - votes_of(model, rows.matrix, rows.task)[:, 0]


def expect(logs: np.ndarray, weights: np.ndarray, is_hard: bool) -> tuple[float, np.ndarray]:
    """Return the log-likelihood of the rows, and the share of each expert in each row (the E-step).

    Examples
    --------
    >>> logs = np.log([[0.1, 0.3], [0.2, 0.2]])
    >>> expect(logs, np.ones(2), is_hard=False)[1]
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    >>> expect(logs, np.ones(2), is_hard=True)[1]
    array([[0., 1.],
           [1., 0.]])
    """
    if is_hard:
        return float(weights @ logs.max(axis=1)), np.eye(logs.shape[1])[logs.argmax(axis=1)]
    return float(weights @ logsumexp(logs, axis=1)), softmax(logs, axis=1)


def first_shares(rows: Rows, plan: EMSettings, rng: np.random.Generator) -> np.ndarray:
    """Draw a row by weight as the center of each expert, and return the shares of experts by distance."""
    n_rows, n_experts = len(rows.y), plan.tree.n_experts
    chance = rows.weights / rows.weights.sum()
    centers = rows.matrix[rng.choice(n_rows, size=n_experts, replace=n_rows < n_experts, p=chance)]
    squares = np.column_stack([((rows.matrix - center) ** 2).sum(axis=1) for center in centers])
    width = float(chance @ squares.min(axis=1)) or 1.0
    _, shares = expect(-squares / width, rows.weights, plan.is_hard)
    return shares if plan.is_hard else (1 - EVEN_SHARE) * shares + EVEN_SHARE / n_experts


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread in a block."""
    ONE_THREAD.begin()
    try:
        yield
    finally:
        ONE_THREAD.end(None)
        ONE_THREAD.release()
