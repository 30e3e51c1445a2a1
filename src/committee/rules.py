"""Rules that combine the votes of members. These are the public names of `committee.combining`."""

from committee.combining.adjusted_rule import AdjustedRule
from committee.combining.bayesian_rules import BayesianAveragingRule, BayesianCombinationRule
from committee.combining.constant_rule import ConstantRule
from committee.combining.cost_rule import CostRule
from committee.combining.decision_templates import DecisionTemplateRule, DempsterShaferRule
from committee.combining.fixed_rules import (
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
from committee.combining.label_rules import BehaviourKnowledgeRule, NaiveBayesRule
from committee.combining.logarithmic_pool import LogPoolRule
from committee.combining.rule import FixedRule, Rule
from committee.combining.rule_registry import as_rule, rule_named, rule_names
from committee.combining.selection.dynamic_selection import DynamicRule
from committee.combining.selection.greedy_selection import BestMemberRule, GreedyRule
from committee.combining.selection.region_selection import RegionRule
from committee.combining.stacking import StackingRule
from committee.combining.weighted_rules import AccuracyWeightedRule, CAWPERule

__all__ = [
    "AccuracyWeightedRule",
    "AdjustedRule",
    "BayesianAveragingRule",
    "BayesianCombinationRule",
    "BehaviourKnowledgeRule",
    "BestMemberRule",
    "CAWPERule",
    "ConstantRule",
    "CostRule",
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
