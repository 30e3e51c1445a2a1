"""Judging: how good decisions are, how sure that is, and compared with what."""

from committee.evaluating.bias_variances import BiasVariance, bias_variance
from committee.evaluating.bootstrap_errors import BootstrapError, bootstrap_error
from committee.evaluating.comparison import Comparison
from committee.evaluating.decomposing import Decomposition, decompose, decompose_intervals
from committee.evaluating.intervals import Interval, bootstrap_variance
from committee.evaluating.learners import known_learners
from committee.evaluating.majority import (
    Forecast,
    majority_vote_accuracy,
    majority_vote_forecast,
    right_votes,
)
from committee.evaluating.picturing import (
    ErrorCurve,
    KappaError,
    error_curve,
    kappa_error,
    margins,
    oracle_accuracy,
)
from committee.evaluating.scoring import score, score_interval
from committee.evaluating.study import Study

__all__ = [
    "BiasVariance",
    "BootstrapError",
    "Comparison",
    "Decomposition",
    "ErrorCurve",
    "Forecast",
    "Interval",
    "KappaError",
    "Study",
    "bias_variance",
    "bootstrap_error",
    "bootstrap_variance",
    "decompose",
    "decompose_intervals",
    "error_curve",
    "kappa_error",
    "known_learners",
    "majority_vote_accuracy",
    "majority_vote_forecast",
    "margins",
    "oracle_accuracy",
    "right_votes",
    "score",
    "score_interval",
]
