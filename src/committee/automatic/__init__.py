"""The automatic committee: members of a portfolio, fitted in the time there is, and the rule that suits them.

The way of the data: `portfolio` lists the members, `schedule` fits them fold by fold within the `limits`,
`rule_choice` compares rules on their honest votes, `automatic_committee` puts them together. The estimators
are imported on first use, so that the command line reads their `automatic_parameters` without what learns.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from committee.automatic.automatic_committee import CommitteeClassifier, CommitteeRegressor

__all__ = ["CommitteeClassifier", "CommitteeRegressor"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(importlib.import_module("committee.automatic.automatic_committee"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
