"""Who may sit in an automatic committee: candidates, with the parameters that they sit with.

In: the size of a table. Out: an estimator for it. Members of scikit-learn see the table as `TableEncoder`
makes it a matrix.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from committee.assembling.members import encoded, with_scaled_target
from committee.boosting import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogitBoostClassifier,
)
from committee.learners import C45Classifier, NetworkClassifier, NetworkRegressor
from committee.members.lesson import Lesson
from committee.sampling import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RotationForestClassifier,
)
from committee.table import Schema

# A category has a column for each of its values, up to so many.
MOST_VALUES = 32


@dataclass(frozen=True, eq=False)
class Candidate:
    """Someone who may sit in a committee.

    Parameters
    ----------
    name : str
    make : callable
        An estimator, from a `Size`.
    tasks : tuple of str
        "classification", "regression".
    most_rows : int
        It takes too long on tables of more.
    most_cells : int
        Rows times columns of the matrix that it sees.
    for_amounts : bool
        It is for numbers that are all above 0.
    """

    name: str
    make: Callable[[Size], Any]
    tasks: tuple[str, ...] = ("classification", "regression")
    most_rows: float = np.inf
    most_cells: float = np.inf
    for_amounts: bool = False

    def suits(self, size: Size) -> bool:
        """Whether it is for a task and a table."""
        is_small = size.n_rows <= self.most_rows and size.n_rows * size.n_encoded <= self.most_cells
        return is_small and size.task in self.tasks and (size.are_amounts or not self.for_amounts)


@dataclass(frozen=True)
class Size:
    """What is known of a table before anybody has seen it.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_rows : int
    n_encoded : int
        The columns of the matrix that `TableEncoder` makes of it.
    n_outputs : int
    n_columns : int, default=0
        Its own columns; 0 if they are those of the matrix.
    are_amounts : bool, default=False
        Whether y is numbers that are all above 0.
    """

    task: str
    n_rows: int
    n_encoded: int
    n_outputs: int
    n_columns: int = 0
    are_amounts: bool = False

    @classmethod
    def of(cls, lesson: Lesson) -> Size:
        """The size of a table with its y."""
        task = "classification" if lesson.are_classes else "regression"
        width, n_columns = encoded_width(lesson.schema), lesson.schema.n_columns
        are_amounts = not lesson.are_classes and bool((lesson.y[lesson.rows] > 0).all())
        return cls(task, len(lesson.rows), width, lesson.task.n_outputs, n_columns, are_amounts)

    @property
    def are_classes(self) -> bool:
        """Whether the task is to find classes."""
        return self.task == "classification"


def encoded_width(schema: Schema) -> int:
    """The columns of the matrix that `TableEncoder` makes of a table, at most."""
    categories = np.minimum(schema.n_categories[schema.is_category], MOST_VALUES)
    return max(1, int(categories.sum()) + int((~schema.is_category).sum()))


def booster(**parameters: Any) -> Callable[[Size], Any]:
    """Our gradient boosting with some parameters."""
    classifier: Any = GradientBoostingClassifier
    regressor: Any = GradientBoostingRegressor
    return lambda size: (classifier if size.are_classes else regressor)(**parameters)


def forest(classifier: Any, regressor: Any, **parameters: Any) -> Callable[[Size], Any]:
    """A forest with some parameters."""
    return lambda size: (classifier if size.are_classes else regressor)(**parameters)


def linear(strength: float) -> Callable[[Size], Any]:
    """Logistic regression, the stronger the less its weights cost; or ridge regression by leave-one-out."""

    def make(size: Size) -> Any:
        if size.are_classes:
            return encoded(LogisticRegression(C=strength, max_iter=1000), scaling="robust")
        return encoded(RidgeCV(np.logspace(-2, 4, 13)), scaling="robust")

    return make


def network(**parameters: Any) -> Callable[[Size], Any]:
    """Our networks with some parameters."""
    classifier: Any = NetworkClassifier
    regressor: Any = NetworkRegressor
    return lambda size: (classifier if size.are_classes else regressor)(**parameters)


def neighbours(size: Size) -> Any:
    """Nearest neighbours, the near ones with more weight."""
    kind = KNeighborsClassifier if size.are_classes else KNeighborsRegressor
    return encoded(kind(15, weights="distance"))


def machine(size: Size) -> Any:
    """A support vector machine; its scores for classes are calibrated by the committee."""
    if size.are_classes:
        return encoded(SVC(C=10.0, decision_function_shape="ovr"), scaling="robust")
    return encoded(with_scaled_target(SVR(C=10.0, epsilon=0.05)), scaling="robust")


def discriminant(size: Size) -> Any:
    """Linear discriminant analysis."""
    return encoded(LinearDiscriminantAnalysis())


def bayes(size: Size) -> Any:
    """Naive Bayes with a normal distribution for each column."""
    return encoded(GaussianNB())


def rotation(size: Size) -> Any:
    """A rotation forest on a matrix, in which a category has not more columns than `MOST_VALUES`."""
    forest: Any = RotationForestClassifier
    return encoded(forest(n_estimators=100))


def plain(classifier: Any, **parameters: Any) -> Callable[[Size], Any]:
    """A classifier of ours with some parameters."""
    return lambda size: classifier(**parameters)


def other_booster(library: str, prefix: str, **parameters: Any) -> Callable[[Size], Any]:
    """The gradient boosting of another library, as it comes, on the matrix of a table."""

    def make(size: Size) -> Any:
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            raise ValueError(f"Member {library!r} needs the package {library}. Install it.") from error
        kind = getattr(module, prefix + ("Classifier" if size.are_classes else "Regressor"))
        return encoded(kind(**parameters))

    return make


CLASSES, NUMBERS = ("classification",), ("regression",)
# Of boosters that stop by themselves. What they must gain is not in the unit of y.
PATIENCE = {"early_stopping": True, "n_iter_no_change": 60, "tol": 0.0}
CANDIDATES = {
    candidate.name: candidate
    for candidate in (
        Candidate("booster", booster(n_estimators=100, learning_rate=0.1)),
        Candidate("booster_auto", booster()),
        Candidate("booster_random", booster(splitter="random", subsample=1.0)),
        Candidate(
            "booster_random_slow",
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
            booster(
                n_estimators=4000,
                learning_rate=0.025,
                colsample_bynode=0.5,
                min_samples_leaf=3,
                subsample=0.7,
                **PATIENCE,
            ),
        ),
        Candidate(
            "booster_columns",
            booster(
                n_estimators=3000,
                learning_rate=0.04,
                colsample_bytree=0.5,
                colsample_bynode=1.0,
                min_samples_leaf=10,
                subsample=0.8,
                **PATIENCE,
            ),
        ),
        Candidate(
            "booster_long",
            booster(
                n_estimators=1000,
                learning_rate=0.02,
                max_leaf_nodes=16,
                colsample_bynode=0.4,
                min_samples_leaf=3,
                subsample=0.7,
            ),
        ),
        Candidate(
            "booster_long_wide",
            booster(
                n_estimators=800,
                learning_rate=0.025,
                max_leaf_nodes=64,
                colsample_bynode=0.4,
                min_samples_leaf=5,
                subsample=0.8,
            ),
        ),
        Candidate(
            "booster_statistics", booster(n_estimators=150, learning_rate=0.06, max_native_categories=3)
        ),
        # The answer is a product of its trees. It knows no unit of y, so there is nothing to add to weights.
        Candidate(
            "booster_poisson",
            booster(
                n_estimators=1000,
                learning_rate=0.02,
                loss="poisson",
                max_leaf_nodes=16,
                colsample_bynode=0.4,
                min_samples_leaf=3,
                subsample=0.7,
                min_child_weight=0.0,
                reg_lambda=0.0,
                cat_smooth=0.0,
            ),
            NUMBERS,
            for_amounts=True,
        ),
        Candidate("booster_wide", booster(max_leaf_nodes=63, colsample_bynode=0.3, min_samples_leaf=3)),
        Candidate(
            "booster_deep",
            booster(
                n_estimators=150,
                learning_rate=0.05,
                max_leaf_nodes=127,
                colsample_bynode=0.4,
                min_samples_leaf=5,
                subsample=0.8,
            ),
        ),
        Candidate(
            "booster_slow",
            booster(
                n_estimators=300,
                learning_rate=0.03,
                max_leaf_nodes=16,
                colsample_bynode=0.4,
                min_samples_leaf=5,
            ),
        ),
        Candidate("booster_shallow", booster(max_depth=4, colsample_bynode=0.5, reg_lambda=5.0)),
        Candidate("booster_pairs", booster(n_estimators=200, learning_rate=0.1, max_depth=2)),
        Candidate(
            "extra_trees", forest(ExtraTreesClassifier, ExtraTreesRegressor, n_estimators=200), most_cells=2e7
        ),
        Candidate(
            "extra_trees_all",
            forest(ExtraTreesClassifier, ExtraTreesRegressor, n_estimators=200, max_features=1.0),
            CLASSES,
            most_cells=2e7,
        ),
        Candidate(
            "forest",
            forest(
                RandomForestClassifier,
                RandomForestRegressor,
                n_estimators=200,
                min_samples_leaf=3,
                max_features=0.5,
            ),
            most_cells=2e7,
        ),
        Candidate(
            "forest_full",
            forest(RandomForestClassifier, RandomForestRegressor, n_estimators=200),
            most_cells=2e7,
        ),
        Candidate("linear", linear(1.0), most_cells=2e7),
        Candidate("linear_weak", linear(0.05), CLASSES, most_cells=2e7),
        Candidate("network", network(), most_cells=2e7),
        Candidate(
            "network_wide",
            network(hidden_layer_sizes=(256,), n_estimators=4, n_bins=2),
            most_cells=2e7,
        ),
        Candidate(
            "network_plain",
            network(hidden_layer_sizes=(128, 64), n_bins=1, dropout=0.1),
            most_cells=2e7,
        ),
        Candidate("machine", machine, most_rows=4_000, most_cells=4e5),
        Candidate("neighbours", neighbours, most_rows=30_000, most_cells=2e6),
        Candidate("logitboost", plain(LogitBoostClassifier, n_estimators=200), CLASSES),
        Candidate("adaboost", plain(AdaBoostClassifier, n_estimators=100), CLASSES),
        Candidate("c45", plain(C45Classifier), CLASSES, most_cells=2e7),
        # A tree looks at all columns of all rows: a second for 100 of them on 100,000 cells.
        Candidate("rotation_forest", rotation, CLASSES, most_cells=1e6),
        Candidate("discriminant", discriminant, CLASSES, most_cells=1e7),
        Candidate("bayes", bayes, CLASSES, most_cells=2e7),
    )
}
# Of other libraries, where they are installed: they sit if they are named.
ASKED_FOR = {
    candidate.name: candidate
    for candidate in (
        Candidate("lightgbm", other_booster("lightgbm", "LGBM", n_jobs=1, verbose=-1)),
        Candidate("xgboost", other_booster("xgboost", "XGB", n_jobs=1)),
        Candidate(
            "catboost",
            other_booster("catboost", "CatBoost", thread_count=1, verbose=False, allow_writing_files=False),
        ),
    )
}


def library_of(estimator: Any) -> str | None:
    """The other library whose booster votes, in a pipeline or alone; None if it is none of these.

    Examples
    --------
    >>> library_of(CANDIDATES["booster"].make(Size("regression", 100, 3, 1))) is None
    True
    """
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    name = type(last).__module__.partition(".")[0]
    return name if name in ASKED_FOR else None
