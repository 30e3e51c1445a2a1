"""Score decisions, estimate confidence intervals, and compare learners over many tables."""

from committee.evaluating.committee_charts import (
    ErrorCurve,
    KappaError,
    error_curve,
    kappa_error,
    margins,
    oracle_accuracy,
)
from committee.evaluating.comparison import Comparison
from committee.evaluating.density_combination import DensityCombination, combine_densities
from committee.evaluating.error_decomposition import Decomposition, decompose, decompose_intervals
from committee.evaluating.majority_vote import (
    Forecast,
    majority_vote_accuracy,
    majority_vote_forecast,
    right_votes,
)
from committee.evaluating.resampling.bias_and_variance import BiasVariance, bias_variance
from committee.evaluating.resampling.bootstrap_errors import BootstrapError, bootstrap_error
from committee.evaluating.resampling.confidence_intervals import Interval, bootstrap_variance
from committee.evaluating.study.named_learners import known_learners, missing_learners
from committee.evaluating.study.study import Study
from committee.evaluating.vote_scores import score, score_interval

__all__ = [
    "BiasVariance",
    "BootstrapError",
    "Comparison",
    "Decomposition",
    "DensityCombination",
    "ErrorCurve",
    "Forecast",
    "Interval",
    "KappaError",
    "Study",
    "bias_variance",
    "bootstrap_error",
    "bootstrap_variance",
    "combine_densities",
    "decompose",
    "decompose_intervals",
    "error_curve",
    "kappa_error",
    "known_learners",
    "majority_vote_accuracy",
    "majority_vote_forecast",
    "margins",
    "missing_learners",
    "oracle_accuracy",
    "right_votes",
    "score",
    "score_interval",
]
