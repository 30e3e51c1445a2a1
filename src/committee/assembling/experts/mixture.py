"""Mixtures of experts: a gate weights experts row by row, and both are fitted together.

In: a table, which is encoded as a matrix of numbers. EM fits gates and experts (`expectation_maximisation`).
Out: the mean of the experts' votes, weighted by the probabilities of the gate.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from committee import running
from committee.assembling.committee import FITS_AT_ONCE, RUNNER, VERBOSE
from committee.assembling.experts.expectation_maximisation import (
    EMSettings,
    Mixture,
    Rows,
    climb,
    joined_logs,
)
from committee.combining.metadata_routing import accepts_weights
from committee.learners.training_data import Training, read_training
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, draw_seed
from committee.learners.voter import Classifies, Regresses, Tabular
from committee.members.member_kinds import MEMBER, is_member
from committee.members.member_tasks import naming, numbered
from committee.members.member_votes import votes_of
from committee.members.table_encoder import TableEncoder, new_encoder
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
from committee.saving import Fields
from committee.saving.plain_models.mixture_models import (
    Branches,
    LinearModel,
    SoftmaxModel,
    are_some_of,
    in_units_of_y,
    mixed,
    saved_form,
    shares_of_experts,
)
from committee.saving.states.mixture_state import MixtureState
from committee.table import BinnedTable
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.task import Classification, Regression


@declared
class Experts(Tabular):
    """The parameters and the fit of mixtures of experts.

    Attributes
    ----------
    estimators_ : list
        The fitted experts, which predict from the encoded matrix. The default experts have `coefficients` of
        shape (n_features + 1, n_outputs) with the intercepts in the last row.
    gates_ : list
        The fitted gates, level by level. There is a single gate unless `branching` is set.
    n_iter_ : int
        The number of iterations of the best restart.
    converged_ : bool
        Whether the best restart ended before `max_iter`.
    log_likelihoods_ : ndarray of shape (n_iterations,)
        The log-likelihood of the training rows after each iteration of the best restart, minus the penalties
        of the default gates and experts. It never decreases.
    restart_log_likelihoods_ : ndarray of shape (n_init,)
        The final value of this log-likelihood in every restart.
    """

    estimator: BaseEstimator | None = parameter(
        None,
        MEMBER,
        "The estimator that is cloned for each expert. Its `fit` must accept `sample_weight`, and a "
        "classifier must have `predict_proba`. None is a softmax regression for classes and a linear "
        "regression for numbers.",
        kw_only=False,
    )
    n_experts: int = parameter(4, integer(1), "The number of experts.")
    gate_estimator: BaseEstimator | None = parameter(
        None,
        Constraint(
            "a classifier with predict_proba, or None", lambda value: value is None or is_member(value)
        ),
        "The gate: any classifier with `predict_proba` whose `fit` accepts `sample_weight`. It is fitted on "
        "one copy of each row for every expert, weighted by the share of the expert in the row. None is a "
        "softmax regression.",
    )
    branching: int | None = parameter(
        None,
        optional(integer(2)),
        "The number of branches of each gate in a hierarchical mixture. `n_experts` must be a power of it. "
        "None is one gate for all experts.",
    )
    gating: str = parameter(
        "soft",
        one_of("soft", "hard"),
        'How experts are combined on new rows. "soft" is the mean of the votes of all experts, weighted by '
        'the probabilities of the gate. "hard" is the vote of the most probable expert.',
    )
    assignment: str = parameter(
        "soft",
        one_of("soft", "hard"),
        'How training rows are assigned to experts. "soft" is EM. "hard" assigns each row to the expert with '
        "the highest likelihood, and only this expert counts in the likelihood of the row.",
    )
    alpha: float = parameter(
        0.01,
        number(0, closed="neither"),
        "The penalty of squared coefficients in the default gates and experts. Half of `alpha` times the sum "
        "of squares is subtracted from the log-likelihood. Columns, and the y of a regression, are scaled to "
        "variance 1 before.",
    )
    n_init: int = parameter(
        3, integer(1), "The number of restarts. The one with the highest final log-likelihood is kept."
    )
    max_iter: int = parameter(100, integer(1), "The maximum number of iterations of a restart.")
    tol: float = parameter(
        1e-4,
        number(0),
        "A restart ends when the log-likelihood per unit of weight gains at most this.",
    )
    categorical_features: object = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: str | running.Runner = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *FITS_AT_ONCE)
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "The seed of the restarts, and of gates and experts whose `random_state` is None.",
    )
    verbose: int = parameter(0, *VERBOSE)

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the gates and experts.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Gates and experts see it as a matrix from `committee.members.TableEncoder`.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weight 2 is equivalent to the row twice. Rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        tree = Branches.of(int(self.n_experts), self.branching)
        if isinstance(X, BinnedTable):
            raise TypeError("Experts are fitted on numbers, not on bins. Pass the original table.")
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
            Each row sums to one. In a tree of gates, these are the products along its paths.
        """
        return self._shares(self._matrix(X))

    def votes(self, X: TableLike) -> np.ndarray:
        """Return the vote of every expert.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float64 of shape (n_experts, n_rows, n_outputs)
        """
        return in_units_of_y(self._votes(self._matrix(X)), self._center, self._spread)

    def _decide(self, X: TableLike) -> np.ndarray:
        matrix = self._matrix(X)
        decision = mixed(self._shares(matrix), self._votes(matrix), self.gating == "hard")
        if isinstance(self._task, Classification):
            return decision / decision.sum(axis=1, keepdims=True)
        return in_units_of_y(decision, self._center, self._spread)

    def _matrix(self, X: TableLike) -> np.ndarray:
        table = self._read(X)  # It raises unless the mixture is fitted.
        return self._encoder._transform_table(table)

    def _shares(self, matrix: np.ndarray) -> np.ndarray:
        return shares_of_experts(joined_logs(self.gates_, self._branches, matrix))

    def _votes(self, matrix: np.ndarray) -> np.ndarray:
        """Return the votes of the experts. Numbers are in scaled units."""
        votes = []
        for place, each in enumerate(self.estimators_):
            with naming(numbered(place, each, "Expert"), "vote"):
                votes.append(votes_of(each, matrix, self._task))
        return np.array(votes)

    def _plan(self, tree: Branches) -> EMSettings:
        return EMSettings(
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

    def _restart(self, rows: Rows, plan: EMSettings) -> list[Mixture]:
        """Fit the mixture of each restart."""
        # A single restart cannot run in parallel.
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
            # Read results in the order of the tasks, so that every run raises the same failure.
            return [task.result() for task in tasks]

    def _keep_mixtures(self, training: Training, rows: Rows, tree: Branches, found: list[Mixture]) -> None:
        """Store the best mixture, and the likelihoods of all."""
        # The density of y is the density of the scaled y divided by the scale.
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
        """The number of iterations of the best restart."""
        check_is_fitted(self)
        return len(self.log_likelihoods_)

    def _has_learnt(self) -> bool:
        return "_encoder" in self.__dict__

    def _state(self) -> MixtureState:
        return MixtureState(
            self.schema_,
            self._task,
            self._encoder,
            self._branches.n_branches,
            [saved_form(gate) for gate in self.gates_],
            [saved_form(expert) for expert in self.estimators_],
            self._center,
            self._spread,
        )

    def _learnt(self) -> dict[str, object]:
        record = {
            "log_likelihoods": self.log_likelihoods_,
            "restart_log_likelihoods": self.restart_log_likelihoods_,
            "converged": self.converged_,
        }
        if isinstance(self._task, Regression):
            record["noise_deviations"] = self.noise_deviations_
        return super()._learnt() | record

    def _take_learnt(self, fields: Fields) -> None:
        state = MixtureState.take(fields, self._task_type)
        self._keep_task(state.schema, state.task)
        self._encoder, self._branches = state.encoder, state.tree
        is_same = (
            isinstance(self._encoder, TableEncoder)
            and self._encoder._has_learnt()
            and self._encoder.schema_ == self.schema_
        )
        fields.require(is_same, "the table is encoded with other columns")
        width = self._encoder._encoding.width
        self.gates_, self.estimators_ = state.models(width)
        classes = self._task.classes if isinstance(self._task, Classification) else None
        for gate in self.gates_:
            check_fitted(gate, width, np.arange(state.n_branches), fields)
        for expert in self.estimators_:
            check_fitted(expert, width, classes, fields)
        self._center, self._spread = state.center, state.spread
        if classes is None:
            shape = (len(self.estimators_),)
            self.noise_deviations_ = fields.array("noise_deviations", np.float64, shape)
            fields.require((self.noise_deviations_ >= 0).all(), "a deviation is negative")
        self.log_likelihoods_ = fields.array("log_likelihoods", np.float64, (None,))
        self.restart_log_likelihoods_ = fields.array("restart_log_likelihoods", np.float64, (None,))
        self.converged_ = fields.take("converged", bool)


@declared
class MixtureOfExpertsClassifier(Classifies, Experts):
    r"""A mixture of experts for classification: a gate weights the experts for each row.

    The probability of class :math:`c` is

    .. math:: p(c \mid x) = \sum_k g_k(x) \, p_k(c \mid x), \qquad
        g_k(x) = \frac{\exp(v_k^\top x)}{\sum_j \exp(v_j^\top x)},

    with the probabilities :math:`g_k` of the gate and :math:`p_k` of the experts (Jacobs, Jordan, Nowlan and
    Hinton 1991). In a tree of gates, :math:`g_k` is the product of the probabilities along the path to the
    expert. EM (Jordan and Jacobs 1994) fits both from several random starts. It alternates two steps until
    the likelihood converges. First, row :math:`i` is assigned to expert :math:`k` with the share
    :math:`h_{ik} \propto g_k(x_i) \, p_k(y_i \mid x_i)`. Then the experts are fitted with the weights
    :math:`h_{ik}`, and the gate is fitted to the shares.

    Notes
    -----
    An expert without rows does not change in this iteration. In the first iteration it is fitted to all rows.
    An expert does not vote for classes that it has not seen. The default gates and experts never lower the
    likelihood. Other estimators can lower it. Such a step is undone and ends the restart.

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


@declared
class MixtureOfExpertsRegressor(Regresses, Experts):
    r"""A mixture of experts for regression: a gate weights the experts for each row.

    The density of a number :math:`y` is

    .. math:: p(y \mid x) = \sum_k g_k(x) \, N(y; \mu_k(x), \sigma_k^2), \qquad
        g_k(x) = \frac{\exp(v_k^\top x)}{\sum_j \exp(v_j^\top x)},

    with the probabilities :math:`g_k` of the gate, the predictions :math:`\mu_k` of the experts and a noise
    variance :math:`\sigma_k^2` for each expert. The prediction of the mixture is the mean of this density,
    :math:`\sum_k g_k(x) \mu_k(x)` (Jacobs, Jordan, Nowlan and Hinton 1991). In a tree of gates, :math:`g_k`
    is the product of the probabilities along the path to the expert. EM (Jordan and Jacobs 1994) fits the
    mixture from several random starts. It alternates two steps until the likelihood converges. First, row
    :math:`i` is assigned to expert :math:`k` with the share
    :math:`h_{ik} \propto g_k(x_i) \, N(y_i; \mu_k(x_i), \sigma_k^2)`. Then the experts are fitted with the
    weights :math:`h_{ik}`, and the gate is fitted to the shares.

    Attributes
    ----------
    noise_deviations_ : ndarray of shape (n_experts,)
        The standard deviation of the noise around the predictions of each expert.

    Notes
    -----
    Experts are fitted on y scaled to mean 0 and standard deviation 1, and the models in `estimators_` predict
    this scaled y. `votes` and `predict` are in the units of y. An expert without rows does not change in this
    iteration. In the first iteration it is fitted to all rows. The default gates and experts never lower the
    likelihood. Other estimators can lower it. Such a step is undone and ends the restart.

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
    """Raise unless an estimator accepts weights and, for classes, returns probabilities.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> check_member("The expert", KNeighborsClassifier(), are_classes=True)
    Traceback (most recent call last):
    ValueError: The expert KNeighborsClassifier does not support sample_weight in fit, but EM weights rows.
    Use one that does, such as LogisticRegression.
    """
    kind = type(member).__name__
    example = "LogisticRegression" if are_classes else "Ridge"
    if is_classifier(member) != are_classes:
        wanted = "classifier" if are_classes else "regressor"
        raise ValueError(f"{name} {kind} is not a {wanted}. Use one, such as {example}.")
    if not accepts_weights(member):
        raise ValueError(
            f"{name} {kind} does not support sample_weight in fit, but EM weights rows. Use one that does, "
            f"such as {example}."
        )
    if are_classes and not hasattr(member, "predict_proba"):
        raise ValueError(
            f"{name} {kind} has no predict_proba, but EM needs probabilities. Use one that has it, such as "
            f"{example}."
        )


def check_fitted(model: object, width: int, classes: np.ndarray | None, fields: Fields) -> None:
    """Raise `DamagedFile` unless an estimator of a file can vote as a gate or an expert."""
    if isinstance(model, SoftmaxModel | LinearModel):
        return
    method = "predict" if classes is None else "predict_proba"
    fields.require(hasattr(model, method), f"a gate or an expert has no {method}")
    fits = getattr(model, "n_features_in_", width) == width
    fields.require(fits, "a gate or an expert was fitted on other columns")
    is_known = classes is None or are_some_of(getattr(model, "classes_", []), classes)
    fields.require(is_known, "a gate or an expert was fitted on other classes")
