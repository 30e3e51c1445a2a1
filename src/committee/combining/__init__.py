"""Rules: from the votes of the members, of shape (n_members, n_rows, n_outputs), to one decision."""

from committee.combining.fixed import majority, mean, one_hot

__all__ = ["majority", "mean", "one_hot"]
