"""Fit averaged neural networks on tables. Each network holds out a part of the rows for early stopping.

In: a table and a class or a number for each row. Out: parameters of a few small networks of one shape.
"""

from __future__ import annotations

import copy
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from committee.learners.network_training import N_ROUNDS, NetworkRows, NetworkSettings, learn
from committee.learners.training_data import seen_table, training_of
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, CLASS_WEIGHT, N_JOBS, SEED, VERBOSE
from committee.learners.voter import Classifies, Regresses, Tabular
from committee.parameters import (
    Constraint,
    check_parameters,
    declared,
    either,
    integer,
    number,
    one_of,
    parameter,
)
from committee.running import Work, n_threads
from committee.saving import Fields
from committee.saving.states.network_state import NetworkDecider, NetworkState
from committee.task import Classification

# The usual number of steps on tables of any size, and the limits of the number of passes through the rows.
N_STEPS = 2500
LEAST_EPOCHS, MOST_EPOCHS = 6, 200
MOST_IN_BATCH = 64
LARGEST_SEED = 2**31 - 1
MOST_UNITS = 2**16
# The largest change of a prediction by `half_precision`.
MOST_ROUNDING = 1e-3


def are_layers(value: Any) -> bool:
    """Return whether a value is a sequence of numbers of units."""
    return isinstance(value, tuple | list) and all(map(integer(1, MOST_UNITS), value))


@declared
class Network(Tabular):
    """An estimator that predicts with averaged networks.

    Attributes
    ----------
    n_steps_ : int
        The number of steps with the lowest held-out loss.
    loss_curve_ : ndarray of shape (n_evaluations,)
        The held-out loss after rounds of steps: the log loss, or the squared error divided by the variance of
        y. Each row is scored by the network that does not train on it. Empty if there were too few rows to
        hold some out.
    nbytes : int
        The size of the parameters in memory.
    """

    hidden_layer_sizes: Any = parameter(
        (64, 64),
        Constraint("a tuple of integers from 1 to 65536", are_layers),
        "The number of units in each hidden layer. An empty tuple gives a linear model of the inputs.",
    )
    n_estimators: int = parameter(
        8,
        integer(1),
        "The number of networks to average. Each holds out an equal share of the rows. A single network "
        "trains on all rows and takes all steps.",
    )
    n_bins: int = parameter(
        8,
        integer(1),
        "The number of bins, and so of inputs, of a column of numbers. An input is the position of the "
        "number in its bin, so the network can bend at quantiles of the column. 1 passes the number alone. "
        "All columns together have about 1,024 bins at most.",
    )
    learning_rate: float = parameter(
        0.05,
        number(0, closed="neither"),
        "The largest step of AdamW, as a share of the initial size of the weights. It rises and falls in "
        "four cycles, each about twice as long as the previous one.",
    )
    max_steps: int | str = parameter(
        "auto",
        either(integer(1), one_of("auto")),
        'The maximum number of steps of each network. "auto" is 2,500, but at least 6 and at most 200 passes '
        "through the rows. Training stops earlier after a cycle of the learning rate without improvement, or "
        "if time is short.",
    )
    batch_size: int | str = parameter(
        "auto",
        either(integer(1), one_of("auto")),
        'The number of rows of a step. "auto" is half of the rows, but at most 64.',
    )
    dropout: float = parameter(
        0.2, number(0, 1, closed="left"), "The share of the units that are dropped at random in each step."
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    n_jobs: int | None = parameter(None, *N_JOBS)
    random_state: Any = parameter(None, *SEED)
    verbose: int = parameter(0, *VERBOSE)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1.

        Returns
        -------
        self
        """
        check_parameters(self)
        table = seen_table(self, X, sample_weight)
        training = training_of(self, table, y, sample_weight, getattr(self, "class_weight", None))
        rng = check_random_state(self.random_state)
        rows = NetworkRows.of(training, int(self.n_bins))
        folds = rows.folds(int(self.n_estimators), rng)
        settings = self._network_settings(rows, int(rng.randint(LARGEST_SEED)))
        name = type(self).__name__
        with Work("rounds", name, N_ROUNDS, is_limit=True, verbose=int(self.verbose)) as work:
            learnt = learn(rows, folds, settings, n_threads(self.n_jobs), work)
        scaling = None if isinstance(training.task, Classification) else rows.scaling
        self._network = NetworkDecider(
            rows.encoding, tuple(settings.hidden), learnt.parameters, training.task.n_outputs, scaling
        )
        self.n_steps_, self.loss_curve_ = learnt.n_steps, learnt.losses
        self._keep_task(table.schema, training.task)
        self._data = training.data
        return self

    def _network_settings(self, rows: NetworkRows, seed: int) -> NetworkSettings:
        batch_size = int(np.clip(rows.n_rows // 2, 1, MOST_IN_BATCH))
        if not isinstance(self.batch_size, str):
            batch_size = int(self.batch_size)
        in_epoch = max(1, rows.n_rows // batch_size)
        n_steps = int(np.clip(N_STEPS, LEAST_EPOCHS * in_epoch, MOST_EPOCHS * in_epoch))
        return NetworkSettings(
            hidden=[int(each) for each in self.hidden_layer_sizes],
            n_members=int(self.n_estimators),
            batch_size=batch_size,
            n_steps=n_steps if isinstance(self.max_steps, str) else int(self.max_steps),
            learning_rate=float(self.learning_rate),
            dropout=float(self.dropout),
            seed=seed,
        )

    @property
    def nbytes(self) -> int:
        """The size of the parameters in memory, in bytes."""
        check_is_fitted(self)
        return int(self._network.parameters.nbytes)

    def _decide(self, X: Any) -> np.ndarray:
        """Return the mean decision of the networks for each row, of shape (n_rows, n_outputs)."""
        table = self._read(X)
        return self._network.decide(table, n_threads(self.n_jobs))

    def _state(self) -> NetworkState:
        return NetworkState(self.schema_, self._task, self._network)

    def _learnt(self) -> dict[str, Any]:
        return super()._learnt() | {"n_steps": self.n_steps_, "loss_curve": self.loss_curve_}

    def _take_learnt(self, fields: Fields) -> None:
        state = NetworkState.take(fields, self._task_type)
        self._keep_task(state.schema, state.task)
        self._network = state.network
        self.n_steps_ = fields.integer("n_steps", 0, LARGEST_SEED)
        self.loss_curve_ = fields.array("loss_curve", np.float64, (None,), finite=False)


AnyNetwork = TypeVar("AnyNetwork", bound=Network)


def half_precision(network: AnyNetwork, X: Any) -> AnyNetwork:
    """Round the parameters of fitted networks to half precision, in which they take half the space in a file.

    Parameters
    ----------
    network : NetworkClassifier or NetworkRegressor
    X : table of shape (n_rows, n_columns)
        The rows to compare predictions for.

    Returns
    -------
    NetworkClassifier or NetworkRegressor
        A copy with rounded parameters, if no probability changes by more than 0.001 and no number by more
        than 0.001 standard deviations of the training y. The same network otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> network = NetworkClassifier(n_estimators=2, max_steps=300, random_state=0).fit(X, y)
    >>> half_precision(network, X) is network
    False
    """
    rounded = copy.copy(network)
    rounded._network = network._network.in_half_precision()
    scaling = network._network.scaling
    unit = 1.0 if scaling is None else scaling[1]
    change = np.abs(rounded._decide(X) - network._decide(X)).max(initial=0.0)
    return rounded if change <= MOST_ROUNDING * unit else network


@declared
class NetworkClassifier(Classifies, Network):
    """Small networks for classes, averaged.

    Columns of numbers are scaled robustly and cut into bins, in which they are linear (Gorishniy et al.
    2022). A column of categories has an input for each of its 64 most frequent values. A column with missing
    values has an input for them. The activation is SiLU. The loss is the log loss, with a little label
    smoothing. The cycles of the learning rate and the learnt scales of the inputs follow RealMLP
    (Holzmüller et al. 2024).

    Notes
    -----
    scikit-learn's `MLPClassifier` supports no categories and no missing values, and has no dropout and no
    cycles of the learning rate. The order of the rows changes nothing, and a row of weight 2 is the row
    twice. Neither the number of threads nor the other rows of a prediction change a bit of the result.

    References
    ----------
    Y. Gorishniy, I. Rubachev, A. Babenko, On embeddings for numerical features in tabular deep learning,
    2022.
    D. Holzmüller, L. Grinsztajn, I. Steinwart, Better by default: strong pre-tuned MLPs and boosted trees on
    tabular data, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> network = NetworkClassifier(random_state=0).fit(X, y)
    >>> bool(network.score(X, y) > 0.95)
    True
    """

    class_weight: Any = parameter(None, *CLASS_WEIGHT)


@declared
class NetworkRegressor(Regresses, Network):
    """Small networks for numbers, averaged.

    They are those of `NetworkClassifier`, with the squared error as the loss. y is scaled. Predictions stay
    in the range of the training y.

    Examples
    --------
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> network = NetworkRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> network.predict([[0.0], [np.pi / 2]]).round(1) + 0.0
    array([0., 1.])
    """
