"""Mixtures of experts: experts learn the rows that a gate sends to them, and the gate learns which these are.

In: a table. It is made a matrix of numbers, EM finds gates and experts (`expectation.py`), and the decision
is the mean of the experts' votes by the gate's probabilities.
"""

from __future__ import annotations

import sys
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.committee import FITS_AT_ONCE, RUNNER, VERBOSE
from committee.assembling.experts.expectation_maximisation import Mixture, Plan, Rows, climb
from committee.assembling.experts.gate import Branches, expert_shares
from committee.assembling.experts.softmax import SoftmaxModel, fields_of, model_from
from committee.combining.metadata_routing import reaches, request
from committee.learners.training_data import Training, read_training
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, draw_seed
from committee.learners.voter import Classifies, Regresses, Tabular
from committee.members.member_kinds import is_member
from committee.members.member_tasks import naming, numbered
from committee.members.member_votes import votes_of
from committee.members.table_encoder import TableEncoder, n_features_of, new_encoder
from committee.parameters import (
    RANDOM_STATE,
    Constraint,
    declared,
    integer,
    number,
    one_of,
    optional,
    parameter,
)
from committee.running.deadline import check
from committee.saving import Fields, saved
from committee.saving.predictors.predictor import Predictor
from committee.saving.states.state import take_table
from committee.table import BinnedTable
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.task import Classification, Regression

LARGEST, MOST_BRANCHES = sys.float_info.max, 2**31 - 1


@declared
class Experts(Tabular):
    """The parameters and the fit of mixtures of experts.

    Attributes
    ----------
    estimators_ : list
        The fitted experts. They take the matrix that the table is made into; those of our own have
        `coefficients`, of shape (n_features + 1, n_outputs) with the intercepts last.
    gates_ : list
        The fitted gates, level by level; one, unless there is a tree of gates.
    n_iter_ : int
        How many iterations the best restart took.
    converged_ : bool
        Whether the best restart ended before `max_iter`.
    log_likelihoods_ : ndarray of shape (n_iterations,)
        The log-likelihood of the training rows after each iteration of the best restart, less the penalties
        of gates and experts of our own. It never falls.
    restart_log_likelihoods_ : ndarray of shape (n_init,)
        The last one of every restart.
    """

    estimator: BaseEstimator | None = parameter(
        None,
        Constraint(
            "an estimator with fit and predict, or None", lambda value: value is None or is_member(value)
        ),
        "The expert, cloned for each seat; its `fit` must take `sample_weight`, and an expert for classes "
        "must have `predict_proba`. None is a softmax regression for classes and a linear regression for "
        "numbers.",
        kw_only=False,
    )
    n_experts: int = parameter(4, integer(1), "The number of experts.")
    gate_estimator: BaseEstimator | None = parameter(
        None,
        Constraint(
            "a classifier with predict_proba, or None", lambda value: value is None or is_member(value)
        ),
        "The gate: any classifier with `predict_proba` whose `fit` takes `sample_weight`. It sees each row "
        "once for every expert, weighted by the expert's share in the row. None is a softmax regression.",
    )
    branching: int | None = parameter(
        None,
        optional(integer(2)),
        "How many branches each gate of a tree of gates has, which makes the mixture hierarchical; "
        "`n_experts` must be a power of it. None is one gate for all experts.",
    )
    gating: str = parameter(
        "soft",
        one_of("soft", "hard"),
        'How new rows are decided. "soft" is the mean of the votes of all experts by the probabilities of '
        'the gate, "hard" the vote of the most probable expert.',
    )
    assignment: str = parameter(
        "soft",
        one_of("soft", "hard"),
        'How rows are shared out in training. "soft" is EM. "hard" gives each row to the expert that '
        "explains it best, and the likelihood of a row is that of its expert alone.",
    )
    alpha: float = parameter(
        0.01,
        number(0, closed="neither"),
        "The penalty of squared coefficients in gates and experts of our own: half of it for each square, in "
        "the unit of one row's log-likelihood. Columns, and numbers as y, have the variance 1 there.",
    )
    n_init: int = parameter(
        3, integer(1), "The number of restarts, of which that of the highest final log-likelihood is kept."
    )
    max_iter: int = parameter(100, integer(1), "The most iterations of a restart.")
    tol: float = parameter(
        1e-4, number(0), "A restart ends when an iteration gains no more than this for a row of weight 1."
    )
    categorical_features: object = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: str | running.Runner = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *FITS_AT_ONCE)
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "The seed of the starts, and of gates and experts whose own `random_state` is None.",
    )
    verbose: int = parameter(0, *VERBOSE)

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find gates and experts.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Gates and experts see it as `committee.assembling.TableEncoder` makes it a matrix.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight 2 is the row twice, one of weight 0 is not there.

        Returns
        -------
        self
        """
        self._check_parameters()
        tree = Branches.of(int(self.n_experts), self.branching)
        if isinstance(X, BinnedTable):
            raise TypeError("Experts learn from numbers, not from bins. Pass the table that the bins are of.")
        training = read_training(self, X, y, sample_weight)
        if self.estimator is not None:
            check_member("The expert", self.estimator, isinstance(training.task, Classification))
        if self.gate_estimator is not None:
            check_member("The gate", self.gate_estimator, True)
        encoder = new_encoder()
        rows = Rows.of(training, encoder)
        found = self._restart(rows, self._plan(tree))
        self._keep_mixtures(training, rows, tree, found)
        self._encoder = encoder
        return self

    def gate(self, X: TableLike) -> np.ndarray:
        """Return the probabilities of the experts.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_experts)
            Each row sums to one. With a tree of gates they are the products along its paths.
        """
        matrix = self._matrix(X)
        return expert_shares(self.gates_, self._branches, matrix)

    def votes(self, X: TableLike) -> np.ndarray:
        """Return the vote of every expert.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float64 of shape (n_experts, n_rows, n_outputs)
        """
        return self._in_units_of_y(self._votes(self._matrix(X)))

    def _decide(self, X: TableLike) -> np.ndarray:
        matrix = self._matrix(X)
        shares, votes = expert_shares(self.gates_, self._branches, matrix), self._votes(matrix)
        if self.gating == "hard":
            decision = votes[shares.argmax(axis=1), np.arange(len(matrix))]
        else:
            decision = np.zeros(votes.shape[1:])
            for share, vote in zip(shares.T, votes, strict=True):
                decision += share[:, None] * vote
        if isinstance(self._task, Classification):
            return decision / decision.sum(axis=1, keepdims=True)
        return self._in_units_of_y(decision)

    def _matrix(self, X: TableLike) -> np.ndarray:
        table = self._read(X)  # It raises unless the mixture is fitted.
        return self._encoder._transform_table(table)

    def _votes(self, matrix: np.ndarray) -> np.ndarray:
        """Return the votes of the experts, numbers in the units that these have learnt."""
        votes = []
        for place, each in enumerate(self.estimators_):
            with naming(numbered(place, each, "Expert"), "vote"):
                votes.append(votes_of(each, matrix, self._task))
        return np.array(votes)

    def _in_units_of_y(self, votes: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.clip(self._center + self._spread * votes, -LARGEST, LARGEST)

    def _plan(self, tree: Branches) -> Plan:
        return Plan(
            type(self).__name__,
            tree,
            self.estimator,
            self.gate_estimator,
            self.assignment == "hard",
            float(self.alpha),
            float(self.tol),
            int(self.max_iter),
            draw_seed(self.random_state),
        )

    def _restart(self, rows: Rows, plan: Plan) -> list[Mixture]:
        """Find a mixture by each restart."""
        # One restart has nothing to run beside.
        runner = "serial" if self.n_init == 1 and isinstance(self.runner, str) else self.runner
        with (
            running.runner_of(runner, self.n_jobs) as run,
            running.Work("restarts", plan.name, int(self.n_init), verbose=int(self.verbose)) as work,
        ):
            shared = run.put(rows)
            tasks = [
                run.submit(climb, shared, plan, restart, name=f"restart {restart}")
                for restart in range(self.n_init)
            ]
            for n_done, _ in enumerate(run.as_completed(tasks), start=1):
                check()
                work.report(n_done)
            # In the order of the tasks, not of their ends, so that every run raises the same failure.
            return [task.result() for task in tasks]

    def _keep_mixtures(self, training: Training, rows: Rows, tree: Branches, found: list[Mixture]) -> None:
        """Remember the best of the mixtures, and how likely all have been."""
        # The density of a number is that of the scaled one, divided by the scale.
        units = rows.weights.sum() * np.log(rows.spread)
        last = np.array([each.objectives[-1] for each in found]) - units
        best = found[last.argmax()]
        self._keep_task(training.table.schema, training.task)
        self._data, self._branches = training.data, tree
        self._center, self._spread = rows.center, rows.spread
        self.gates_, self.estimators_ = best.gates, [expert.model for expert in best.experts]
        if isinstance(training.task, Regression):
            self.noise_deviations_ = rows.spread * np.sqrt([expert.variance for expert in best.experts])
        self.log_likelihoods_ = best.objectives - units
        self.restart_log_likelihoods_ = last
        self.converged_ = best.has_converged

    @property
    def n_iter_(self) -> int:
        """How many iterations the best restart took."""
        check_is_fitted(self)
        return len(self.log_likelihoods_)

    def predictor(self) -> Predictor:
        """Raise, since a gate looks at the rows."""
        raise ValueError("A gate looks at the rows, so there is no predictor. Use the mixture.")

    def _has_learnt(self) -> bool:
        return "_encoder" in self.__dict__

    def _learnt(self) -> dict[str, object]:
        learnt = {
            "encoder": self._encoder,
            "n_branches": self._branches.n_branches,
            "gates": [fields_of(gate) for gate in self.gates_],
            "experts": [fields_of(expert) for expert in self.estimators_],
            "log_likelihoods": self.log_likelihoods_,
            "restart_log_likelihoods": self.restart_log_likelihoods_,
            "converged": self.converged_,
        }
        if isinstance(self._task, Regression):
            learnt |= {
                "center": self._center,
                "spread": self._spread,
                "noise_deviations": self.noise_deviations_,
            }
        return {"schema": self.schema_, "task": self._task} | learnt

    def _take_learnt(self, fields: Fields) -> None:
        self._keep_task(*take_table(fields, self._task_type))
        self._encoder = fields.take("encoder", TableEncoder)
        is_same = self._encoder._has_learnt() and self._encoder.schema_ == self.schema_
        fields.require(is_same, "the table is encoded with other columns")
        gates, experts = fields.take("gates", list), fields.take("experts", list)
        n_branches = fields.integer("n_branches", 1, MOST_BRANCHES)
        fields.require(experts, "there are no experts")
        is_tree = n_branches == len(experts) or 1 < n_branches < len(experts)
        fields.require(is_tree, "gates do not lead to the experts")
        self._branches = Branches(len(experts), n_branches)
        leads = n_branches**self._branches.depth == len(experts) and self._branches.n_gates == len(gates)
        fields.require(leads, "gates do not lead to the experts")
        branches, n_features = np.arange(n_branches), n_features_of(self._encoder)
        self.gates_ = [model_from(gate, n_features, branches, fields) for gate in gates]
        are_whole = all(
            np.array_equal(gate.classes_, branches) for gate in self.gates_ if isinstance(gate, SoftmaxModel)
        )
        fields.require(are_whole, "a gate leaves out a branch")
        classes = self._task.classes if isinstance(self._task, Classification) else None
        self.estimators_ = [model_from(expert, n_features, classes, fields) for expert in experts]
        self._center, self._spread = 0.0, 1.0
        if classes is None:
            self._center, self._spread = fields.take("center", float), fields.positive("spread")
            fields.require(np.isfinite(self._center), "the center is not finite")
            self.noise_deviations_ = fields.array("noise_deviations", np.float64, (len(experts),))
            fields.require((self.noise_deviations_ >= 0).all(), "a deviation is negative")
        self.log_likelihoods_ = fields.array("log_likelihoods", np.float64, (None,))
        self.restart_log_likelihoods_ = fields.array("restart_log_likelihoods", np.float64, (None,))
        self.converged_ = fields.take("converged", bool)


@saved
@declared
class MixtureOfExpertsClassifier(Classifies, Experts):
    r"""A mixture of experts for classes: a gate tells how far each expert is to be trusted with a row.

    The probability of class :math:`c` is

    .. math:: p(c \mid x) = \sum_k g_k(x) \, p_k(c \mid x), \qquad
        g_k(x) = \frac{\exp(v_k^\top x)}{\sum_j \exp(v_j^\top x)},

    with the gate's probabilities :math:`g_k` and the experts' :math:`p_k` (Jacobs, Jordan, Nowlan and Hinton
    1991). In a tree of gates, :math:`g_k` is the product of the probabilities along the path to the expert.
    EM (Jordan and Jacobs 1994) finds both from several random starts: row :math:`i` belongs to expert
    :math:`k` with the share :math:`h_{ik} \propto g_k(x_i) \, p_k(y_i \mid x_i)`; experts are then fitted
    with the weights :math:`h_{ik}`, the gate is fitted to the shares, and so on until the likelihood stands.

    Notes
    -----
    An expert that gets no rows stays as it was in the iteration before; if it gets none at the start, it
    begins with all rows. A class that an expert has not seen gets no vote of it. Own gates and experts raise
    the likelihood in every iteration; with others a step that lowers it is taken back and is the last.

    References
    ----------
    R. A. Jacobs, M. I. Jordan, S. J. Nowlan, G. E. Hinton. Adaptive mixtures of local experts. Neural
    Computation 3, 1991.

    M. I. Jordan, R. A. Jacobs. Hierarchical mixtures of experts and the EM algorithm. Neural Computation 6,
    1994.

    Examples
    --------
    >>> from committee import MixtureOfExpertsClassifier
    >>> X = np.linspace(-3, 3, 61)[:, None]
    >>> y = np.where(np.abs(X[:, 0]) > 1.5, "outside", "inside")
    >>> mixture = MixtureOfExpertsClassifier(n_experts=2, random_state=0).fit(X, y)
    >>> mixture.predict([[-2.0], [0.0], [2.0]])
    array(['outside', 'inside', 'outside'], dtype='<U7')
    >>> mixture.gate([[-2.0], [2.0]]).argmax(axis=1)
    array([1, 0])
    """


@saved
@declared
class MixtureOfExpertsRegressor(Regresses, Experts):
    r"""A mixture of experts for numbers: a gate tells how far each expert is to be trusted with a row.

    The density of a number :math:`y` is

    .. math:: p(y \mid x) = \sum_k g_k(x) \, N(y; \mu_k(x), \sigma_k^2), \qquad
        g_k(x) = \frac{\exp(v_k^\top x)}{\sum_j \exp(v_j^\top x)},

    with the gate's probabilities :math:`g_k`, the experts' numbers :math:`\mu_k` and a variance of the noise
    of each expert; the prediction is its mean, :math:`\sum_k g_k(x) \mu_k(x)` (Jacobs, Jordan, Nowlan and
    Hinton 1991). In a tree of gates, :math:`g_k` is the product of the probabilities along the path to the
    expert. EM (Jordan and Jacobs 1994) finds them from several random starts: row :math:`i` belongs to expert
    :math:`k` with the share :math:`h_{ik} \propto g_k(x_i) \, N(y_i; \mu_k(x_i), \sigma_k^2)`; experts are
    then fitted with the weights :math:`h_{ik}`, the gate is fitted to the shares, and so on until the
    likelihood stands.

    Attributes
    ----------
    noise_deviations_ : ndarray of shape (n_experts,)
        The standard deviation of the noise around the numbers of each expert.

    Notes
    -----
    Experts learn numbers of mean 0 and standard deviation 1, and so do those that `estimators_` holds answer;
    `votes` and `predict` are in the units of y. An expert that gets no rows stays as it was in the iteration
    before; if it gets none at the start, it begins with all rows. Own gates and experts raise the likelihood
    in every iteration; with others a step that lowers it is taken back and is the last.

    References
    ----------
    R. A. Jacobs, M. I. Jordan, S. J. Nowlan, G. E. Hinton. Adaptive mixtures of local experts. Neural
    Computation 3, 1991.

    M. I. Jordan, R. A. Jacobs. Hierarchical mixtures of experts and the EM algorithm. Neural Computation 6,
    1994.

    Examples
    --------
    >>> from committee import MixtureOfExpertsRegressor
    >>> X = np.linspace(-3, 3, 61)[:, None]
    >>> mixture = MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(X, np.abs(X[:, 0]))
    >>> mixture.predict([[-2.0], [2.0]]).round(1)
    array([2., 2.])
    """


def check_member(name: str, member: BaseEstimator, are_classes: bool) -> None:
    """Raise unless an estimator can be fitted with weights and, for classes, gives probabilities.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> check_member("The expert", KNeighborsClassifier(), are_classes=True)
    Traceback (most recent call last):
    ValueError: The expert KNeighborsClassifier takes no sample_weight in fit, and EM weighs rows. Use one
    that does, such as LogisticRegression.
    """
    kind = type(member).__name__
    example = "LogisticRegression" if are_classes else "Ridge"
    if is_classifier(member) != are_classes:
        wanted = "classifier" if are_classes else "regressor"
        raise ValueError(f"{name} {kind} is no {wanted}. Use one, such as {example}.")
    asked = clone(member)
    request(asked, "sample_weight")
    if not reaches(asked, "sample_weight"):
        raise ValueError(
            f"{name} {kind} takes no sample_weight in fit, and EM weighs rows. Use one that does, such as "
            f"{example}."
        )
    if are_classes and not hasattr(member, "predict_proba"):
        raise ValueError(
            f"{name} {kind} has no predict_proba, and EM needs probabilities. Use one that has, such as "
            f"{example}."
        )
