"""Reimplement Weka's MultilayerPerceptron with its defaults, which takes one step per row.

scikit-learn has no such algorithm, and Python would take hours. So the steps are in `weka_perceptron.cpp`,
which is compiled when it is first needed.
"""

import ctypes
import functools
import hashlib
import itertools
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

import results

SOURCE = Path(__file__).with_suffix(".cpp")
COMMAND = ("-std=c++20", "-O3", "-march=native", "-shared", "-fPIC")
RATE, MOMENTUM, N_EPOCHS = 0.3, 0.2, 500
# Initial weights are drawn between this and its negative.
LARGEST_START = 0.05


class WekaPerceptron(ClassifierMixin, BaseEstimator):
    """A perceptron with one hidden layer of logistic units. Columns are scaled to the range from -1 to 1."""

    def __init__(self, n_hidden, random_state=None):
        self.n_hidden = n_hidden
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        low, high = X.min(axis=0), X.max(axis=0)
        self.middle_, self.reach_ = (low + high) / 2, np.where(high > low, (high - low) / 2, 1.0)
        rng = np.random.default_rng(self.random_state)
        order = rng.permutation(len(X))
        sizes = X.shape[1], self.n_hidden, len(self.classes_)
        self.hidden_, self.output_ = (
            rng.uniform(-LARGEST_START, LARGEST_START, (1 + n_inputs, n_units))
            for n_inputs, n_units in itertools.pairwise(sizes)
        )
        rows, classes = np.ascontiguousarray(self._scaled(X)[order]), codes[order].astype(np.int64)
        compiled()(rows, classes, len(rows), *sizes, N_EPOCHS, RATE, MOMENTUM, self.hidden_, self.output_)
        return self

    def predict_proba(self, X):
        hidden = expit(self._scaled(X) @ self.hidden_[1:] + self.hidden_[0])
        # The tiny number avoids a division by 0 for rows without any output.
        outputs = expit(hidden @ self.output_[1:] + self.output_[0]) + 1e-300
        return outputs / outputs.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _scaled(self, X):
        return (np.asarray(X, dtype=np.float64) - self.middle_) / self.reach_


@functools.cache
def compiled():
    """Return the compiled training function. The library is stored next to the raw results."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    library = results.FOLDER / "raw" / f"{SOURCE.stem}_{digest}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        # Another process may compile it too, and must not load an incomplete file.
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            made = Path(folder) / library.name
            subprocess.run([os.environ.get("CXX", "c++"), *COMMAND, SOURCE, "-o", made], check=True)
            made.replace(library)
    learn = ctypes.CDLL(str(library)).learn
    numbers = np.ctypeslib.ndpointer(np.float64, ndim=2, flags="C_CONTIGUOUS")
    classes = np.ctypeslib.ndpointer(np.int64, ndim=1, flags="C_CONTIGUOUS")
    learn.argtypes = [
        numbers, classes, *[ctypes.c_size_t] * 5, *[ctypes.c_double] * 2, numbers, numbers,
    ]  # fmt: skip
    learn.restype = None
    return learn
