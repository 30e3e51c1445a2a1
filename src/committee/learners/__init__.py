"""Single learners: CART, C4.5, the random tree, the stump and networks."""

from committee.learners.c45 import C45Classifier
from committee.learners.network import NetworkClassifier, NetworkRegressor
from committee.learners.tree import (
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)

__all__ = [
    "C45Classifier",
    "DecisionStumpClassifier",
    "DecisionStumpRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
]
