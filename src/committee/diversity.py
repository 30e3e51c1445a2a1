"""How members of a committee differ: measures of diversity, as functions of votes and answers.

Most look at who is right about which row; `kappa` looks at the labels. Measures of pairs are matrices, of
which `average` takes the mean; the others are one number for a committee.
"""

from committee.evaluating.diversity_measures import (
    average,
    coincident_failure,
    correlation,
    difficulty,
    disagreement,
    double_fault,
    entropy,
    generalised_diversity,
    interrater_agreement,
    kappa,
    kohavi_wolpert,
    q_statistic,
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
