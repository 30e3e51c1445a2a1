"""Committees: members of any kind and a rule that is fitted on their honest votes.

Data passes these modules in order: `named_members` checks the members, `member_fits` fits them on all rows
and on folds, `calibration` turns scores into probabilities, and `committee` fits the rule on honest votes. A
mixture of experts fits members and gates together: `mixture`, `expectation_maximisation`, `gate`.
"""

from committee.assembling.bank.vote_bank import Bank
from committee.assembling.experts.mixture import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.assembling.fit_summary import FitSummary
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

__all__ = [
    "Bank",
    "BayesianAveragingClassifier",
    "BayesianAveragingRegressor",
    "CAWPEClassifier",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "FitSummary",
    "Leaderboard",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "RegionSelectionClassifier",
    "RegionSelectionRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "Standing",
    "VotingClassifier",
    "VotingRegressor",
]
