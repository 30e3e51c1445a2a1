"""Reimplement Weka's Logistic with its defaults, including the path of its search.

If a plane separates the classes, a regression without a penalty has no best solution, so its predictions
depend on the search. Weka uses the BFGS method with the line search A6.3.1mod of Dennis and Schnabel (1983).
It restarts from the current point after every 200 steps.
"""

import numpy as np
from scipy.linalg import blas
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

RIDGE = 1e-8
# A step is accepted if it decreases the loss by at least this share of the linear prediction, and if the
# slope at its end is at most this share of the slope at its start.
DECREASE, FLATTER = 1e-4, 0.9
SHORTEST, LONGEST = 1e-6, 100.0
ZERO = float(np.sqrt(np.finfo(float).eps))
MOST_STEPS = 200


class WekaLogistic(ClassifierMixin, BaseEstimator):
    """A logistic regression whose last class has no coefficients; columns are standardised."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        deviations = X.std(axis=0, ddof=1)
        self.mean_, self.deviation_ = X.mean(axis=0), np.where(deviations > 0, deviations, 1.0)
        counts = np.bincount(codes)
        start = np.zeros((1 + X.shape[1], len(counts) - 1))
        start[0] = np.log((counts[:-1] + 1) / (counts[-1] + 1))
        loss = Loss(self._table(X), codes, start.shape)
        point, found = start.ravel(), len(counts) == 1
        while not found:
            point, found = descend(loss, point)
        self.coef_ = point.reshape(start.shape)
        return self

    def predict_proba(self, X):
        scores = self._table(X) @ self.coef_
        return softmax(np.column_stack([scores, np.zeros(len(scores))]), axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _table(self, X):
        return np.column_stack([np.ones(len(X)), (X - self.mean_) / self.deviation_])


class Loss:
    """The negative log-likelihood of all rows, with a penalty on the coefficients except the intercepts.

    Rows are on the second axis, so that sums over the few classes are vectorised over all rows.
    """

    def __init__(self, table, codes, shape):
        self.table, self.columns, self.shape = table, np.ascontiguousarray(table.T), shape
        self.right = codes, np.arange(len(codes))
        self.indicators = np.eye(shape[1] + 1)[codes, :-1].T
        self.ridge = np.full(shape, RIDGE)
        self.ridge[0] = 0

    def at(self, point):
        """Return the loss and the probabilities of the classes at a point; `gradient` needs the latter."""
        coefficients = point.reshape(self.shape)
        scores = np.zeros((self.shape[1] + 1, self.columns.shape[1]))
        np.matmul(coefficients.T, self.columns, out=scores[:-1])
        scores -= scores.max(axis=0)
        of_rows = scores[self.right].sum()
        shares = np.exp(scores, out=scores)
        totals = shares.sum(axis=0)
        shares /= totals
        return np.log(totals).sum() - of_rows + (self.ridge * coefficients**2).sum(), shares[:-1]

    def gradient(self, point, shares):
        penalty = 2 * self.ridge * point.reshape(self.shape)
        return (((shares - self.indicators) @ self.table).T + penalty).ravel()


def descend(loss, point):
    """Take up to `MOST_STEPS` steps, and return the new point and whether the search has converged."""
    value, shares = loss.at(point)
    gradient = loss.gradient(point, shares)
    longest = LONGEST * max(np.linalg.norm(gradient), len(point))
    inverse = np.eye(len(point), order="F")  # of the approximate Hessian; only its upper half is updated
    direction = -gradient
    for _ in range(MOST_STEPS):
        direction *= min(1.0, longest / np.linalg.norm(direction))
        line = Line(loss, point, value, gradient, direction)
        length, value = line.search(longest / np.linalg.norm(direction))
        step, turn = length * direction, line.gradient(length) - gradient
        point, gradient = point + step, gradient + turn
        moved = (np.abs(step) / np.maximum(np.abs(point), 1)).max()
        steep = (np.abs(gradient) * np.maximum(np.abs(direction), 1)).max() / max(abs(value), 1)
        curvature = step @ turn
        if moved < ZERO or steep < ZERO or abs(curvature) < ZERO:
            return point, True
        if curvature >= max(ZERO * np.linalg.norm(step) * np.linalg.norm(turn), ZERO):
            turned = blas.dsymv(1.0, inverse, turn)
            blas.dsyr2(-1 / curvature, turned, step, a=inverse, overwrite_a=True)
            blas.dsyr((1 + turn @ turned / curvature) / curvature, step, a=inverse, overwrite_a=True)
        direction = -blas.dsymv(1.0, inverse, gradient)
    return point, False


class Line:
    """The loss along a direction, as a function of the length of the step."""

    def __init__(self, loss, start, value, gradient, direction):
        self.loss, self.start, self.value_before, self.direction = loss, start, value, direction
        self.slope_before = gradient @ direction
        self.reached = None  # the last length and the probabilities at its end
        self.shortest = SHORTEST / (np.abs(direction) / np.maximum(np.abs(start), 1)).max()

    def value(self, length):
        value, shares = self.loss.at(self.start + length * self.direction)
        self.reached = length, shares
        return value

    def gradient(self, length):
        if self.reached is None or self.reached[0] != length:
            self.value(length)
        return self.loss.gradient(self.start + length * self.direction, self.reached[1])

    def slope(self, length):
        return self.gradient(length) @ self.direction

    def is_low(self, length, value):
        return value <= self.value_before + DECREASE * length * self.slope_before

    def is_flat(self, slope):
        return slope >= FLATTER * self.slope_before

    def search(self, longest):
        """Return a length at which the loss is low and flat enough, and the loss there."""
        if abs(self.slope_before) <= ZERO:
            return 0.0, self.value_before
        length, before = 1.0, None
        value = full = self.value(length)
        while not self.is_low(length, value):
            if length < self.shortest:
                return (1.0, full) if full < self.value_before else (0.0, self.value_before)
            shorter = self._lowest(length, value, before)
            before = length, value
            length = max(shorter, 0.1 * length)
            value = self.value(length)
        slope = self.slope(length)
        if self.is_flat(slope):
            return length, value
        if before:
            return self._between((length, value), before, slope)
        while length < longest and self.is_low(length, value):
            before = length, value
            length = min(2 * length, longest)
            value, slope = self.value(length), self.slope(length)
            if self.is_flat(slope):
                return length, value
        return self._between(before or (length, value), (length, value), slope)

    def _lowest(self, length, value, before):
        """Return the minimum of a parabola or, with an earlier length, of a cubic up to half the length."""
        rise = value - self.value_before - length * self.slope_before
        if before is None:
            return -0.5 * length**2 * self.slope_before / rise
        length_before, value_before = before
        scaled = rise / length**2
        scaled_before = (
            value_before - self.value_before - length_before * self.slope_before
        ) / length_before**2
        a = (scaled - scaled_before) / (length - length_before)
        b = (length * scaled_before - length_before * scaled) / (length - length_before)
        if a == 0:
            lowest = -self.slope_before / (2 * b)
        else:
            lowest = (np.sqrt(max(b * b - 3 * a * self.slope_before, 0.0)) - b) / (3 * a)
        return min(lowest, 0.5 * length)

    def _between(self, low, high, slope):
        """Search between a low but steep length and a longer one for the first flat or last low length."""
        (lower, lower_value), (higher, higher_value) = low, high
        gap = higher - lower
        while gap >= self.shortest:
            curved = higher_value - lower_value - slope * gap
            move = min(max(-0.5 * slope * gap**2 / curved, 0.2 * gap), gap)
            length = lower + move
            value = self.value(length)
            if not self.is_low(length, value):
                gap, higher_value = move, value
                continue
            slope = self.slope(length)
            if self.is_flat(slope):
                return length, value
            lower, lower_value = length, value
            gap -= move
        return lower, lower_value
