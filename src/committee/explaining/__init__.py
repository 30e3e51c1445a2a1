"""Explain decisions: how much each column of a table contributes to the decision on each row."""

from committee.explaining.explanation import Explanation

__all__ = ["Explanation"]
