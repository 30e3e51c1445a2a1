"""Reference implementation of boosting: forward stagewise additive fits in numpy that try every split.

Gradient boosting as in the lecture notes: start from the best constant. In every round, compute the
derivatives of the loss with respect to the scores, fit a regression tree to the Newton steps, set the value
of each leaf to minimise the loss, and add it times the learning rate. `gradients(y, scores)` returns gradient
and hessian. `line_search(y, scores, rows)` returns the value of a leaf, by default the regularised Newton
step.
"""

import itertools

import numpy as np
from scipy.special import expit, softmax


def squared_error(y, scores):
    return scores - y, np.ones(len(y))


def log_loss(y, scores):
    p = expit(scores)
    return p - y, p * (1 - p)


def exponential(y, scores):
    """Return derivatives of exp(-margin / 2) for labels 0 and 1. The best score is the log-odds."""
    sign = 2 * y - 1
    loss = np.exp(-sign * scores / 2)
    return -sign * loss / 2, loss / 4


def absolute_error(y, scores):
    return np.sign(scores - y), np.ones(len(y))


def pinball(level):
    return lambda y, scores: (
        np.where(y > scores, -level, np.where(y < scores, 1 - level, 0)),
        np.ones(len(y)),
    )


def poisson(y, scores):
    return np.exp(scores) - y, np.exp(scores)


def gamma(y, scores):
    return 1 - y * np.exp(-scores), y * np.exp(-scores)


def tweedie(power):
    def gradients(y, scores):
        a, b = y * np.exp((1 - power) * scores), np.exp((2 - power) * scores)
        return b - a, (2 - power) * b - (1 - power) * a

    return gradients


def newton(gradient, hessian, reg_lambda, reg_alpha=0.0):
    shrunken = np.sign(gradient) * np.maximum(np.abs(gradient) - reg_alpha, 0)
    return -shrunken / (hessian + reg_lambda)


def gain(gradient, hessian, reg_lambda, reg_alpha=0.0):
    shrunken = np.maximum(np.abs(gradient) - reg_alpha, 0)
    return shrunken**2 / (hessian + reg_lambda)


def leaves(X, gradient, hessian, rows, depth, limits):
    """Return the leaves of the best tree as arrays of rows."""
    reg_lambda, reg_alpha, min_child_weight = limits
    total = gain(gradient[rows].sum(), hessian[rows].sum(), reg_lambda, reg_alpha)
    best = (1e-9, None, None)
    for column in range(X.shape[1]) if depth else ():
        values = np.unique(X[rows, column])
        for low, high in itertools.pairwise(values):
            is_left = X[rows, column] < (low + high) / 2
            left, right = rows[is_left], rows[~is_left]
            if min(hessian[left].sum(), hessian[right].sum()) < min_child_weight:
                continue
            found = sum(
                gain(gradient[side].sum(), hessian[side].sum(), reg_lambda, reg_alpha)
                for side in (left, right)
            )
            if found - total > best[0] * (1 + 1e-7):
                best = (found - total, left, right)
    if best[1] is None:
        return [rows]
    return [leaf for side in best[1:] for leaf in leaves(X, gradient, hessian, side, depth - 1, limits)]


def boost(
    X, y, gradients, start, n_rounds, *, learning_rate=0.1, depth=1, limits=(0.0, 0.0, 0.0), line_search=None
):
    """Return the scores of the training rows after each round."""
    scores = np.full(len(y), float(start))
    stages = []
    for _ in range(n_rounds):
        gradient, hessian = gradients(y, scores)
        for rows in leaves(X, gradient, hessian, np.arange(len(y)), depth, limits):
            if line_search is None:
                step = newton(gradient[rows].sum(), hessian[rows].sum(), *limits[:2])
            else:
                step = line_search(y, scores, rows)
            scores[rows] += learning_rate * step
        stages.append(scores.copy())
    return np.array(stages)


def boost_classes(X, y, n_classes, start, n_rounds, *, learning_rate=0.1, depth=1, limits=(0.0, 0.0, 0.0)):
    """Boost one tree per class with softmax; return scores of shape (n_rounds, n_rows, n_classes)."""
    scores = np.tile(np.asarray(start, dtype=float), (len(y), 1))
    stages = []
    for _ in range(n_rounds):
        p = softmax(scores, axis=1)
        for k in range(n_classes):
            gradient, hessian = p[:, k] - (y == k), p[:, k] * (1 - p[:, k])
            for rows in leaves(X, gradient, hessian, np.arange(len(y)), depth, limits):
                scores[rows, k] += learning_rate * newton(
                    gradient[rows].sum(), hessian[rows].sum(), *limits[:2]
                )
        stages.append(scores.copy())
    return np.array(stages)


def logitboost(X, y, n_classes, n_rounds, z_max=3.0):
    """Return probabilities after each round of LogitBoost on stumps.

    These are algorithms 3 and 6 of Friedman, Hastie and Tibshirani (2000). The stumps are fitted by weighted
    least squares to the working responses, and the scores are centred as in the paper. Clipped working
    responses have the same weights as in Weka, so that their product with the response remains y - p.
    """
    scores = np.zeros((len(y), n_classes))
    stages = []
    for _ in range(n_rounds):
        p = softmax(scores, axis=1)
        steps = np.zeros_like(scores)
        for k in range(n_classes):
            residuals = (y == k) - p[:, k]
            z = np.clip(residuals / np.maximum(p[:, k] * (1 - p[:, k]), 1e-300), -z_max, z_max)
            weights = residuals / z
            # Weighted least squares on z equals a Newton step with gradient -w z and hessian w.
            for rows in leaves(X, -weights * z, weights, np.arange(len(y)), 1, (0.0, 0.0, 0.0)):
                steps[rows, k] = np.average(z[rows], weights=weights[rows])
        scores += (n_classes - 1) / n_classes * (steps - steps.mean(axis=1, keepdims=True))
        stages.append(softmax(scores, axis=1))
    return np.array(stages)
