"""Members of any kind, honest votes, and a rule: committees.

Data passes these modules: `members` checks the members, `fitting` fits them by a runner, on all rows and on
folds, `calibrating` makes probabilities of scores, `committee` fits the rule on honest votes. In a mixture of
experts, members and rule are fitted together: `experts`, `expectation`, `gating`.
"""

from committee.assembling.bank import Bank
from committee.assembling.committees import (
    BayesianAveragingClassifier,
    BayesianAveragingRegressor,
    CAWPEClassifier,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    RegionSelectionClassifier,
    RegionSelectionRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from committee.assembling.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.assembling.leaderboard import Leaderboard, Standing
from committee.members import NumberedLabels, TableEncoder

__all__ = [
    "Bank",
    "BayesianAveragingClassifier",
    "BayesianAveragingRegressor",
    "CAWPEClassifier",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "Leaderboard",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "NumberedLabels",
    "RegionSelectionClassifier",
    "RegionSelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "Standing",
    "TableEncoder",
    "VotingClassifier",
    "VotingRegressor",
]
