"""Our own estimators in a file: parameters go through the constructor, what was learnt through its class.

An estimator says in `_learnt` what it has learnt, by name, and takes it back in `_take_learnt`, which checks
every value, and that they fit together. Its class is found by its public name, among the
estimators or among the rules.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

from committee.saving.codec import Encoder, Json
from committee.saving.errors import DamagedFile, require
from committee.saving.fields import Fields
from committee.saving.registry import Described

PREFIX = "committee."
# Estimators that are not at the top of the package, by the module where they are.
PLACES = {"NumberedLabels": "committee.assembling", "TableEncoder": "committee.assembling"}
# The registry of the rules, which says in which module each is.
RULES = "committee.combining.naming"
KINDS = ("Classifier", "Regressor")


@dataclass(frozen=True)
class RemovedParameter:
    """A parameter that older files name, and that is a constant now.

    Parameters
    ----------
    value : object
        The constant.
    only_fit : bool, default=True
        Whether only a fit depends on it. Then a fitted model answers as before, whatever the file says.
    """

    value: Json
    only_fit: bool = True

    def check(self, name: str, value: object, described: Described) -> None:
        """Raise if a file asks for something that the constant does not do."""
        if value == self.value or (self.only_fit and described.fitted is not None):
            return
        raise ValueError(
            f"{described.name} was saved with {name}={value!r}. The parameter was removed, and its value is "
            f"{self.value!r} now. Fit the model again."
        )


REMOVED = {
    "bag_size": RemovedParameter(0.5),
    "effective_rows": RemovedParameter(None),
    "fallback": RemovedParameter("majority", only_fit=False),
    "group_size": RemovedParameter(50),
    "label_smoothing": RemovedParameter(0.02),
    "max_cat_to_onehot": RemovedParameter(4),
    "min_variance": RemovedParameter(1e-4),
    "similarity": RemovedParameter("euclidean", only_fit=False),
    "smoothing": RemovedParameter(None),
    "tweedie_power": RemovedParameter(1.5),
    "weight_decay": RemovedParameter(0.0),
}


@dataclass(frozen=True)
class OwnEstimator:
    """How the estimators of one of our classes are described and restored.

    Parameters
    ----------
    made : type
        The class.
    """

    made: Any

    def describe(self, estimator: Any, encoder: Encoder, path: str) -> dict[str, Json]:
        """Its parameters as they are, rules that are functions of ours by name, and what it has learnt."""
        estimator._check_parameters()
        parameters = estimator.get_params(deep=False)
        if callable(parameters.get("rule")):
            parameters["rule"] = importlib.import_module(RULES).named_if_ours(parameters["rule"])
        learnt = estimator._learnt() if estimator._has_learnt() else None
        return {
            "parameters": encoder.named(parameters, path),
            "fitted": None if learnt is None else encoder.learnt(estimator, learnt, path),
        }

    def restore(self, described: Described, path: str) -> Any:
        """Parameters that are not in the file, for it is older than they are, have their defaults."""
        known = inspect.signature(self.made).parameters
        parameters = dict(described.parameters)
        for name in [name for name in REMOVED if name in parameters and name not in known]:
            REMOVED[name].check(name, parameters.pop(name), described)
        unknown = sorted(parameters.keys() - known.keys())
        require(not unknown, f"{described.name} has no parameters {unknown}")
        estimator = self.made(**parameters)
        try:
            estimator._check_parameters()
        except ValueError as error:
            raise DamagedFile(f"{described.name}: {error}") from error
        if described.fitted is not None:
            fields = Fields(described.fitted, path)
            estimator._take_learnt(fields)
            fields.finish()
        return estimator


def name_of(estimator: Any) -> str | None:
    """The name of an estimator's class, if it is one of our public ones."""
    name = type(estimator).__name__
    return PREFIX + name if class_named(name) is type(estimator) else None


def saved_named(name: str) -> OwnEstimator | None:
    """How the estimators of a class are saved, by its name in the file."""
    found = class_named(name.removeprefix(PREFIX))
    return None if found is None else OwnEstimator(found)


def knows(name: str) -> bool:
    """Whether a name in a file is that of one of our classes, which is not imported to find out."""
    return place_of(name.removeprefix(PREFIX)) is not None


def class_named(name: str) -> type | None:
    """One of our public estimators or rules by its name."""
    place = place_of(name)
    return None if place is None else getattr(importlib.import_module(place), name)


def place_of(name: str) -> str | None:
    """The module of one of our public estimators or rules."""
    if name.endswith(KINDS) and name in importlib.import_module("committee").__all__:
        return "committee"
    return PLACES.get(name) or importlib.import_module(RULES).rule_places().get(name)
