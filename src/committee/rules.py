"""Rules for combining votes: the public names of the stage `combining`."""

from committee.combining import (
    as_rule,
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
    rule_named,
    rule_names,
    trimmed_mean,
)
from committee.combining.dynamic import DynamicRule

__all__ = [
    "DynamicRule",
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
