"""Learners by short names, for studies: `rf`, `rotf`, `cawpe`, `xgboost`. A line for each.

Ours are as they come. Those of other libraries see the table as `TableEncoder` makes it a matrix, and are
there where they are installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier, is_regressor

from committee.assembling.members import Member, encoded, with_scaled_target
from committee.assembling.recipes import recipe_of
from committee.automatic import portfolio
from committee.automatic.portfolio import Size

TASKS = ("classification", "regression")
# From a task to an estimator; None if there is none for the task.
Make = Callable[[str], Any]


@dataclass(frozen=True, eq=False)
class Learner:
    """A learner of a study.

    Parameters
    ----------
    name : str
    estimators : dict of str to estimator
        By task; one of them may be missing.
    """

    name: str
    estimators: Mapping[str, Any]

    def recipe(self, task: str) -> str:
        """What it is made of, as text."""
        return recipe_of(Member(self.name, self.estimators[task]))


def ours(module: str, prefix: str, **parameters: Any) -> Make:
    """A classifier and a regressor of ours, whichever there are."""

    def make(task: str) -> Any:
        suffix = "Classifier" if task == "classification" else "Regressor"
        kind = getattr(importlib.import_module(f"committee.{module}"), prefix + suffix, None)
        return None if kind is None else kind(**parameters)

    return make


def of_portfolio(make: Callable[[Size], Any], tasks: tuple[str, ...] = TASKS) -> Make:
    """A member of the automatic committee that is the same for all sizes of tables."""
    return lambda task: make(Size(task, 1000, 10, 2)) if task in tasks else None


def machine(task: str) -> Any:
    """A support vector machine, whose scores are calibrated in folds."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    if task == "regression":
        return portfolio.machine(Size(task, 1000, 10, 1))
    return encoded(CalibratedClassifierCV(SVC(C=2.0), ensemble=False), scaling="robust")


def perceptron(task: str) -> Any:
    """A perceptron as it comes, with more steps."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    if task == "classification":
        return encoded(MLPClassifier(max_iter=500), scaling="robust")
    return encoded(with_scaled_target(MLPRegressor(max_iter=500)), scaling="robust")


def sklearn_ensemble(prefix: str, **parameters: Any) -> Make:
    """An ensemble of scikit-learn's."""

    def make(task: str) -> Any:
        module = importlib.import_module("sklearn.ensemble")
        return encoded(
            getattr(module, prefix + ("Classifier" if task == "classification" else "Regressor"))(
                **parameters
            )
        )

    return make


def foreign(library: str, prefix: str, **parameters: Any) -> Make:
    """The booster of a library that may not be installed."""
    return of_portfolio(portfolio.other_booster(library, prefix, **parameters))


CLASSES = ("classification",)
# The meaning, what it needs beside scikit-learn, and how it is made.
LEARNERS: Mapping[str, tuple[str, str | None, Make]] = {
    "rf": ("random forest", None, ours("sampling", "RandomForest")),
    "et": ("extra-trees", None, ours("sampling", "ExtraTrees")),
    "bagging": ("bagged trees", None, ours("sampling", "Bagging")),
    "subspace": ("trees on random subspaces", None, ours("sampling", "RandomSubspace")),
    "rotf": ("rotation forest", None, ours("sampling", "RotationForest")),
    "gb": ("gradient boosting", None, ours("boosting", "GradientBoosting")),
    "logitboost": ("LogitBoost", None, ours("boosting", "LogitBoost")),
    "adaboost": ("AdaBoost: SAMME, or R2 for numbers", None, ours("boosting", "AdaBoost")),
    "adaboost_m1": ("AdaBoost.M1", None, ours("boosting", "AdaBoostM1")),
    "adaboost_m2": ("AdaBoost.M2", None, ours("boosting", "AdaBoostM2")),
    "tree": ("one CART tree", None, ours("learners", "DecisionTree")),
    "c45": ("one C4.5 tree", None, ours("learners", "C45")),
    "cawpe": ("CAWPE of five simple members", None, ours("assembling", "CAWPE")),
    "voting": ("the mean vote of five simple members", None, ours("assembling", "Voting")),
    "stacking": ("five simple members, stacked", None, ours("assembling", "Stacking")),
    "selection": (
        "greedy selection among five simple members",
        None,
        ours("assembling", "EnsembleSelection"),
    ),
    "region": ("the best of five simple members by region", None, ours("assembling", "RegionSelection")),
    "dynamic": ("dynamic selection among five simple members", None, ours("assembling", "DynamicSelection")),
    "averaging": ("Bayesian averaging of five simple members", None, ours("assembling", "BayesianAveraging")),
    "experts": ("a mixture of experts", None, ours("assembling", "MixtureOfExperts")),
    "auto": ("the automatic committee", None, ours("automatic", "Committee")),
    "linear": ("logistic or ridge regression", None, of_portfolio(portfolio.linear(1.0))),
    "knn": ("15 nearest neighbours, by distance", None, of_portfolio(portfolio.neighbours)),
    "svm": ("a support vector machine, calibrated", None, machine),
    "mlp": ("a perceptron with one layer of 100", None, perceptron),
    "bayes": ("naive Bayes", None, of_portfolio(portfolio.bayes, CLASSES)),
    "lda": ("linear discriminant analysis", None, of_portfolio(portfolio.discriminant, CLASSES)),
    "sklearn_rf": ("scikit-learn's random forest", None, sklearn_ensemble("RandomForest")),
    "sklearn_hist": ("scikit-learn's histogram boosting", None, sklearn_ensemble("HistGradientBoosting")),
    "xgboost": ("XGBoost", "xgboost", foreign("xgboost", "XGB", n_jobs=1)),
    "lightgbm": ("LightGBM", "lightgbm", foreign("lightgbm", "LGBM", n_jobs=1, verbose=-1)),
    "catboost": ("CatBoost", "catboost", foreign("catboost", "CatBoost", thread_count=1, verbose=False)),
}


def known_learners() -> dict[str, str]:
    """The learners that can be named here, with a line for each.

    Examples
    --------
    >>> known_learners()["rf"]
    'random forest'
    """
    return {name: meaning for name, (meaning, library, make) in LEARNERS.items() if is_here(library, make)}


def is_here(library: str | None, make: Make) -> bool:
    """Whether a learner can be made."""
    if library is not None:
        return importlib.util.find_spec(library) is not None
    return any(make(task) is not None for task in TASKS)


def learner_named(name: str) -> Learner:
    """A learner by its short name.

    Examples
    --------
    >>> learner_named("c45").estimators
    {'classification': C45Classifier()}
    >>> learner_named("forrest")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no learner 'forrest'. There are rf, et, ...
    """
    if name not in known_learners():
        library = LEARNERS[name][1] if name in LEARNERS else None
        if library is not None:
            raise ValueError(f"Learner {name!r} needs the package {library}. Install it.")
        raise ValueError(f"There is no learner {name!r}. There are {', '.join(known_learners())}.")
    make = LEARNERS[name][2]
    made = {task: make(task) for task in TASKS}
    return Learner(name, {task: estimator for task, estimator in made.items() if estimator is not None})


def learners_of(given: Any) -> list[Learner]:
    """The learners that a user gives.

    Parameters
    ----------
    given : iterable of str or (str, estimator), or mapping of str to estimator
        Short names, or estimators with names of their own.

    Returns
    -------
    list of Learner

    Examples
    --------
    >>> from committee import RandomForestRegressor
    >>> [each.name for each in learners_of(["rf", ("small", RandomForestRegressor(10))])]
    ['rf', 'small']
    """
    if isinstance(given, str):
        raise ValueError(f"learners must be a list of names or of (name, estimator) pairs. Got {given!r}.")
    pairs: Iterable[Any] = given.items() if isinstance(given, Mapping) else given
    found = [learner_named(each) if isinstance(each, str) else learner_of(each) for each in pairs]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two learners are named {name!r}. Give each a name of its own.")
    return found


def learner_of(pair: Any) -> Learner:
    """A learner of a name and an estimator."""
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0]
    if not is_pair or not hasattr(pair[1], "fit") or isinstance(pair[1], type):
        raise ValueError(f"A learner is a short name, or a pair (name, estimator). Got {pair!r}.")
    name, estimator = pair
    if is_classifier(estimator):
        return Learner(name, {"classification": estimator})
    if is_regressor(estimator):
        return Learner(name, {"regression": estimator})
    raise ValueError(f"Learner {name!r} is neither a classifier nor a regressor: {type(estimator).__name__}.")
