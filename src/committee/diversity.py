"""How members of a committee differ: measures of diversity, as functions of votes and answers.

Most look at who is right about which row; `kappa` looks at the labels. Measures of pairs are matrices, of
which `average` takes the mean; the others are one number for a committee.
"""

from committee.evaluating.pairs import average, correlation, disagreement, double_fault, kappa, q_statistic
from committee.evaluating.together import (
    coincident_failure,
    difficulty,
    entropy,
    generalised_diversity,
    interrater_agreement,
    kohavi_wolpert,
    summary,
)

__all__ = [
    "average",
    "coincident_failure",
    "correlation",
    "difficulty",
    "disagreement",
    "double_fault",
    "entropy",
    "generalised_diversity",
    "interrater_agreement",
    "kappa",
    "kohavi_wolpert",
    "q_statistic",
    "summary",
]
