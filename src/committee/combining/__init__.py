"""Rules that combine the votes of members, of shape (n_members, n_rows, n_outputs), into one decision.

The public names are in `committee.rules`. This module imports no rules, so that code that reads saved files
can list them without loading them.
"""

from collections.abc import Mapping

# The modules of the classes of rules.
MODULES: Mapping[str, str] = {
    "FixedRule": "rule",
    "AccuracyWeightedRule": "weighted_rules",
    "CAWPERule": "weighted_rules",
    "NaiveBayesRule": "label_rules",
    "BehaviourKnowledgeRule": "label_rules",
    "DecisionTemplateRule": "decision_templates",
    "DempsterShaferRule": "decision_templates",
    "BayesianAveragingRule": "bayesian_rules",
    "BayesianCombinationRule": "bayesian_rules",
    "StackingRule": "stacking",
    "ConstantRule": "constant_rule",
    "LogPoolRule": "logarithmic_pool",
    "AdjustedRule": "adjusted_rule",
    "CostRule": "cost_rule",
    "GreedyRule": "selection.greedy_selection",
    "BestMemberRule": "selection.greedy_selection",
    "RegionRule": "selection.region_selection",
    "DynamicRule": "selection.dynamic_selection",
}


def module_of(name: str) -> str | None:
    """Return the module of a class of rules, or None if there is no such class.

    Examples
    --------
    >>> module_of("CAWPERule")
    'committee.combining.weighted_rules'
    """
    return f"committee.combining.{MODULES[name]}" if name in MODULES else None
