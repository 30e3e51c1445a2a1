"""Boost by weights of rows: the four AdaBoosts."""
