"""Members of any kind, honest votes, and a rule: committees.

The data's way: `members` says who sits, `folds` which rows are held out, `fitting` fits all members by a
runner, `votes` aligns what they say, `calibrating` makes probabilities of scores, `committee` fits the rule.
In a mixture of experts members and rule are fitted together: `merging`, `expectation`, `experts`.
"""

from committee.assembling.averaging import BayesianAveragingClassifier, BayesianAveragingRegressor
from committee.assembling.bank import Bank
from committee.assembling.cawpe import CAWPEClassifier
from committee.assembling.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.assembling.leaderboard import Leaderboard, Standing
from committee.assembling.selecting import (
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    RegionSelectionClassifier,
    RegionSelectionRegressor,
)
from committee.assembling.stacking import StackingClassifier, StackingRegressor
from committee.assembling.voting import VotingClassifier, VotingRegressor
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
