"""How well a model does: by names that people use, and by those of scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from committee.combining.losses import CLASS_LOSSES, NUMBER_LOSSES
from committee.files.errors import suggestion
from committee.parameters import unknown_name

# What people call them, and how scikit-learn's scorers are called: of two classes, of more, of numbers.
CLASS_METRICS: Mapping[str, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "log_loss": "neg_log_loss",
    "auc": "roc_auc",
    "f1": "f1_macro",
}
NUMBER_METRICS: Mapping[str, str] = {
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "r2": "r2",
}
# Those that `evaluate` tells.
TOLD = {
    "classification": ("accuracy", "balanced_accuracy", "log_loss", "auc"),
    "regression": ("rmse", "mae", "r2"),
}

# Of rows of one class, the area has no value, and the balanced accuracy is the accuracy.
OF_CLASSES = ("auc", "balanced_accuracy")


def scorer_name(metric: str | None, task: str, n_classes: int = 2) -> str | None:
    """The name that scikit-learn's scorers have for a metric.

    Parameters
    ----------
    metric : str or None
    task : {"classification", "regression"}
    n_classes : int, default=2

    Returns
    -------
    str or None

    Examples
    --------
    >>> scorer_name("auc", "classification", 3), scorer_name("rmse", "regression")
    ('roc_auc_ovr_weighted', 'neg_root_mean_squared_error')
    >>> scorer_name("auc", "regression")
    Traceback (most recent call last):
    ValueError: The metric 'auc' is not for regression. Use one of rmse, mae, r2.
    >>> scorer_name("acuracy", "classification")
    Traceback (most recent call last):
    ValueError: There is no metric 'acuracy' for classification. Did you mean 'accuracy'?
    """
    from sklearn.metrics import get_scorer_names

    if metric is None:
        return None
    are_classes = task == "classification"
    ours, others = (CLASS_METRICS, NUMBER_METRICS) if are_classes else (NUMBER_METRICS, CLASS_METRICS)
    if metric in others:
        raise ValueError(f"The metric {metric!r} is not for {task}. Use one of {', '.join(ours)}.")
    name = ours.get(metric, metric)
    if name not in get_scorer_names():
        raise ValueError(f"There is no metric {metric!r} for {task}. {suggestion(metric, list(ours))}")
    if name == "roc_auc" and n_classes > 2:
        # Each class counts as often as it is there, as in `committee.score`.
        return "roc_auc_ovr_weighted" if metric == "auc" else "roc_auc_ovr"
    return name


def check_metric_name(metric: str, tasks: Sequence[str]) -> None:
    """Raise for a metric that is none of any of some tasks, before the table has said which it is.

    Examples
    --------
    >>> check_metric_name("rms", ["classification", "regression"])
    Traceback (most recent call last):
    ValueError: There is no metric 'rms'. Did you mean 'rmse'?
    """
    from sklearn.metrics import get_scorer_names

    ours = {
        "classification": [*CLASS_METRICS, *CLASS_LOSSES],
        "regression": [*NUMBER_METRICS, *NUMBER_LOSSES],
    }
    known = [name for task in tasks for name in ours[task]]
    if metric not in (*known, *get_scorer_names()):
        where = f" for {tasks[0]}" if len(tasks) == 1 else ""
        raise unknown_name("metric", metric, dict.fromkeys(known), where=where)


def committee_metric(metric: str | None, task: str, n_classes: int) -> str | None:
    """The name that the automatic committee has for a metric: losses of our own are faster."""
    ours = CLASS_LOSSES if task == "classification" else NUMBER_LOSSES
    return metric if metric in ours else scorer_name(metric, task, n_classes)


def judging_scorer(metric: str | None, task: str, n_classes: int) -> Any:
    """What standings are judged by: a name of scikit-learn's scorers, a scorer of a loss of ours, or None."""
    ours, usual = (
        (CLASS_LOSSES, CLASS_METRICS) if task == "classification" else (NUMBER_LOSSES, NUMBER_METRICS)
    )
    if metric is not None and metric in ours and metric not in usual:
        return LossScorer(metric)
    return scorer_name(metric, task, n_classes)


class LossScorer:
    """Minus a loss of ours, as `committee.score` has it, for those who ask scorers of scikit-learn.

    Parameters
    ----------
    loss : str
    """

    def __init__(self, loss: str) -> None:
        self.loss = loss

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Judge the probabilities, or the numbers, of an estimator."""
        from committee.evaluating.scoring import score

        classes = getattr(estimator, "classes_", None)
        decision = estimator.predict(X) if classes is None else estimator.predict_proba(X)
        return -float(score(decision, y, self.loss, sample_weight=sample_weight, classes=classes))

    def set_score_request(self, **requests: Any) -> LossScorer:
        """Ask for nothing, as scorers of scikit-learn can be told to."""
        return self

    def __repr__(self) -> str:
        return f"neg_{self.loss}"


def scores_of(model: Any, X: Any, y: np.ndarray, metric: str | None = None) -> dict[str, float]:
    """The scores of a fitted model on rows with answers.

    Parameters
    ----------
    model : estimator
    X : table
    y : ndarray of shape (n_rows,)
    metric : str, default=None
        One of ours, as `committee.score` has it, or of scikit-learn's scorers. None is those that are usual.

    Returns
    -------
    dict of str to float
        Losses are as they are: less is better.
    """
    from sklearn.metrics import get_scorer

    from committee.combining.metrics import METRICS
    from committee.evaluating.scoring import score

    task = "classification" if hasattr(model, "classes_") else "regression"
    n_classes = len(model.classes_) if task == "classification" else 0
    wanted = TOLD[task] if metric is None else (metric,)
    if metric is None and len(np.unique(y)) == 1:
        wanted = tuple(name for name in wanted if name not in OF_CLASSES)
    found = {}
    if METRICS.keys() & set(wanted):
        decision = model.predict_proba(X) if task == "classification" else model.predict(X)
    for name in wanted:
        if name in METRICS:
            found[name] = score(decision, y, name, classes=getattr(model, "classes_", None))
            if np.isnan(found[name]):
                raise ValueError(f"The metric {name!r} has no value here: all rows are of one class.")
            continue
        scorer = str(scorer_name(name, task, n_classes))
        try:
            value = float(get_scorer(scorer)(model, X, y))
        except ValueError as error:
            raise ValueError(
                f"The metric {name!r} has no value here: {' '.join(str(error).split())}"
            ) from error
        found[name] = -value if scorer.startswith("neg_") and scorer != name else value
    return found
