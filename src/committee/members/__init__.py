"""Estimators of any kind as members of ensembles: their tables, seeds, fits and votes."""

from committee.members.member_fit import MidpointClassifier, NumberedLabels
from committee.members.table_encoder import TableEncoder

__all__ = ["MidpointClassifier", "NumberedLabels", "TableEncoder"]
