"""Reproduce the tables and the five simple members of the CAWPE paper with scikit-learn and committee.

The paper uses the tables of Fernández-Delgado et al. (2014), in which every category is a number, and Weka's
learners with their defaults, except for two. Nearest neighbours choose their number by leave-one-out, and the
support vector machine fits logistic curves to its scores of the training rows.
"""

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from committee import C45Classifier
from committee.table.nearest_rows import Nearest
from weka_logistic import RIDGE, WekaLogistic
from weka_perceptron import WekaPerceptron

# The orders in which the values of columns are numbered, if not by appearance. Each letter is a value. The
# order of mushroom is that of its donor's description.
ORDERS = {
    "tic-tac-toe": ("xbo",) * 9,
    "chess-krvk": ("abcd", None, "abcdefgh", None, "abcdefgh", None),
    "mushroom": (
        *("bcxfks", "fgys", "nbcgrpuewy", "tf", "alcyfmnps", "adfn", "cwd", "bn", "knbhgropuewy", "et"),
        *("bcuezr", "fyks", "fyks", "nbcgopewy", "nbcgopewy", "pu", "nowy", "not", "ceflnpsz", "knbhrouwy"),
        *("acnsvy", "glmpuwd"),
    ),
}
MOST_NEIGHBOURS = 100
# The gradient at which the fit of a curve stops, and its largest number of steps.
STEEPEST, MOST_STEPS = 1e-6, 100
# The probabilities of the pairs for this many rows fit in the caches.
ROWS_AT_A_TIME = 256


def coded(frame, name):
    """Return a table coded as in the paper's collection, as far as that is known.

    Text that is a number becomes this number. Other values are numbered by appearance, from 1. Missing values
    become 0. Columns are then scaled to mean 0 and standard deviation 1 over training and test rows together,
    and constant columns are dropped.
    """
    orders = ORDERS.get(name, [None] * frame.shape[1])
    X = np.column_stack([numbered(frame[column], order) for column, order in zip(frame, orders, strict=True)])
    X = np.nan_to_num(X)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def numbered(column, order):
    """Return a column as float64, with NaN for missing values.

    >>> numbered(pd.Series(["high", None, "low", "high"]), None)
    array([ 1., nan,  2.,  1.])
    >>> numbered(pd.Series(["3", None, "-1.5"]), None)
    array([ 3. ,  nan, -1.5])
    """
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna().sum() == column.notna().sum():
        return numbers.to_numpy(np.float64, na_value=np.nan)
    values = order or column.dropna().unique()
    places = {value: place for place, value in enumerate(values, start=1)}
    return column.map(places).to_numpy(np.float64, na_value=np.nan)


def members(n_columns, n_classes):
    """Return the members of the paper for a table of this size, with their names."""
    return [
        ("logistic", WekaLogistic()),
        ("C4.5", C45Classifier()),
        ("linear SVM", make_pipeline(MinMaxScaler(), PairwiseSVM())),
        ("neighbours", ChoosingNeighbours()),
        ("perceptron", WekaPerceptron(max(1, (n_columns + n_classes) // 2))),
    ]


class PairwiseSVM(ClassifierMixin, BaseEstimator):
    """Weka's SMO: a linear SVM for each pair of classes, with logistic curves and pairwise coupling."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) == 1:
            return self
        self.machine_ = SVC(kernel="linear").fit(X, codes)
        scores = self._scores(X)
        self.pairs_ = [(i, j) for i in range(len(self.classes_)) for j in range(i + 1, len(self.classes_))]
        self.curves_, self.counts_ = [], []
        for (i, j), score in zip(self.pairs_, scores.T, strict=True):
            rows = (codes == i) | (codes == j)
            self.curves_.append(likeliest_curve(score[rows], codes[rows] == i))
            self.counts_.append(rows.sum())
        return self

    def predict_proba(self, X):
        n_classes = len(self.classes_)
        if n_classes == 1:
            return np.ones((len(X), 1))
        first_wins, counts = np.zeros((len(X), n_classes, n_classes)), np.zeros((n_classes, n_classes))
        parts = zip(self.pairs_, self.curves_, self.counts_, self._scores(X).T, strict=True)
        for (i, j), (slope, intercept), count, score in parts:
            first_wins[:, i, j] = expit(slope * score + intercept)
            first_wins[:, j, i] = 1 - first_wins[:, i, j]
            counts[i, j] = counts[j, i] = count
        return coupled(first_wins, counts)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _scores(self, X):
        """Return a column for each pair of classes. The fitted curves determine the meaning of the sign."""
        return X @ self.machine_.coef_.T + self.machine_.intercept_


def likeliest_curve(scores, is_first):
    """Return the slope and intercept of the logistic curve with the largest likelihood, by Newton's method.

    >>> curve = likeliest_curve(np.array([0.0, 0.0, 0.0, 1.0]), np.array([True, False, False, True]))
    >>> round(float(curve[1]), 3)
    -0.693
    """
    center, spread = scores.mean(), scores.std() or 1.0
    terms = np.column_stack([(scores - center) / spread, np.ones(len(scores))])
    signs, penalty = np.where(is_first, 1.0, -1.0), np.array([RIDGE, 0.0])

    def loss(curve):
        return np.logaddexp(0, -signs * (terms @ curve)).sum() + penalty @ curve**2

    curve = np.zeros(2)
    for _ in range(MOST_STEPS):
        p = expit(terms @ curve)
        slope = terms.T @ (p - is_first) + 2 * penalty * curve
        if np.abs(slope).max() < STEEPEST:
            break
        step = np.linalg.solve((terms.T * (p * (1 - p))) @ terms + 2 * RIDGE * np.eye(2), slope)
        # A step that is too long is halved. If no step decreases the loss, its precision is exhausted.
        shares = (0.5**power for power in range(20))
        share = next((share for share in shares if loss(curve - share * step) < loss(curve)), None)
        if share is None:
            break
        curve = curve - share * step
    return curve[0] / spread, curve[1] - curve[0] * center / spread


def coupled(first_wins, counts, n_rounds=100):
    """Return the class probabilities that agree best with those of the pairs (Hastie and Tibshirani 1998).

    Two classes are a single pair, so its probabilities are returned unchanged.

    >>> coupled(np.array([[[0, 0.9], [0.1, 0]]]), np.array([[0, 5], [5, 0]])).round(3)
    array([[0.9, 0.1]])
    """
    if first_wins.shape[1] == 2:
        return np.stack([first_wins[:, 0, 1], first_wins[:, 1, 0]], axis=1)
    if len(first_wins) > ROWS_AT_A_TIME:
        parts = np.array_split(first_wins, len(first_wins) // ROWS_AT_A_TIME + 1)
        return np.concatenate([coupled(part, counts, n_rounds) for part in parts])
    p = np.full(first_wins.shape[:2], 1 / first_wins.shape[1])
    wanted = (counts * first_wins).sum(axis=2)
    for _ in range(n_rounds):
        expected = counts * p[:, :, None] / (p[:, :, None] + p[:, None, :])
        p = p * wanted / expected.sum(axis=2).clip(1e-300)
        p /= p.sum(axis=1, keepdims=True).clip(1e-300)
        p = p.clip(1e-12)
    return p / p.sum(axis=1, keepdims=True)


class MultiResponseRegression(ClassifierMixin, BaseEstimator):
    """The paper's meta-learner: for each class, a linear regression of its indicator on all columns."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.regression_ = Ridge(RIDGE).fit(X, np.eye(len(self.classes_))[codes])
        return self

    def predict_proba(self, X):
        # Negative votes become 0. The tiny number avoids a division by 0 for rows without votes.
        votes = self.regression_.predict(X).clip(0) + 1e-300
        return votes / votes.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class ChoosingNeighbours(ClassifierMixin, BaseEstimator):
    """Nearest neighbours, whose number up to 100 is chosen by leave-one-out; the smaller number wins ties."""

    def fit(self, X, y):
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        self.search_ = Nearest(X)
        most = min(MOST_NEIGHBOURS, len(X) - 1)
        near = self.codes_[self.search_.find_others(most)[1]]
        counts, right = np.zeros((len(X), len(self.classes_))), []
        for place in range(most):
            counts[np.arange(len(X)), near[:, place]] += 1
            right.append((counts.argmax(axis=1) == self.codes_).sum())
        self.n_neighbors_ = int(np.argmax(right)) + 1
        return self

    def predict_proba(self, X):
        near = self.codes_[self.search_.find(X, self.n_neighbors_)[1]]
        counts = (near[:, :, None] == np.arange(len(self.classes_))).sum(axis=1) + 1 / len(self.codes_)
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
