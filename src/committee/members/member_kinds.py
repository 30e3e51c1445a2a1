"""Check estimators as members, and find those that the engine grows itself, all in one call."""

from __future__ import annotations

from sklearn.base import BaseEstimator, is_classifier, is_regressor

from committee import _engine
from committee.learners import (
    C45Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.learners.single_tree import SingleTree
from committee.learners.training_data import Training
from committee.parameters import Constraint, check_parameters


def is_member(value: object) -> bool:
    """Return whether a value has `fit` and `predict`."""
    is_made = not isinstance(value, type)
    return is_made and callable(getattr(value, "fit", None)) and callable(getattr(value, "predict", None))


MEMBER = Constraint(
    "an estimator with fit and predict, or None", lambda value: value is None or is_member(value)
)


def values_error(member: BaseEstimator) -> TypeError:
    """Make the error of a member that cannot be fitted on a `BinnedTable`."""
    return TypeError(
        f"X is a BinnedTable, and {type(member).__name__} learns from values. Pass the table itself."
    )


def check_estimator(estimator: BaseEstimator, *, are_classes: bool) -> None:
    """Raise unless the `estimator` of an ensemble is for its task.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> check_estimator(LinearRegression(), are_classes=True)
    Traceback (most recent call last):
    ValueError: estimator must be a classifier. Got LinearRegression().
    """
    is_kind, kind = (is_classifier, "classifier") if are_classes else (is_regressor, "regressor")
    if not is_kind(estimator):
        raise ValueError(f"estimator must be a {kind}. Got {estimator!r}.")


def check_engine_member(estimator: BaseEstimator, ensemble: str) -> None:
    """Check the parameters of a member that the engine grows, for a "booster" or another ensemble."""
    check_parameters(estimator)
    marks = estimator.categorical_features
    if not (isinstance(marks, str) and marks == "from_dtype"):
        raise ValueError(
            f"The table is read once for all members. Set categorical_features of the {ensemble}, not of its "
            "estimator."
        )


STUMPS: tuple[type[SingleTree], ...] = (DecisionStumpClassifier, DecisionStumpRegressor)
CARTS: tuple[type[SingleTree], ...] = (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
RANDOM: tuple[type[SingleTree], ...] = (RandomTreeClassifier, RandomTreeRegressor)


def grows_in_engine(member: BaseEstimator) -> bool:
    """Return whether the engine grows such members itself.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier as Another
    >>> grows_in_engine(C45Classifier()), grows_in_engine(Another())
    (True, False)
    """
    return type(member) in (*STUMPS, *CARTS, *RANDOM, C45Classifier)


def takes_codes(member: BaseEstimator) -> bool:
    """Return whether the engine grows members from the codes of a table alone; C4.5 needs its values."""
    return grows_in_engine(member) and type(member) is not C45Classifier


def are_trees_of(member: BaseEstimator, members: object) -> bool:
    """Return whether a value from a file can be the members that the engine grew."""
    if isinstance(members, list):
        # Older files contain them one by one.
        return type(member) in (*RANDOM, C45Classifier)
    return isinstance(members, _engine.Forest if takes_codes(member) else _engine.C45Forest)


def grow_parameters(member: BaseEstimator, training: Training) -> tuple[_engine.GrowParameters, float]:
    """Return the parameters of the engine for a tree or a stump on codes, and the alpha of pruning."""
    if type(member) in STUMPS:
        stump = _engine.GrowParameters()
        stump.criterion = getattr(member, "criterion", "squared_error")
        return stump, 0.0
    grow: _engine.GrowParameters = member._grow_parameters(training)
    alpha = float(getattr(member, "ccp_alpha", 0.0))
    grow.keep_records = alpha > 0
    return grow, alpha
