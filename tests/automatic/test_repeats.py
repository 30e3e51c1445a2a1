"""Repeated folds are drawn by a seed and are the same each time."""

import numpy as np
from sklearn.datasets import load_iris

from committee.automatic.repeats import Repeats, n_folds_of
from committee.members.training_set import TrainingSet
from committee.task import Classification

X, Y = load_iris(return_X_y=True)
WEIGHTS = np.where(np.arange(150) % 10 == 0, 0.0, 1.0)


def repeats_of(weights=None, groups=None, seed=0):
    training = TrainingSet.of(Classification, X, Y, weights, groups)
    return Repeats.drawn(5, training, 3, np.random.default_rng(seed))


def test_every_weighted_row_is_held_out_once_per_repetition():
    repeats = repeats_of(WEIGHTS)
    assert len(repeats) == 3 and n_folds_of(repeats) == 15
    for folds in repeats:
        held_out = np.concatenate([rows for _, rows in folds])
        assert sorted(held_out) == np.flatnonzero(WEIGHTS).tolist()
        for train, rows in folds:
            assert sorted([*train, *rows]) == np.flatnonzero(WEIGHTS).tolist()
            assert (np.diff(train) > 0).all() and (np.diff(rows) > 0).all()
            assert np.bincount(Y[rows]).tolist() == [9, 9, 9]


def test_folds_are_reproducible_and_differ_between_repetitions():
    repeats, again = repeats_of(), repeats_of()
    first = [rows.tolist() for _, rows in repeats[0]]
    assert first != [rows.tolist() for _, rows in repeats[1]]
    assert first == [rows.tolist() for _, rows in repeats[0]] == [rows.tolist() for _, rows in again[:1][0]]


def test_groups_stay_together():
    groups = np.arange(150) % 30
    for train, rows in repeats_of(groups=groups)[0]:
        assert not set(groups[train]) & set(groups[rows])
