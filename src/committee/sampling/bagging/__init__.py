"""Fit members of any kind on random rows and random columns."""
