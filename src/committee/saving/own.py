"""Our own estimators in a file: parameters go through the constructor, what was learnt through its class.

An estimator says in `_learnt` what it has learnt, by name, and takes it back in `_take_learnt`, which checks
every value; `_check_learnt` checks that they fit together. Its class is found by its public name, among the
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
# The rules are in `committee.rules`, whose names are not known before it is imported.
RULES = frozenset(
    {
        "AccuracyWeightedRule",
        "BayesianAveragingRule",
        "BayesianCombinationRule",
        "BehaviourKnowledgeRule",
        "BestMemberRule",
        "CAWPERule",
        "DecisionTemplateRule",
        "DempsterShaferRule",
        "DynamicRule",
        "FixedRule",
        "GreedyRule",
        "NaiveBayesRule",
        "RegionRule",
        "StackingRule",
    }
)
# What is not at the top of the package, by the module where it is.
PLACES = {**dict.fromkeys(RULES, "committee.rules"), "TableEncoder": "committee.assembling"}
KINDS = ("Classifier", "Regressor")


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
        """Its parameters as they are, and what it has learnt."""
        estimator._check_parameters()
        parameters = estimator.get_params(deep=False)
        learnt = estimator._learnt() if estimator._has_learnt() else None
        return {
            "parameters": encoder.named(parameters, path),
            "fitted": None if learnt is None else encoder.named(learnt, path),
        }

    def restore(self, described: Described, path: str) -> Any:
        """Parameters that are not in the file, for it is older than they are, have their defaults."""
        known = inspect.signature(self.made).parameters
        unknown = sorted(described.parameters.keys() - known.keys())
        require(not unknown, f"{described.name} has no parameters {unknown}")
        estimator = self.made(**described.parameters)
        try:
            estimator._check_parameters()
        except ValueError as error:
            raise DamagedFile(f"{described.name}: {error}") from error
        if described.fitted is not None:
            fields = Fields(described.fitted, path)
            estimator._take_learnt(fields)
            fields.finish()
            estimator._check_learnt()
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
    own = name.removeprefix(PREFIX)
    return own in PLACES or (own in importlib.import_module("committee").__all__ and own.endswith(KINDS))


def class_named(name: str) -> type | None:
    """One of our public estimators or rules by its name."""
    module = PLACES.get(name, "committee")
    return getattr(importlib.import_module(module), name) if knows(PREFIX + name) else None
