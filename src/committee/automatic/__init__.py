"""The automatic committee: members of a portfolio, fitted within limits, and the rule that suits them.

`portfolio` lists the members, `schedule` fits them fold by fold within the `limits`, `rule_choice` compares
rules on their honest votes, and `automatic_committee` combines these steps. The estimators are imported on
first use, so that the command line can read their `automatic_parameters` without importing learners.
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
