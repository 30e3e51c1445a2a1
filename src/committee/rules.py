"""Rules for combining votes: the public names of the stage `combining`."""

from committee.combining import majority, mean, one_hot

__all__ = ["majority", "mean", "one_hot"]
