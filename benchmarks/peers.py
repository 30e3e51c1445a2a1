"""Define the peers, with their packages and settings, behind one small interface.

A peer makes models by kind ("forest classifier", "extra-trees classifier", "forest regressor"). A model has

    table(X)         the rows in the fastest format of the peer; the conversion is not timed
    fit(table, y)
    predict(table)   labels or numbers
    votes(table)     probabilities (n_rows, n_classes) of a classifier, predictions of a regressor
    order(votes)     votes as an array whose columns are the sorted classes; not timed
    nbytes()         size of the fitted model in memory, or None if it is unknown
    prepared()       a callable for single rows that skips the estimator's checks, or None

Packages are imported when a model is made, so a process loads only the peer that it measures.
"""

import importlib
import importlib.metadata
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

THREADS = 2
SKLEARN_NAMES = {
    "forest classifier": "RandomForestClassifier",
    "forest regressor": "RandomForestRegressor",
    "extra-trees classifier": "ExtraTreesClassifier",
}


@dataclass(frozen=True)
class Peer:
    """A package that a benchmark can measure."""

    name: str
    distribution: str
    settings: str
    kinds: tuple[str, ...]
    model: Callable  # (kind, *, n_estimators, seed) -> a model
    python: Path = Path(sys.executable)  # the interpreter of its environment

    def version(self):
        if self.python == Path(sys.executable):
            return importlib.metadata.version(self.distribution)
        if not self.python.exists():
            raise ModuleNotFoundError(f"There is no {self.python}.")
        program = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        command = [self.python, "-c", program, self.distribution]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class SklearnModel:
    """Any estimator with scikit-learn's interface."""

    def __init__(self, estimator):
        self.estimator = estimator

    def table(self, X):
        return X

    def fit(self, table, y):
        self.estimator.fit(table, y)

    def predict(self, table):
        return self.estimator.predict(table)

    def votes(self, table):
        if hasattr(self.estimator, "predict_proba"):
            return self.estimator.predict_proba(table)
        return self.estimator.predict(table)

    def order(self, votes):
        return votes

    def nbytes(self):
        """Return the size of the node and value arrays of all trees."""
        states = [tree.tree_.__getstate__() for tree in self.estimator.estimators_]
        return sum(state["nodes"].nbytes + state["values"].nbytes for state in states)

    def prepared(self):
        return None


class CommitteeModel(SklearnModel):
    def nbytes(self):
        return self.estimator.nbytes

    def prepared(self):
        return self.estimator.predictor().predict if hasattr(self.estimator, "predictor") else None


class IntelexModel(SklearnModel):
    """A model of scikit-learn-intelex. It is an error if the package falls back to scikit-learn."""

    def fit(self, table, y):
        super().fit(table, y)
        if not hasattr(self.estimator, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex fell back to scikit-learn, so it was not measured.")

    def nbytes(self):
        return None


class YdfModel:
    """A model of YDF, whose table is a dict of contiguous columns. Subclasses define the learner."""

    def __init__(self, kind, *, n_estimators, seed):
        self.ydf = importlib.import_module("ydf")
        self.ydf.verbose(0)
        self.kind, self.n_estimators, self.seed = kind, n_estimators, seed

    def table(self, X):
        return {f"column {i}": np.ascontiguousarray(X[:, i]) for i in range(X.shape[1])}

    def fit(self, table, y):
        task = self.ydf.Task.REGRESSION if self.is_regressor else self.ydf.Task.CLASSIFICATION
        learner = self.learner(
            len(table),
            label="target",
            task=task,
            num_trees=self.n_estimators,
            max_depth=-1,
            num_threads=THREADS,
            random_seed=self.seed,
        )
        self.model = learner.train({**table, "target": y})

    @property
    def is_regressor(self):
        return self.kind.endswith("regressor")

    def predict(self, table):
        return self.model.predict(table, num_threads=THREADS)

    votes = predict

    def order(self, votes):
        if self.is_regressor:
            return votes
        if votes.ndim == 1:
            votes = np.column_stack([1 - votes, votes])
        return votes[:, np.argsort([int(label) for label in self.model.label_classes()])]

    def nbytes(self):
        return None

    def prepared(self):
        return None


class YdfForest(YdfModel):
    def learner(self, n_columns, **settings):
        return self.ydf.RandomForestLearner(
            min_examples=1,
            num_candidate_attributes=int(math.sqrt(n_columns)),
            winner_take_all=False,
            compute_oob_performances=False,
            **settings,
        )


def _from_module(module, wrapper):
    """Return a factory of models from a module with scikit-learn's class names."""

    def model(kind, *, n_estimators, seed):
        estimator = getattr(importlib.import_module(module), SKLEARN_NAMES[kind])
        return wrapper(
            estimator(n_estimators=n_estimators, max_features="sqrt", n_jobs=THREADS, random_state=seed)
        )

    return model


FORESTS = tuple(SKLEARN_NAMES)
SAME = f'max_features="sqrt", n_jobs={THREADS}, otherwise defaults (full trees)'
PEERS = {
    peer.name: peer
    for peer in (
        Peer("committee", "committee", SAME, FORESTS, _from_module("committee", CommitteeModel)),
        Peer("scikit-learn", "scikit-learn", SAME, FORESTS, _from_module("sklearn.ensemble", SklearnModel)),
        Peer(
            "scikit-learn-intelex",
            "scikit-learn-intelex",
            f"{SAME}; histogram method, max_bins=256; a fit that falls back to scikit-learn is an error",
            FORESTS,
            _from_module("sklearnex.ensemble", IntelexModel),
        ),
        Peer(
            "YDF",
            "ydf",
            "RandomForestLearner, max_depth=-1, min_examples=1, sqrt columns, winner_take_all=False, "
            f"compute_oob_performances=False, num_threads={THREADS}; reads a dict of columns",
            ("forest classifier", "forest regressor"),
            YdfForest,
        ),
    )
}
