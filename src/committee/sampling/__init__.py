"""Members made diverse by what they see: bagging, random subspaces, forests."""

from committee.sampling.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from committee.sampling.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from committee.sampling.rotation import RotationForestClassifier, RotationForestRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RotationForestClassifier",
    "RotationForestRegressor",
]
