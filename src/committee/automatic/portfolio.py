"""The portfolio: the possible members of an automatic committee, their parameters and their order.

In: the size of a table and a preset. Out: members. The order is greedy: each member adds the most to those
before it, relative to its time, on many tables. `benchmarks/portfolio.py` measures this. Members of
scikit-learn see the table as the matrix that `TableEncoder` makes.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from committee.assembling.named_members import Member, check_kind, check_pairs, encoded, with_scaled_target
from committee.automatic.automatic_parameters import AUTO, PRESETS
from committee.boosting import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogitBoostClassifier,
)
from committee.learners import C45Classifier, NetworkClassifier, NetworkRegressor
from committee.members.training_set import TrainingSet
from committee.parameters import unknown_name
from committee.sampling import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RotationForestClassifier,
)
from committee.table import Schema
from committee.votes.folds import Fold

Make: TypeAlias = "Callable[[Size], BaseEstimator]"

# The most columns that a category becomes, as `TableEncoder` encodes it.
MOST_VALUES = 32
N_NEIGHBOURS = 15
# Early stopping holds out a tenth of the rows for validation, except one of each class.
ROWS_TO_STOP_EARLY = 10


@dataclass(frozen=True, eq=False)
class Candidate:
    """A possible member of a committee.

    Parameters
    ----------
    name : str
        The identifier for `estimators`.
    title : str
        The readable name in tables.
    make : callable
        Makes an estimator for a `Size`.
    tasks : tuple of str
        "classification", "regression".
    most_rows : int
        The largest number of rows. The member takes too long on larger tables.
    most_cells : int
        The largest number of rows times columns of the encoded matrix.
    for_amounts : bool
        Whether the member needs targets that are all > 0.
    least_rows : int
        The smallest number of training rows in a fold, besides one of each class (or one for regression).
    """

    name: str
    title: str
    make: Make
    tasks: tuple[str, ...] = ("classification", "regression")
    most_rows: float = np.inf
    most_cells: float = np.inf
    for_amounts: bool = False
    least_rows: int = 0

    def member(self, size: Size) -> Member:
        """Return the member for a table."""
        return Member(self.name, self.make(size), title=self.title)

    def suits(self, size: Size) -> bool:
        """Return whether the member suits the task and the size of a table."""
        is_small = size.n_rows <= self.most_rows and size.n_rows * size.n_encoded <= self.most_cells
        return is_small and size.task in self.tasks and (size.are_amounts or not self.for_amounts)

    def rows_needed(self, size: Size) -> int:
        """Return how many rows a table needs for this member, or 0 if a table of some size has enough."""
        least = self.least_rows + size.n_outputs
        if self.least_rows == 0 or size.n_training is None or size.n_training >= least:
            return 0
        return math.ceil(least * size.n_rows / size.n_training)


@dataclass(frozen=True)
class Size:
    """The task and the size of a table.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_rows : int
    n_encoded : int
        The number of columns of the matrix from `TableEncoder`.
    n_outputs : int
    n_columns : int, default=0
        The number of columns of the table; 0 if it is a matrix.
    are_amounts : bool, default=False
        Whether the targets are numbers that are all > 0.
    n_training : int or None, default=None
        The number of training rows of the smallest fold. None if it is not known.
    """

    task: str
    n_rows: int
    n_encoded: int
    n_outputs: int
    n_columns: int = 0
    are_amounts: bool = False
    n_training: int | None = None

    @classmethod
    def of(cls, training: TrainingSet, folds: Iterable[Fold] = ()) -> Size:
        """Return the size of a training set that is split into folds."""
        task = "classification" if training.are_classes else "regression"
        width, n_columns = encoded_width(training.schema), training.schema.n_columns
        are_amounts = not training.are_classes and bool((training.y[training.rows] > 0).all())
        n_training = min((len(train) for train, _ in folds), default=None)
        return cls(
            task, len(training.rows), width, training.task.n_outputs, n_columns, are_amounts, n_training
        )

    @property
    def are_classes(self) -> bool:
        """Whether the task is classification."""
        return self.task == "classification"


def encoded_width(schema: Schema) -> int:
    """Return the largest number of columns that `TableEncoder` makes of a table."""
    categories = np.minimum(schema.n_categories[schema.is_category], MOST_VALUES)
    return max(1, int(categories.sum()) + int((~schema.is_category).sum()))


def either(
    classifier: Callable[..., BaseEstimator],
    regressor: Callable[..., BaseEstimator] | None = None,
    **parameters: object,
) -> Make:
    """Make a classifier, or a regressor if the task is regression, with some parameters."""
    return lambda size: (classifier if size.are_classes or regressor is None else regressor)(**parameters)


def on_matrix(make: Make, **options: str) -> Make:
    """Make an estimator behind a `TableEncoder` with some options."""
    return lambda size: encoded(make(size), **options)


def linear(strength: float) -> Make:
    """Make logistic regression with an inverse penalty, or leave-one-out ridge regression."""
    return on_matrix(
        lambda size: (
            LogisticRegression(C=strength, max_iter=1000)
            if size.are_classes
            else RidgeCV(np.logspace(-2, 4, 13))
        ),
        scaling="robust",
    )


def machine(size: Size) -> BaseEstimator:
    """Make a support vector machine. The committee calibrates its scores for classes."""
    if size.are_classes:
        return encoded(SVC(C=10.0, decision_function_shape="ovr"), scaling="robust")
    return encoded(with_scaled_target(SVR(C=10.0, epsilon=0.05)), scaling="robust")


def other_booster(library: str, prefix: str, **parameters: object) -> Make:
    """Make the gradient boosting of another library with its defaults, on the encoded table."""

    def make(size: Size) -> BaseEstimator:
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            raise ValueError(f"Member {library!r} needs the package {library}. Install it.") from error
        kind = getattr(module, prefix + ("Classifier" if size.are_classes else "Regressor"))
        return encoded(kind(**parameters))

    return make


booster = partial(either, GradientBoostingClassifier, GradientBoostingRegressor)
forest = partial(either, RandomForestClassifier, RandomForestRegressor, n_estimators=200)
extra_trees = partial(either, ExtraTreesClassifier, ExtraTreesRegressor, n_estimators=200)
network = partial(either, NetworkClassifier, NetworkRegressor)
neighbours = on_matrix(
    either(KNeighborsClassifier, KNeighborsRegressor, n_neighbors=N_NEIGHBOURS, weights="distance")
)
discriminant = on_matrix(either(LinearDiscriminantAnalysis))
bayes = on_matrix(either(GaussianNB))

# The tolerance of early stopping must not depend on the unit of y.
patient_booster = partial(booster, early_stopping=True, n_iter_no_change=60, tol=0.0)
long_booster = partial(
    booster,
    n_estimators=1000,
    learning_rate=0.02,
    max_leaf_nodes=16,
    colsample_bynode=0.4,
    min_samples_leaf=3,
    subsample=0.7,
)

CLASSES, NUMBERS = ("classification",), ("regression",)
CANDIDATES = {
    candidate.name: candidate
    for candidate in (
        Candidate("booster", "gradient boosting", booster(n_estimators=100, learning_rate=0.1)),
        Candidate("booster_auto", "gradient boosting, cross-validated rounds", booster()),
        Candidate(
            "booster_random",
            "gradient boosting, random thresholds",
            booster(splitter="random", subsample=1.0),
        ),
        Candidate(
            "booster_random_slow",
            "gradient boosting, random thresholds, small steps",
            booster(
                n_estimators=500,
                learning_rate=0.04,
                splitter="random",
                max_leaf_nodes=48,
                colsample_bynode=0.5,
                min_samples_leaf=3,
                subsample=1.0,
            ),
        ),
        Candidate(
            "booster_patient",
            "gradient boosting, early stopping",
            patient_booster(
                n_estimators=4000,
                learning_rate=0.025,
                colsample_bynode=0.5,
                min_samples_leaf=3,
                subsample=0.7,
            ),
            least_rows=ROWS_TO_STOP_EARLY,
        ),
        Candidate(
            "booster_columns",
            "gradient boosting, early stopping, fewer columns",
            patient_booster(
                n_estimators=3000,
                learning_rate=0.04,
                colsample_bytree=0.5,
                colsample_bynode=1.0,
                min_samples_leaf=10,
                subsample=0.8,
            ),
            least_rows=ROWS_TO_STOP_EARLY,
        ),
        Candidate("booster_long", "gradient boosting, small steps", long_booster()),
        Candidate(
            "booster_long_wide",
            "gradient boosting, small steps, large trees",
            long_booster(
                n_estimators=800, learning_rate=0.025, max_leaf_nodes=64, min_samples_leaf=5, subsample=0.8
            ),
        ),
        Candidate(
            "booster_statistics",
            "gradient boosting, target statistics",
            booster(n_estimators=150, learning_rate=0.06, max_native_categories=3),
        ),
        # Without penalties of leaves, so that the predictions do not depend on the unit of y.
        Candidate(
            "booster_poisson",
            "gradient boosting, Poisson loss",
            long_booster(loss="poisson", min_child_weight=0.0, reg_lambda=0.0, cat_smooth=0.0),
            NUMBERS,
            for_amounts=True,
        ),
        Candidate(
            "booster_wide",
            "gradient boosting, large trees",
            booster(max_leaf_nodes=63, colsample_bynode=0.3, min_samples_leaf=3),
        ),
        Candidate(
            "booster_deep",
            "gradient boosting, very large trees",
            long_booster(
                n_estimators=150, learning_rate=0.05, max_leaf_nodes=127, min_samples_leaf=5, subsample=0.8
            ),
        ),
        Candidate(
            "booster_slow",
            "gradient boosting, small steps, fewer rounds",
            booster(
                n_estimators=300,
                learning_rate=0.03,
                max_leaf_nodes=16,
                colsample_bynode=0.4,
                min_samples_leaf=5,
            ),
        ),
        Candidate(
            "booster_shallow",
            "gradient boosting, shallow trees",
            booster(max_depth=4, colsample_bynode=0.5, reg_lambda=5.0),
        ),
        Candidate(
            "booster_pairs",
            "gradient boosting, pairs of columns",
            booster(n_estimators=200, learning_rate=0.1, max_depth=2),
        ),
        Candidate("extra_trees", "extra trees", extra_trees(), most_cells=2e7),
        Candidate(
            "extra_trees_all",
            "extra trees, all columns",
            extra_trees(max_features=1.0),
            CLASSES,
            most_cells=2e7,
        ),
        Candidate(
            "forest",
            "random forest, half of the columns",
            forest(min_samples_leaf=3, max_features=0.5),
            most_cells=2e7,
        ),
        Candidate("forest_full", "random forest", forest(), most_cells=2e7),
        Candidate("linear", "linear model", linear(1.0), most_cells=2e7),
        Candidate("linear_weak", "linear model, strong penalty", linear(0.05), CLASSES, most_cells=2e7),
        Candidate("network", "neural network", network(), most_cells=2e7),
        Candidate(
            "network_wide",
            "neural network, one wide layer",
            network(hidden_layer_sizes=(256,), n_estimators=4, n_bins=2),
            most_cells=2e7,
        ),
        Candidate(
            "network_plain",
            "neural network, plain inputs",
            network(hidden_layer_sizes=(128, 64), n_bins=1, dropout=0.1),
            most_cells=2e7,
        ),
        Candidate("machine", "support vector machine", machine, most_rows=4_000, most_cells=4e5),
        Candidate(
            "neighbours",
            "nearest neighbours",
            neighbours,
            most_rows=30_000,
            most_cells=2e6,
            least_rows=N_NEIGHBOURS,
        ),
        Candidate("logitboost", "LogitBoost", either(LogitBoostClassifier, n_estimators=200), CLASSES),
        Candidate("adaboost", "AdaBoost", either(AdaBoostClassifier, n_estimators=100), CLASSES),
        Candidate("c45", "C4.5 tree", either(C45Classifier), CLASSES, most_cells=2e7),
        # Each tree rotates all cells: 100 trees take a second for 100,000 cells.
        Candidate(
            "rotation_forest",
            "rotation forest",
            on_matrix(either(RotationForestClassifier, n_estimators=100)),
            CLASSES,
            most_cells=1e6,
        ),
        Candidate(
            "discriminant",
            "linear discriminant analysis",
            discriminant,
            CLASSES,
            most_cells=1e7,
            least_rows=1,
        ),
        Candidate("bayes", "naive Bayes", bayes, CLASSES, most_cells=2e7),
    )
}
# Members of other libraries, used only by name and if the library is installed.
NAMED_ONLY = {
    candidate.name: candidate
    for candidate in (
        Candidate("lightgbm", "LightGBM", other_booster("lightgbm", "LGBM", n_jobs=1, verbose=-1)),
        Candidate("xgboost", "XGBoost", other_booster("xgboost", "XGB", n_jobs=1)),
        Candidate(
            "catboost",
            "CatBoost",
            other_booster("catboost", "CatBoost", thread_count=1, verbose=False, allow_writing_files=False),
        ),
    )
}
# The result of `benchmarks/portfolio.py`. After the first twelve members, the gain of another one is smaller
# than the error of the measurement.
ORDERS = {
    "classification": (
        "booster", "logitboost", "linear", "booster_wide", "extra_trees_all", "linear_weak",
        "booster_random_slow", "discriminant", "network_wide", "booster_long", "network",
        "network_plain", "booster_long_wide", "rotation_forest", "forest", "booster_slow",
        "booster_deep", "booster_patient", "booster_shallow", "machine", "forest_full",
        "booster_random", "extra_trees", "booster_statistics", "bayes", "booster_columns",
        "booster_auto", "booster_pairs", "neighbours", "adaboost", "c45",
    ),
    "regression": (
        "booster", "booster_shallow", "booster_long", "booster_statistics", "neighbours",
        "booster_long_wide", "linear", "booster_random_slow", "machine", "forest",
        "booster_patient", "network", "booster_auto", "booster_columns", "network_plain",
        "booster_poisson", "network_wide", "forest_full", "booster_random", "booster_slow",
        "extra_trees", "booster_deep", "booster_wide", "booster_pairs",
    ),
}  # fmt: skip


@contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Ignore warnings of members that have not converged, since their number of steps is intended.

    Warnings of many classes are ignored too, since the task is known. The filters hold for the threads of a
    runner if they are set in the thread that submits the tasks.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield


def portfolio(size: Size, preset: str) -> list[Member]:
    """Return the members for a table, in their order: all that suit it, or the first ones if it is "fast".

    Examples
    --------
    >>> [member.name for member in portfolio(Size("regression", 10**6, 100, 1), "fast")]
    ['booster', 'booster_shallow', 'booster_long', 'booster_statistics', 'booster_long_wide']
    """
    n_most, _ = PRESETS[preset]
    suited = [CANDIDATES[name] for name in ORDERS[size.task] if CANDIDATES[name].suits(size)]
    return [candidate.member(size) for candidate in suited[:n_most]]


def named(names: list[str], size: Size) -> list[Member]:
    """Return members of the portfolio by name, for any size of table.

    Examples
    --------
    >>> named(["forrest"], Size("regression", 100, 3, 1))
    Traceback (most recent call last):
    ValueError: There is no member 'forrest' for regression. Did you mean 'forest'?
    """
    known = [*ORDERS[size.task], *NAMED_ONLY]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise unknown_name("member", unknown[0], known, where=f" for {size.task}")
    every = CANDIDATES | NAMED_ONLY
    return [every[name].member(size) for name in names]


def members_of(given: object, size: Size, usual: list[Member]) -> list[Member]:
    """Return the members that the user passed. "auto" stands for the usual members that are not named."""
    if isinstance(given, str) and given == AUTO:
        return with_enough_rows(usual, {each.name for each in usual}, size)
    expected = (
        'estimators must be "auto", or a list of names of the portfolio and of (name, estimator) pairs.'
    )
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) == 0:
        raise ValueError(f"{expected} Got {given!r}.")
    names = named_in(given)
    of_portfolio = set(names)
    if AUTO in names:
        taken = [*names, *(each[0] for each in given if isinstance(each, tuple | list) and each)]
        place = next(place for place, each in enumerate(given) if isinstance(each, str) and each == AUTO)
        more = [each.name for each in usual if each.name not in taken]
        given = [*given[:place], *more, *given[place + 1 :]]
        of_portfolio |= set(more)
    known = {each.name: each for each in named(named_in(given), size)}
    pairs = check_pairs([(each, known[each].estimator) if isinstance(each, str) else each for each in given])
    for name, estimator in pairs:
        check_kind(name, estimator, size.are_classes)
    members = [known.get(name, Member(name, estimator)) for name, estimator in pairs]
    return with_enough_rows(members, of_portfolio, size)


def with_enough_rows(members: list[Member], of_portfolio: set[str], size: Size) -> list[Member]:
    """Leave out members of the portfolio that need more rows, with a warning. Raise if none is left.

    Examples
    --------
    >>> size = Size("classification", n_rows=12, n_encoded=2, n_outputs=2, n_training=9)
    >>> with_enough_rows(named(["neighbours"], size), {"neighbours"}, size)
    Traceback (most recent call last):
    ValueError: No member can learn from 12 rows: 'neighbours' needs at least 23 rows. Pass more rows.
    """
    every = CANDIDATES | NAMED_ONLY
    listed = [each.name for each in members if each.name in of_portfolio]
    needed = {name: every[name].rows_needed(size) for name in listed}
    short = {name: n_rows for name, n_rows in needed.items() if n_rows}
    if not short:
        return members
    reasons = ", ".join(f"{name!r} needs at least {n_rows} rows" for name, n_rows in short.items())
    if len(short) == len(members):
        raise ValueError(f"No member can learn from {size.n_rows} rows: {reasons}. Pass more rows.")
    titles = "; ".join(f"{every[name].title} needs at least {n_rows}" for name, n_rows in short.items())
    warnings.warn(
        f"{size.n_rows} rows are too few for some members, which are left out: {titles}.",
        UserWarning,
        stacklevel=6,
    )
    return [each for each in members if each.name not in short]


def named_in(members: object) -> list[str]:
    """Return the members that are names and not pairs.

    Examples
    --------
    >>> named_in("auto"), named_in(["auto", ("mine", None)])
    (['auto'], ['auto'])
    """
    if isinstance(members, str):
        return [members]
    return [each for each in members if isinstance(each, str)] if isinstance(members, Sequence) else []


def library_of(estimator: object) -> str | None:
    """Return the other library of a booster, in a pipeline or alone; None for other estimators.

    Examples
    --------
    >>> library_of(CANDIDATES["booster"].make(Size("regression", 100, 3, 1))) is None
    True
    """
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    name = type(last).__module__.partition(".")[0]
    return name if name in NAMED_ONLY else None
