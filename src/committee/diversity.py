"""Measures of the diversity of the members of a committee, as functions of their votes and y.

Most compare the rows on which members are correct, and `kappa` compares their labels. Pairwise measures are
matrices, and `average` returns the mean over all pairs. The other measures are a number for a committee.
"""

from committee.evaluating.diversity_measures import *
from committee.evaluating.diversity_measures import __all__ as __all__
