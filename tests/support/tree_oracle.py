"""Reference implementation of CART that tries every split, in plain numpy, for small tables.

It splits a column of numbers at every midpoint of neighbouring values, and a column of categories (with codes
from 1) into every pair of sets. It tries missing values (NaN, or code 0) on both sides.
"""

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Node:
    """A node with the decrease of impurity of its split. A leaf has no children."""

    value: np.ndarray
    impurity: float
    weight: float
    n_rows: int
    decrease: float = 0.0
    column: int = -1
    children: tuple = ()


def gini(weights):
    """Return the impurity of class weights."""
    shares = weights / weights.sum()
    return 1 - (shares**2).sum()


def entropy(weights):
    shares = weights[weights > 0] / weights.sum()
    return -(shares * np.log2(shares)).sum()


def squared_error(y, w):
    mean = np.average(y, weights=w)
    return np.average((y - mean) ** 2, weights=w)


def poisson(y, w):
    """Return half the mean Poisson deviance. It is infinite for zeros only, which a leaf must not have."""
    mean = np.average(y, weights=w)
    if mean <= 0:
        return np.inf
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0)
    return np.average(logs - y + mean, weights=w)


def impurity(y, w, n_classes, criterion):
    if n_classes == 0:
        return {"squared_error": squared_error, "poisson": poisson}[criterion](y, w)
    counts = np.bincount(y, weights=w, minlength=n_classes)
    return {"gini": gini, "entropy": entropy, "log_loss": entropy}[criterion](counts)


def value(y, w, n_classes):
    if n_classes == 0:
        return np.array([np.average(y, weights=w)])
    counts = np.bincount(y, weights=w, minlength=n_classes)
    return counts / counts.sum()


def sides(column, is_category):
    """Yield the left rows of every split as boolean masks, each pair of sets once."""
    is_missing = column == 0 if is_category else np.isnan(column)
    known = np.unique(column[~is_missing])
    if is_category:
        values = np.unique(column)
        for size in range(1, len(values)):
            for subset in itertools.combinations(values, size):
                if values[0] in subset:
                    yield np.isin(column, subset)
        return
    # The left side can be the missing values only. Otherwise they are on either side of each threshold.
    if is_missing.any() and len(known):
        yield is_missing
    for low, high in itertools.pairwise(known):
        below = column < (low + high) / 2
        yield below
        if is_missing.any():
            yield below | is_missing


def best_split(X, y, w, n_classes, criterion, is_category, min_samples_leaf=1):
    """Return the decrease of impurity, the column and the left rows of the first best split."""
    parent = impurity(y, w, n_classes, criterion)
    best = (-np.inf, -1, None)
    for j in range(X.shape[1]):
        for left in sides(X[:, j], is_category[j]):
            if min(left.sum(), (~left).sum()) < min_samples_leaf:
                continue
            impurities = [w[s].sum() * impurity(y[s], w[s], n_classes, criterion) for s in (left, ~left)]
            decrease = parent - sum(impurities) / w.sum()
            if decrease > best[0] + 1e-9 * max(1, abs(parent)):
                best = (decrease, j, left)
    return best


def best_set_by_one_class(column, y, w, n_classes, criterion):
    """Return the best decrease of splits of the categories in order of the share of one class.

    Missing is one of the categories.
    """
    parent = impurity(y, w, n_classes, criterion)
    values = np.unique(column)
    best = -np.inf
    for label in range(n_classes):
        shares = [np.average(y[column == v] == label, weights=w[column == v]) for v in values]
        in_order = values[np.argsort(shares, kind="stable")]
        for size in range(1, len(values)):
            left = np.isin(column, in_order[:size])
            impurities = [w[s].sum() * impurity(y[s], w[s], n_classes, criterion) for s in (left, ~left)]
            best = max(best, parent - sum(impurities) / w.sum())
    return best


def grow(X, y, w, n_classes, criterion, is_category, max_depth=np.inf, min_samples_leaf=1):
    """Grow a tree."""
    own = impurity(y, w, n_classes, criterion)
    leaf = Node(value(y, w, n_classes), own, w.sum(), len(y))
    if max_depth == 0 or len(np.unique(y)) == 1 or len(y) < 2 * min_samples_leaf:
        return leaf
    decrease, column, left = best_split(X, y, w, n_classes, criterion, is_category, min_samples_leaf)
    if column < 0 or decrease == -np.inf:
        return leaf
    children = tuple(
        grow(X[s], y[s], w[s], n_classes, criterion, is_category, max_depth - 1, min_samples_leaf)
        for s in (left, ~left)
    )
    return Node(leaf.value, own, leaf.weight, leaf.n_rows, decrease, column, children)
