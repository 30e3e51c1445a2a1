"""Provide every public estimator with parameters for fast fits."""

import inspect

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import committee
from committee.members import TableEncoder


def make(estimator_type, **parameters):
    """Return an estimator with a fixed seed and few members, if it has such parameters."""
    known = inspect.signature(estimator_type).parameters
    # Five small steps on a share of the rows are not accurate enough for scikit-learn's checks.
    n_members = 12 if "Gradient" in estimator_type.__name__ else 5
    members = members_for(estimator_type)
    small = {"n_estimators": n_members, "random_state": 0, "estimators": members}
    # A row of weight 2 is one neighbour, so it is equivalent to two rows only if all rows are neighbours.
    small |= {"n_neighbours": 1000, "n_init": 2, "max_iter": 20, "hidden_layer_sizes": (16, 8)}
    if "HistGradient" in estimator_type.__name__:
        small["min_samples_leaf"] = 1
    small = {name: value for name, value in small.items() if name in known}
    return estimator_type(**small | parameters)


def members_for(estimator_type):
    """Return members of two kinds with fast fits."""
    if estimator_type.__name__.endswith("Classifier"):
        tree, other = committee.DecisionTreeClassifier(max_depth=3), GaussianNB()
    else:
        tree, other = committee.DecisionTreeRegressor(max_depth=3), LinearRegression()
    return [("tree", tree), ("other", make_pipeline(TableEncoder(), other))]


def public_types():
    values = (getattr(committee, name) for name in committee.__all__)
    return [value for value in values if inspect.isclass(value) and issubclass(value, BaseEstimator)]


ALL_ESTIMATORS = [make(each) for each in public_types()]
COMMITTEES = [each for each in ALL_ESTIMATORS if "estimators" in each.get_params(deep=False)]
EXPERTS = [each for each in ALL_ESTIMATORS if hasattr(each, "n_experts")]
# Estimators without members of the user.
ESTIMATORS = [each for each in ALL_ESTIMATORS if each not in COMMITTEES + EXPERTS]
CLASSIFIERS = [each for each in ESTIMATORS if is_classifier(each)]
REGRESSORS = [each for each in ESTIMATORS if not is_classifier(each)]


def needs_two_classes(estimator):
    """Return whether y of one class is an error."""
    return is_classifier(estimator) and "Boost" in name_of(estimator)


def name_of(estimator):
    """Return the name of an estimator in the name of a test."""
    return type(estimator).__name__


def mixed_frame(n_rows=60, seed=0):
    """Draw a table of numbers, integers, booleans and categories, and a y. Some values are missing."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows).round(2)
    city = rng.choice(["Bonn", "Oslo", "Rome"], n_rows)
    signal = number + 2 * (city == "Oslo") + rng.normal(scale=0.1, size=n_rows)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "count": rng.integers(0, 9, n_rows),
            "member": rng.random(n_rows) < 0.5,
            "city": pd.Categorical(np.where(rng.random(n_rows) < 0.1, None, city)),
        }
    )
    return frame, signal


def target_for(estimator, signal):
    return np.where(signal > np.median(signal), "high", "low") if is_classifier(estimator) else signal


def votes_of(estimator, X):
    """The most detailed answer of a fitted estimator."""
    return estimator.predict_proba(X) if is_classifier(estimator) else estimator.predict(X)
