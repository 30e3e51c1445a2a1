"""Score decisions, estimate confidence intervals, and compare learners over many tables."""

from committee.evaluating.committee_charts import (
    ErrorCurve,
    KappaError,
    Margins,
    error_curve,
    kappa_error,
    margins,
    oracle_accuracy,
)
from committee.evaluating.comparison import Comparison
from committee.evaluating.density_combination import DensityCombination, combine_densities
from committee.evaluating.error_decomposition import Decomposition, decompose, decompose_intervals
from committee.evaluating.experiments import (
    BaggingErrors,
    NoFreeLunch,
    PolynomialCommittee,
    bagging_errors,
    draw_simulated_rows,
    flip_labels,
    label_noise_study,
    no_free_lunch,
    polynomial_committee,
)
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
    "BaggingErrors",
    "BiasVariance",
    "BootstrapError",
    "Comparison",
    "Decomposition",
    "DensityCombination",
    "ErrorCurve",
    "Forecast",
    "Interval",
    "KappaError",
    "Margins",
    "NoFreeLunch",
    "PolynomialCommittee",
    "Study",
    "bagging_errors",
    "bias_variance",
    "bootstrap_error",
    "bootstrap_variance",
    "combine_densities",
    "decompose",
    "decompose_intervals",
    "draw_simulated_rows",
    "error_curve",
    "flip_labels",
    "kappa_error",
    "known_learners",
    "label_noise_study",
    "majority_vote_accuracy",
    "majority_vote_forecast",
    "margins",
    "missing_learners",
    "no_free_lunch",
    "oracle_accuracy",
    "polynomial_committee",
    "right_votes",
    "score",
    "score_interval",
]
