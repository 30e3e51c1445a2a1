"""Ensemble learning for tables: members vote, a rule decides."""

from committee import rules
from committee.boosting import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LogitBoostClassifier,
)
from committee.learners import (
    C45Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.sampling import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostRegressor",
    "C45Classifier",
    "DecisionStumpClassifier",
    "DecisionStumpRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LogitBoostClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
    "rules",
]
