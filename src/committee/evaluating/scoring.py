"""How good decisions are, by any metric, and how sure that is: intervals by drawing rows again."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.evaluating.intervals import Draws, Interval, interval_of
from committee.evaluating.reading import read_decision
from committee.metrics.scoring import metric_of, task_of


def score(
    decision: Any, y: Any, scoring: Any = None, *, sample_weight: Any = None, classes: Any = None
) -> Any:
    """Judge a decision, or each of several.

    Parameters
    ----------
    decision : array-like of shape (n_rows, n_outputs), (n_rows,) or (n_members, n_rows, n_outputs)
        Probabilities or votes for classes, which count as shares of their sum; or one number for each row.
        One dimension is labels, or numbers if either of decision and y has floats and the metric does not
        tell.
    y : array-like of shape (n_rows,)
        The answers: numbers of classes from 0 on, labels if `classes` are given or the decision is labels, or
        the numbers of a regression.
    scoring : str, scorer or callable, default=None
        A name of scikit-learn's scorers, as "neg_log_loss" or "roc_auc_ovr_weighted"; "neg_calibration_error"
        (of the decided class, 15 bins of equal width); a scorer made by scikit-learn's `make_scorer`; or a
        function of y, a decision of shape (n_rows, n_outputs) and the weights of the rows. Scorers see
        labels, so the positive class of "f1" is 1; a function sees the numbers of the classes. None is
        "accuracy" or "neg_root_mean_squared_error".
    sample_weight : array-like of shape (n_rows,), default=None
        None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels that the outputs stand for, as `classes_` of an estimator.

    Returns
    -------
    float, or ndarray of shape (n_members,)
        More is better. A "roc_auc" of rows of one class is NaN.

    See Also
    --------
    score_interval : How sure a score is.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis". Pattern Recognition Letters 27, 2006.
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks". ICML 2017.

    Examples
    --------
    >>> decision, y = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]], [0, 1, 1, 1]
    >>> score(decision, y), score(decision, y, "roc_auc"), score(decision, y, "f1")
    (0.75, 1.0, 0.8)
    >>> score(["a", "b", "b"], ["a", "b", "a"], "balanced_accuracy")
    0.75
    """
    honest = read_decision(decision, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))
    wanted = metric_of(scoring, honest.n_outputs, honest.classes)
    values = [wanted.prepare(honest.y, each)(honest.weights) for each in honest.votes.astype(np.float64)]
    return np.array(values) if np.ndim(decision) == 3 else values[0]


def score_interval(
    decision: Any,
    y: Any,
    scoring: Any = None,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    kind: str = "percentile",
    level: float = 0.95,
    B: int = 1000,
    random_state: Any = None,
) -> Interval:
    """Judge a decision, and tell how sure that is: a confidence interval by the bootstrap over rows.

    The members and the rule stay as they are; only the rows that they are judged on are drawn again.

    Parameters
    ----------
    decision, y, scoring, sample_weight, classes : as for `score`
        One decision. Small whole weights are rows that many times; others go along with their row.
    kind : {"percentile", "bca"}, default="percentile"
        Quantiles of the scores on rows drawn again, or those quantiles corrected for bias and skewness (BCa).
    level : float in (0, 1), default=0.95
        How often the interval is to hold the true score.
    B : int, default=1000
        How often rows are drawn.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Interval
        With `value`, `low`, `high`, `level` and `kind`.

    References
    ----------
    B. Efron, R. Tibshirani, "An introduction to the bootstrap". Chapman & Hall 1993, chapters 13 and 14.

    Examples
    --------
    >>> interval = score_interval(["a"] * 80 + ["b"] * 20, ["a"] * 100, "accuracy", random_state=0)
    >>> f"{interval.value:.2f} from {interval.low:.2f} to {interval.high:.2f}"
    '0.80 from 0.72 to 0.88'
    """
    if np.ndim(decision) == 3:
        raise ValueError(
            "score_interval judges one decision. Call it for each member, or combine them first."
        )
    honest = read_decision(decision, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))
    wanted = metric_of(scoring, honest.n_outputs, honest.classes)
    weighed = wanted.prepare(honest.y, honest.votes[0].astype(np.float64))
    draws = Draws.of(honest.weights, random_state)
    return interval_of(weighed, draws, kind=kind, level=level, n_draws=B)
