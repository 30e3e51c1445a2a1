"""What the tests of studies share: small tables and learners, a store as values, and a study to be killed."""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from committee import DecisionStumpClassifier, DecisionTreeClassifier, RandomForestClassifier
from committee.evaluating import Study


class Slow(ClassifierMixin, BaseEstimator):
    """Votes for the classes by their share, after some time."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Failing(Slow):
    """Cannot learn."""

    def fit(self, X, y):
        raise ValueError("I cannot learn this.")


class Hungry(Slow):
    """Takes a gigabyte."""

    def fit(self, X, y):
        self.eaten_ = np.ones(2**27)
        return super().fit(X, y)


def small_tables(n_rows=40):
    """Two tables of classes, of which the first columns tell them."""
    rng = np.random.default_rng(0)
    made = {}
    for name, n_classes in (("two", 2), ("three", 3)):
        X = rng.normal(size=(n_rows, 3)).round(3)
        made[name] = X, (X[:, 0] * n_classes).astype(int) % n_classes
    return made


def small_learners():
    return {
        "stump": DecisionStumpClassifier(),
        "tree": DecisionTreeClassifier(max_depth=3),
        "forest": RandomForestClassifier(5),
    }


def content(study):
    """All that a store holds but how long it took."""
    store = study.store
    return {
        "facts": store.ask("SELECT * FROM facts ORDER BY name"),
        "learners": sorted(store.ask("SELECT * FROM learners")),
        "tables": sorted(store.ask("SELECT * FROM tables")),
        "splits": sorted(store.ask("SELECT * FROM splits")),
        "cells": sorted(store.ask("SELECT learner, table_name, resample, error FROM cells")),
        "votes": sorted(store.ask("SELECT * FROM votes")),
        "scores": sorted(store.ask("SELECT * FROM scores")),
    }


def main_study(folder, seconds=0.0):
    """A study that is long enough to be killed in, and has a learner that fails."""
    learners = small_learners() | {"slow": Slow(seconds), "failing": Failing()}
    tables = small_tables() | {"iris": load_iris(return_X_y=True)}
    return Study(learners, tables, resamples=4, cv=2, folder=folder)


def run(folder, seconds):
    """Run it, in a process that may be killed."""
    main_study(folder, float(seconds)).run()
