"""Single learners: CART, C4.5, the random tree, the stump and networks."""

from committee.learners.c45 import C45Classifier
from committee.learners.network import NetworkClassifier, NetworkRegressor
from committee.learners.random_tree import RandomTreeClassifier, RandomTreeRegressor
from committee.learners.stump import DecisionStumpClassifier, DecisionStumpRegressor
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor

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
