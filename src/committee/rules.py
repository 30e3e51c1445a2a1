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
