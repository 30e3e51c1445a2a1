"""Members of any kind, honest votes, and a rule: committees.

Data passes these modules: `named_members` checks the members, `member_fits` fits them by a runner, on all
rows and on folds, `calibration` makes probabilities of scores, `committee` fits the rule on honest votes. In
a mixture of experts, members and rule are fitted together: `mixture`, `expectation_maximisation`, `gate`.
"""

from committee.assembling.bank.vote_bank import Bank
from committee.assembling.experts.mixture import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.assembling.leaderboard import Leaderboard, Standing
from committee.assembling.rule_committees import (
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
