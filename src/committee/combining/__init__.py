"""Rules: from the votes of the members, of shape (n_members, n_rows, n_outputs), to one decision.

The public names are in `committee.rules`. Nothing is imported here, so that whoever reads a file learns which
rules there are without loading them.
"""

from collections.abc import Mapping

# The module of every class of rules.
MODULES: Mapping[str, str] = {
    "FixedRule": "rule",
    "AccuracyWeightedRule": "weighted",
    "CAWPERule": "weighted",
    "NaiveBayesRule": "labels",
    "BehaviourKnowledgeRule": "labels",
    "DecisionTemplateRule": "templates",
    "DempsterShaferRule": "templates",
    "BayesianAveragingRule": "averaging",
    "BayesianCombinationRule": "averaging",
    "StackingRule": "stacking",
    "LogPoolRule": "pooling",
    "AdjustedRule": "adjusting",
    "GreedyRule": "greedy",
    "BestMemberRule": "greedy",
    "RegionRule": "regions",
    "DynamicRule": "dynamic",
}


def module_of(name: str) -> str | None:
    """Return the module of a class of rules, None if there is no such class.

    Examples
    --------
    >>> module_of("CAWPERule")
    'committee.combining.weighted'
    """
    return f"committee.combining.{MODULES[name]}" if name in MODULES else None
