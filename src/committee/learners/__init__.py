"""Single learners: CART, C4.5, the random tree, the stump and networks."""

from committee.learners.c45 import C45Classifier
from committee.learners.decision_trees import (
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.learners.network import NetworkClassifier, NetworkRegressor

__all__ = [
    "C45Classifier",
    "DecisionStumpClassifier",
    "DecisionStumpRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
]
