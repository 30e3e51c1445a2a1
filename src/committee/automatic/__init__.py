"""The automatic committee: members of a portfolio, fitted in the time there is, and the rule that suits them.

The data's way: `portfolio` says who may sit, `scheduling` fits them fold by fold by the `clock`, `choosing`
compares rules on their honest votes, `committee` puts them together.
"""

from committee.automatic.committee import CommitteeClassifier, CommitteeRegressor

__all__ = ["CommitteeClassifier", "CommitteeRegressor"]
