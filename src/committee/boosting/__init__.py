"""Members made diverse by re-weighting: AdaBoost in its four forms, gradient boosting and LogitBoost."""

from committee.boosting.adaboost import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
)
from committee.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from committee.boosting.logitboost import LogitBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LogitBoostClassifier",
]
