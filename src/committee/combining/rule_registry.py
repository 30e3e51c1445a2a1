"""The registry of rules, with names such as "cawpe" for the parameter `rule`.

A trained rule is imported when its name is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

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
    "constant": ("ConstantRule", {}),
    "adjusted": ("AdjustedRule", {}),
    "greedy": ("GreedyRule", {}),
    "best_member": ("BestMemberRule", {}),
    "region": ("RegionRule", {}),
    "dynamic": ("DynamicRule", {}),
}
# When to choose each rule.
WHEN: Mapping[str, str] = {
    "mean": "Members are about equally good and vote with probabilities or numbers: the safe default.",
    "median": "Some members may be far off, and should not move the decision.",
    "trimmed_mean": "As for median, if each member has some value: only the extreme votes are dropped.",
    "minimum": "A class must be plausible for every member: one low vote rejects it.",
    "maximum": "One confident member is enough, as with members that each know some of the classes.",
    "product": "Members err independently and are calibrated: they grow more confident together.",
    "geometric_mean": "Members are calibrated and see the same evidence: the mean of their log-odds.",
    "majority": "Members predict labels, or their probabilities are unreliable. Returns shares of the votes.",
    "plurality": "As for majority, if only the winning class is needed, as 0 and 1.",
    "borda": "There are many classes, and members rank them better than they estimate probabilities.",
    "weighted_mean": "Members differ in quality, and the probabilities of the better ones should count more.",
    "weighted_majority": "Members differ in quality and predict labels: the better labels should count more.",
    "accuracy_weighted": "The same as weighted_mean. For log-odds or weights per class pass the class.",
    "cawpe": "There are a few different, tuned members. Small differences in accuracy count much.",
    "naive_bayes": "Members predict labels, confuse different classes and err independently.",
    "behaviour_knowledge": "There are few members and classes and many rows: every combination is looked up.",
    "decision_template": "The pattern of all votes says more than each vote, such as biased probabilities.",
    "dempster_shafer": "As for decision_template, if members that are often wrong should count as undecided.",
    "bayesian_averaging": "One member is believed to be right, and the rows should say which.",
    "bayesian_combination": "A mixture is believed to be better than any member, and there are few members.",
    "stacking": "There are many honest rows, and members are redundant or systematically wrong.",
    "log_pool": "Members give probabilities for a log loss: the usual choice of the automatic committee.",
    "adjusted": "Probabilities should be calibrated, or thresholds tuned for a metric such as f1.",
    "greedy": "There are many members, and a small set of them should decide.",
    "constant": "Members may be worse than the shares of the classes: a baseline, not a committee.",
    "best_member": "One model should decide, because it must be small, fast or easy to explain.",
    "region": "Members are good in different regions of the table. It uses the rows.",
    "dynamic": "Which member is right changes from row to row, in a small table. It uses the rows.",
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
    """Return the names of all rules, each with a sentence that says when to choose it.

    Examples
    --------
    >>> rule_lines()["median"]
    'Some members may be far off, and should not move the decision.'
    """
    return {name: WHEN[name] for name in rule_names()}


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


def title_of(rule: Any) -> str:
    """Return the short name of a rule, without its parameters.

    Examples
    --------
    >>> from committee.rules import AccuracyWeightedRule, AdjustedRule, CAWPERule
    >>> title_of(CAWPERule(alpha=3)), title_of(AccuracyWeightedRule(of="labels"))
    ('cawpe', 'weighted_majority')
    >>> title_of(AdjustedRule(CAWPERule()))
    'adjusted cawpe'
    """
    if isinstance(rule, str) or rule is None:
        return str(rule)
    inner = getattr(rule, "rule", None)
    if type(rule).__name__ == "CostRule":
        return title_of(inner)
    if type(rule).__name__ == "AdjustedRule":
        return f"adjusted {title_of(inner)}"
    for name, (class_name, parameters) in TRAINED.items():
        if class_name == type(rule).__name__ and parameters.items() <= rule.get_params().items():
            return name
    named = rule if inner is None else inner
    return str(named if isinstance(named, str) else getattr(named, "__name__", type(named).__name__))
