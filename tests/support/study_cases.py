"""Helpers for tests of studies: small tables and learners, the content of a store, and a long study."""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from committee import DecisionStumpClassifier, DecisionTreeClassifier, RandomForestClassifier
from committee.evaluating import Study


class Slow(ClassifierMixin, BaseEstimator):
    """A classifier that sleeps in `fit`, and predicts the class frequencies as probabilities."""

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
    """A classifier that raises an error in `fit`."""

    def fit(self, X, y):
        raise ValueError("I cannot learn this.")


def small_tables(n_rows=40):
    """Make two classification tables whose first column determines the class."""
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
    """Return everything in a store except the times."""
    store = study.store
    return {
        "facts": store.query("SELECT * FROM facts ORDER BY name"),
        "learners": sorted(store.query("SELECT * FROM learners")),
        "tables": sorted(store.query("SELECT * FROM tables")),
        "splits": sorted(store.query("SELECT * FROM splits")),
        "cells": sorted(store.query("SELECT learner, table_name, resample, error FROM cells")),
        "votes": sorted(store.query("SELECT * FROM votes")),
        "scores": sorted(store.query("SELECT * FROM scores")),
    }


def main_study(folder, seconds=0.0):
    """Make a study that is long enough to be killed, with a learner that fails."""
    learners = small_learners() | {"slow": Slow(seconds), "failing": Failing()}
    tables = small_tables() | {"iris": load_iris(return_X_y=True)}
    return Study(learners, tables, resamples=4, cv=2, folder=folder)


def run(folder, seconds):
    """Run the long study, in a process that may be killed."""
    main_study(folder, float(seconds)).run()
