"""Judging: how good decisions are and how sure that is."""

from committee.evaluating.intervals import Interval
from committee.evaluating.metrics import METRICS, Metric, metric_of
from committee.evaluating.scoring import score, score_interval

__all__ = ["METRICS", "Interval", "Metric", "metric_of", "score", "score_interval"]
