"""The registry of rules, with names such as "cawpe" for the parameter `rule`.

A trained rule is imported when its name is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from committee.combining import MODULES
from committee.combining.fixed_rules import FIXED
from committee.combining.rule import FixedRule, Rule
from committee.parameters import unknown_name

# The class and the parameters of each name.
TRAINED: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "weighted_mean": ("AccuracyWeightedRule", {"of": "probabilities"}),
    "weighted_majority": ("AccuracyWeightedRule", {"of": "labels"}),
    "accuracy_weighted": ("AccuracyWeightedRule", {}),
    "cawpe": ("CAWPERule", {}),
    "naive_bayes": ("NaiveBayesRule", {}),
    "behaviour_knowledge": ("BehaviourKnowledgeRule", {}),
    "decision_template": ("DecisionTemplateRule", {}),
    "dempster_shafer": ("DempsterShaferRule", {}),
    "bayesian_averaging": ("BayesianAveragingRule", {}),
    "bayesian_combination": ("BayesianCombinationRule", {}),
    "stacking": ("StackingRule", {}),
    "log_pool": ("LogPoolRule", {}),
    "adjusted": ("AdjustedRule", {}),
    "greedy": ("GreedyRule", {}),
    "best_member": ("BestMemberRule", {}),
    "region": ("RegionRule", {}),
    "dynamic": ("DynamicRule", {}),
}


def rule_names() -> list[str]:
    """Return the names of all rules.

    Examples
    --------
    >>> "mean" in rule_names()
    True
    """
    return [*FIXED, *TRAINED]


def rule_lines() -> dict[str, str]:
    """Return the names of all rules with the first lines of their docstrings.

    Examples
    --------
    >>> rule_lines()["median"]
    "Take the median of the members' votes for each output."
    """
    documented = {name: FIXED[name] if name in FIXED else type(rule_named(name)) for name in rule_names()}
    return {name: (each.__doc__ or "").strip().splitlines()[0] for name, each in documented.items()}


def rule_named(name: str) -> Rule:
    """Make a rule by its name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Rule
        An unfitted rule with default parameters.

    Examples
    --------
    >>> rule_named("majority")
    FixedRule(rule='majority')
    >>> rule_named("best")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: There is no rule 'best'. ...
    """
    if name in FIXED:
        return FixedRule(rule=name, weights=None, trim=None)
    if name not in TRAINED:
        raise unknown_name("rule", name, rule_names())
    class_name, parameters = TRAINED[name]
    module = importlib.import_module(f"{__package__}.{MODULES[class_name]}")
    rule: Rule = getattr(module, class_name)(**parameters)
    return rule


def as_rule(rule: object) -> Rule:
    """Convert a name or a function to a rule.

    Parameters
    ----------
    rule : str, callable or Rule
        A name in the registry, a function of votes and optionally `weights`, or a rule.

    Returns
    -------
    Rule
        If `rule` is a rule already, the same object.

    Examples
    --------
    >>> import numpy as np
    >>> as_rule(lambda votes: votes[0]).combine(np.array([[[0.2, 0.8]], [[0.6, 0.4]]]))
    array([[0.2, 0.8]])
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str):
        return rule_named(rule)
    if isinstance(rule, type) or not callable(rule):
        raise ValueError(
            f"rule must be the name of a rule, a function or a rule such as CAWPERule(). Got {rule!r}."
        )
    # Names replace known functions, because only rules with names can be saved.
    named = next((name for name, function in FIXED.items() if function is rule), rule)
    return FixedRule(rule=named, weights=None, trim=None)
