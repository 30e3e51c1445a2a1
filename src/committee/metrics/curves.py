"""Compute areas under ROC curves and the calibration error for many resamples of the same rows.

Each function prepares what does not depend on the weights of the rows, such as ranks and bins. It returns a
function that computes the score for given weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from committee.metrics.row_losses import errors

# A function that returns the score for the weights of the rows.
Weighed = Callable[[np.ndarray], float]
# The number of bins of Guo et al. 2017.
N_BINS = 15


def weighted_area(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """Prepare the mean area under the ROC curve of each class, weighted by the share of its rows."""
    return area_under_curves(y, decision, by_share=True)


def area_under_curves(y: np.ndarray, decision: np.ndarray, by_share: bool = False) -> Weighed:
    """Prepare the mean area under the ROC curve of each class against all others.

    The area is the probability that a row of the class gets a higher vote for it than a row of another class.
    Equal votes count half (Fawcett 2006). With two classes, only the area of the second is computed. Classes
    without rows, or with all rows, are skipped. The score is NaN if no class is left.
    """
    codes = [1] if decision.shape[1] == 2 else range(decision.shape[1])
    ranked = {code: np.unique(decision[:, code], return_inverse=True)[1] for code in codes}

    def value(weights: np.ndarray) -> float:
        of_classes = np.bincount(y, weights=weights, minlength=decision.shape[1])
        total, share = 0.0, 0.0
        for code, ranks in ranked.items():
            inside, outside = of_classes[code], of_classes.sum() - of_classes[code]
            if inside <= 0 or outside <= 0:
                continue
            is_inside = y == code
            ours = np.bincount(ranks[is_inside], weights=weights[is_inside], minlength=ranks.max() + 1)
            others = np.bincount(ranks[~is_inside], weights=weights[~is_inside], minlength=len(ours))
            below = np.cumsum(others) - others / 2
            of_class = inside if by_share else 1.0
            total += of_class * float(ours @ below) / (inside * outside)
            share += of_class
        return float(total / share) if share > 0 else float("nan")

    return value


def negative_calibration_error(y: np.ndarray, decision: np.ndarray) -> Weighed:
    """Prepare minus the expected calibration error, which compares the confidence with the accuracy.

    Rows are put into 15 bins of equal width by the probability of the predicted class: (0, 1/15],
    (1/15, 2/15] and so on. The error is the absolute difference between the mean probability and the share of
    correct decisions in a bin, averaged over the bins by the weight of their rows (Guo et al. 2017).
    """
    confidence = decision.max(axis=1)
    gap = 1.0 - errors(decision[None], y)[0] - confidence
    bins = bins_of(confidence)

    def value(weights: np.ndarray) -> float:
        of_bins = np.bincount(bins, weights=gap * weights, minlength=N_BINS)
        return 0.0 - float(np.abs(of_bins).sum() / weights.sum())

    return value


def bins_of(confidence: np.ndarray) -> np.ndarray:
    """Return the bin of each probability. Bin k contains those above k / 15 and up to (k + 1) / 15.

    Examples
    --------
    >>> bins_of(np.array([1 / 15, 0.5, 1.0]))
    array([ 0,  7, 14])
    """
    upper = np.arange(1, N_BINS) / N_BINS
    return np.searchsorted(upper, confidence, side="left")
