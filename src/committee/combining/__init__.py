"""Rules: from the votes of the members, of shape (n_members, n_rows, n_outputs), to one decision."""

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
from committee.combining.naming import as_rule, rule_named, rule_names

__all__ = [
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
