"""Rules: from the votes of the members, of shape (n_members, n_rows, n_outputs), to one decision.

The public names are in `committee.rules`; these are what the other stages use.
"""

from committee.combining.fixed import one_hot
from committee.combining.naming import as_rule, rule_named, rule_names

__all__ = ["as_rule", "one_hot", "rule_named", "rule_names"]
