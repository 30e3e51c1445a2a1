"""Judging: how good decisions are, how sure that is, and compared with what."""

from committee.evaluating.comparison import Comparison
from committee.evaluating.intervals import Interval
from committee.evaluating.metrics import METRICS, Metric, metric_of
from committee.evaluating.picturing import (
    ErrorCurve,
    KappaError,
    error_curve,
    kappa_error,
    margins,
    oracle_accuracy,
)
from committee.evaluating.scoring import score, score_interval

__all__ = [
    "METRICS",
    "Comparison",
    "ErrorCurve",
    "Interval",
    "KappaError",
    "Metric",
    "error_curve",
    "kappa_error",
    "margins",
    "metric_of",
    "oracle_accuracy",
    "score",
    "score_interval",
]
