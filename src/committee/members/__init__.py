"""Estimators of any kind as members: what they see, their seeds and weights, their fits, their votes."""

from committee.members.encoding import TableEncoder
from committee.members.fitting import NumberedLabels

__all__ = ["NumberedLabels", "TableEncoder"]
