"""Rules for combining votes: the public names of the stage `combining`."""

from committee.combining.adjusting import AdjustedRule
from committee.combining.averaging import BayesianAveragingRule, BayesianCombinationRule
from committee.combining.dynamic import DynamicRule
from committee.combining.fixed import (
    borda,
    geometric_mean,
    majority,
    maximum,
    mean,
    median,
    minimum,
    one_hot,
    plurality,
    product,
    trimmed_mean,
)
from committee.combining.greedy import BestMemberRule, GreedyRule
from committee.combining.labels import BehaviourKnowledgeRule, NaiveBayesRule
from committee.combining.naming import as_rule, rule_named, rule_names
from committee.combining.pooling import LogPoolRule
from committee.combining.regions import RegionRule
from committee.combining.rule import FixedRule, Rule
from committee.combining.stacking import StackingRule
from committee.combining.templates import DecisionTemplateRule, DempsterShaferRule
from committee.combining.weighted import AccuracyWeightedRule, CAWPERule

__all__ = [
    "AccuracyWeightedRule",
    "AdjustedRule",
    "BayesianAveragingRule",
    "BayesianCombinationRule",
    "BehaviourKnowledgeRule",
    "BestMemberRule",
    "CAWPERule",
    "DecisionTemplateRule",
    "DempsterShaferRule",
    "DynamicRule",
    "FixedRule",
    "GreedyRule",
    "LogPoolRule",
    "NaiveBayesRule",
    "RegionRule",
    "Rule",
    "StackingRule",
    "as_rule",
    "borda",
    "geometric_mean",
    "majority",
    "maximum",
    "mean",
    "median",
    "minimum",
    "one_hot",
    "plurality",
    "product",
    "rule_named",
    "rule_names",
    "trimmed_mean",
]
