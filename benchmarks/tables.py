"""Draw the tables of the benchmarks.

Each function has a fixed seed and returns a `Split`: float64 arrays in C order, so every peer starts from the
same bytes. Nothing is downloaded.
"""

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_friedman1
from sklearn.model_selection import train_test_split


class Split(NamedTuple):
    """A table with its training and test rows."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def two_classes(*, n_rows=100_000, n_test=50_000, n_columns=28):
    """Draw two overlapping classes of many clusters. A full forest has an accuracy of about 0.9."""
    informative = max(2, n_columns * 3 // 7)
    return _classification(
        n_rows, n_test, n_columns, n_classes=2, informative=informative, clusters=4, apart=0.8, seed=2801
    )


def ten_classes(*, n_rows=20_000, n_test=10_000, n_columns=50):
    """Draw ten classes, to show the costs of learners per class."""
    return _classification(
        n_rows, n_test, n_columns, n_classes=10, informative=20, clusters=2, apart=1.5, seed=5010
    )


def friedman(*, n_rows=200_000, n_test=50_000, n_columns=20):
    """Draw Friedman's first function (1991): five informative columns, noise of standard deviation 1."""
    X, y = make_friedman1(n_rows + n_test, n_features=n_columns, noise=1.0, random_state=2020)
    return _cut(X, y, n_rows)


def breast_cancer():
    """Load Wisconsin breast cancer: 569 rows, 30 columns, 2 classes; a third of the rows are test rows."""
    return _third(*load_breast_cancer(return_X_y=True))


def digits():
    """Load 8 x 8 images of digits: 1,797 rows, 64 columns, 10 classes; a third of the rows are test rows."""
    return _third(*load_digits(return_X_y=True))


def _classification(n_rows, n_test, n_columns, *, n_classes, informative, clusters, apart, seed):
    X, y = make_classification(
        n_rows + n_test,
        n_columns,
        n_informative=informative,
        n_redundant=n_columns // 5,
        n_classes=n_classes,
        n_clusters_per_class=clusters,
        flip_y=0.05,
        class_sep=apart,
        random_state=seed,
    )
    return _cut(X, y, n_rows)


def _cut(X, y, n_rows):
    X = np.ascontiguousarray(X, dtype=np.float64)
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def _third(X, y):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    return Split(np.ascontiguousarray(X_train), y_train, np.ascontiguousarray(X_test), y_test)
