"""The automatic committee: members of a portfolio, fitted in the time there is, and the rule that suits them.

The data's way: `portfolio` says which members there are, `scheduling` fits them fold by fold by the `clock`,
`choosing` compares rules on their honest votes, `committee` puts them together. The estimators are imported
when they are asked for, so that the command line reads their `parameters` without what learns.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committee.automatic.committee import CommitteeClassifier, CommitteeRegressor

__all__ = ["CommitteeClassifier", "CommitteeRegressor"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("committee.automatic.committee"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
