"""Provide boosting: four variants of AdaBoost, gradient boosting and LogitBoost."""

from committee.boosting.adaboost.estimators import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
)
from committee.boosting.gradient.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from committee.boosting.gradient.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from committee.boosting.gradient.logitboost import LogitBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "LogitBoostClassifier",
]
