"""Provide four variants of AdaBoost, which re-weight the rows in every round."""
