"""Create learners from short names for studies, such as `rf`, `rotf`, `cawpe` or `xgboost`.

Our own learners have their default parameters. Learners of other libraries get the output of `TableEncoder`
instead of the table. They are available if the library is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn import ensemble
from sklearn.base import is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC

from committee.assembling.bank.recipe import recipe_of
from committee.assembling.named_members import Member, encoded, with_scaled_target
from committee.automatic import portfolio
from committee.automatic.portfolio import Size

SUFFIXES = {"classification": "Classifier", "regression": "Regressor"}
TASKS = tuple(SUFFIXES)
# Learners that need a library of the same name, which may not be installed.
LIBRARIES = ("xgboost", "lightgbm", "catboost")
# A function of a task that returns an estimator; None if there is none for the task.
Make = Callable[[str], Any]


@dataclass(frozen=True, eq=False)
class Learner:
    """A learner of a study.

    Parameters
    ----------
    name : str
    estimators : dict of str to estimator
        The estimators by task. At least one task is present.
    """

    name: str
    estimators: Mapping[str, Any]

    def recipe(self, task: str) -> str:
        """Return the class and the parameters of an estimator as text."""
        return recipe_of(Member(self.name, self.estimators[task]))


def own(module: str, prefix: str) -> Make:
    """Return a function that makes the classifier or regressor of a module of this package."""

    def make(task: str) -> Any:
        kind = getattr(importlib.import_module(f"committee.{module}"), prefix + SUFFIXES[task], None)
        return None if kind is None else kind()

    return make


def of_portfolio(make: Callable[[Size], Any], tasks: tuple[str, ...] = TASKS) -> Make:
    """Return a function that makes a member of the automatic committee, for a table of fixed size."""
    return lambda task: make(Size(task, 1000, 10, 2)) if task in tasks else None


def support_vector_machine(task: str) -> Any:
    """Make a support vector machine. For classes, its scores are calibrated by cross-validation."""
    if task == "regression":
        return portfolio.machine(Size(task, 1000, 10, 1))
    return encoded(CalibratedClassifierCV(SVC(C=2.0), ensemble=False), scaling="robust")


def perceptron(task: str) -> Any:
    """Make a perceptron with more iterations than the default."""
    if task == "classification":
        return encoded(MLPClassifier(max_iter=500), scaling="robust")
    return encoded(with_scaled_target(MLPRegressor(max_iter=500)), scaling="robust")


def sklearn_ensemble(prefix: str) -> Make:
    """Return a function that makes an ensemble of scikit-learn."""
    return lambda task: encoded(getattr(ensemble, prefix + SUFFIXES[task])())


def other_booster(library: str, prefix: str, **parameters: object) -> Make:
    """Return a function that makes the booster of a library that may not be installed."""
    return of_portfolio(portfolio.other_booster(library, prefix, **parameters))


CLASSES = ("classification",)
# The description of each learner by name, and the function that makes it.
LEARNERS: Mapping[str, tuple[str, Make]] = {
    "rf": ("random forest", own("sampling", "RandomForest")),
    "et": ("extra-trees", own("sampling", "ExtraTrees")),
    "bagging": ("bagged trees", own("sampling", "Bagging")),
    "subspace": ("trees on random subspaces", own("sampling", "RandomSubspace")),
    "rotf": ("rotation forest", own("sampling", "RotationForest")),
    "gb": ("gradient boosting", own("boosting", "GradientBoosting")),
    "logitboost": ("LogitBoost", own("boosting", "LogitBoost")),
    "adaboost": ("AdaBoost: SAMME, or R2 for numbers", own("boosting", "AdaBoost")),
    "adaboost_m1": ("AdaBoost.M1", own("boosting", "AdaBoostM1")),
    "adaboost_m2": ("AdaBoost.M2", own("boosting", "AdaBoostM2")),
    "tree": ("one CART tree", own("learners", "DecisionTree")),
    "c45": ("one C4.5 tree", own("learners", "C45")),
    "cawpe": ("CAWPE of five simple members", own("assembling", "CAWPE")),
    "voting": ("the mean vote of five simple members", own("assembling", "Voting")),
    "stacking": ("five simple members, stacked", own("assembling", "Stacking")),
    "selection": ("greedy selection among five simple members", own("assembling", "EnsembleSelection")),
    "region": ("the best of five simple members by region", own("assembling", "RegionSelection")),
    "dynamic": ("dynamic selection among five simple members", own("assembling", "DynamicSelection")),
    "averaging": ("Bayesian averaging of five simple members", own("assembling", "BayesianAveraging")),
    "experts": ("a mixture of experts", own("assembling", "MixtureOfExperts")),
    "auto": ("the automatic committee", own("automatic", "Committee")),
    "linear": ("logistic or ridge regression", of_portfolio(portfolio.linear(1.0))),
    "knn": ("15 nearest neighbours, by distance", of_portfolio(portfolio.neighbours)),
    "svm": ("a support vector machine, calibrated", support_vector_machine),
    "mlp": ("a perceptron with one layer of 100", perceptron),
    "bayes": ("naive Bayes", of_portfolio(portfolio.bayes, CLASSES)),
    "lda": ("linear discriminant analysis", of_portfolio(portfolio.discriminant, CLASSES)),
    "sklearn_rf": ("scikit-learn's random forest", sklearn_ensemble("RandomForest")),
    "sklearn_hist": ("scikit-learn's histogram boosting", sklearn_ensemble("HistGradientBoosting")),
    "xgboost": ("XGBoost", other_booster("xgboost", "XGB", n_jobs=1)),
    "lightgbm": ("LightGBM", other_booster("lightgbm", "LGBM", n_jobs=1, verbose=-1)),
    "catboost": ("CatBoost", other_booster("catboost", "CatBoost", thread_count=1, verbose=False)),
}


def known_learners() -> dict[str, str]:
    """Return the names of the available learners, with a description of each.

    Examples
    --------
    >>> known_learners()["rf"]
    'random forest'
    """
    return {name: meaning for name, (meaning, make) in LEARNERS.items() if is_available(name, make)}


def missing_learners() -> dict[str, str]:
    """Return the names of the learners whose libraries are not installed, with a description of each."""
    return {name: meaning for name, (meaning, make) in LEARNERS.items() if not is_available(name, make)}


def is_available(name: str, make: Make) -> bool:
    """Return whether a learner can be made."""
    if name in LIBRARIES:
        return importlib.util.find_spec(name) is not None
    return any(make(task) is not None for task in TASKS)


def learner_named(name: str) -> Learner:
    """Make a learner by its short name.

    Examples
    --------
    >>> learner_named("c45").estimators
    {'classification': C45Classifier()}
    >>> learner_named("forrest")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no learner 'forrest'. There are rf, et, ...
    """
    if name not in known_learners():
        if name in LIBRARIES:
            raise ValueError(f"Learner {name!r} needs the package {name}. Install it.")
        raise ValueError(f"There is no learner {name!r}. There are {', '.join(known_learners())}.")
    made = {task: LEARNERS[name][1](task) for task in TASKS}
    return Learner(name, {task: estimator for task, estimator in made.items() if estimator is not None})


def learners_of(given: Iterable[object] | Mapping[str, object]) -> list[Learner]:
    """Create learners from the `learners` parameter of a study.

    Parameters
    ----------
    given : iterable of str or (str, estimator), or mapping of str to estimator
        Short names, or names and estimators.

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
    pairs: Iterable[object] = given.items() if isinstance(given, Mapping) else given
    found = [learner_named(each) if isinstance(each, str) else learner_of(each) for each in pairs]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two learners are named {name!r}. Give each another name.")
    return found


def learner_of(pair: Any) -> Learner:
    """Make a learner from a name and an estimator."""
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0]
    if not is_pair or not hasattr(pair[1], "fit") or isinstance(pair[1], type):
        raise ValueError(f"A learner is a short name, or a pair (name, estimator). Got {pair!r}.")
    name, estimator = pair
    if is_classifier(estimator):
        return Learner(name, {"classification": estimator})
    if is_regressor(estimator):
        return Learner(name, {"regression": estimator})
    raise ValueError(f"Learner {name!r} is neither a classifier nor a regressor: {type(estimator).__name__}.")
