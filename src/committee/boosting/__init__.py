"""Members made diverse by re-weighting: gradient boosting and LogitBoost."""

from committee.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from committee.boosting.logitboost import LogitBoostClassifier

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor", "LogitBoostClassifier"]
