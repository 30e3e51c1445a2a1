"""Metrics: what decisions are judged by, under scikit-learn's names and with scikit-learn's sign."""

from committee.metrics.metric_table import METRICS, Metric, shown
from committee.metrics.scoring import metric_of

__all__ = ["METRICS", "Metric", "metric_of", "shown"]
