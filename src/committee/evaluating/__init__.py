"""Judging: how good decisions are, how sure that is, and compared with what."""

from committee.evaluating.comparison import Comparison
from committee.evaluating.intervals import Interval
from committee.evaluating.metrics import METRICS, Metric, metric_of
from committee.evaluating.scoring import score, score_interval

__all__ = ["METRICS", "Comparison", "Interval", "Metric", "metric_of", "score", "score_interval"]
