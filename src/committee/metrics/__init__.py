"""Metrics of decisions, with the names and the signs of scikit-learn."""

from committee.metrics.metric_table import METRICS, Metric, shown
from committee.metrics.scoring import metric_of

__all__ = ["METRICS", "Metric", "metric_of", "shown"]
