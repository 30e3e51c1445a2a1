"""Estimators of any kind as members: what they see, their seeds and weights, their fits, their votes."""

from committee.members.member_fit import NumberedLabels
from committee.members.table_encoder import TableEncoder

__all__ = ["NumberedLabels", "TableEncoder"]
