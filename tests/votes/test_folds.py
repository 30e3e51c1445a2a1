"""Test splits of rows into folds and shares."""

import numpy as np
import pytest

from committee.votes.folds import (
    N_FOLDS,
    dealt_folds,
    drawn_folds,
    drawn_share,
    folds_by_content,
    folds_of,
    numbered_folds,
    one_in,
    spare_folds,
    spare_share,
)

CLASSES = np.repeat([0, 1, 2], [60, 30, 11])


def generator(seed=0):
    return np.random.default_rng(seed)


def votes_on(n_rows, n_members=3):
    return generator().random((n_members, n_rows, 2))


@pytest.mark.parametrize("is_class_task", [True, False])
def test_each_row_of_positive_weight_is_held_out_exactly_once(is_class_task):
    weights = np.where(np.arange(101) % 10 == 0, 0.0, 1.0)
    rows = np.flatnonzero(weights)
    numbered = numbered_folds(4, CLASSES, None, weights, is_class_task=is_class_task)
    drawn = drawn_folds(4, rows, CLASSES, None, generator(), is_class_task=is_class_task)
    for folds in (numbered, drawn):
        assert np.sort(np.concatenate([held_out for _, held_out in folds])).tolist() == rows.tolist()
        for train, held_out in folds:
            assert np.union1d(train, held_out).tolist() == rows.tolist()
            assert len(train) + len(held_out) == len(rows)


def test_drawn_folds_are_sorted_and_keep_groups_together():
    groups = np.arange(101) % 20
    rows = np.arange(101, dtype=np.int32)
    for train, held_out in drawn_folds(5, rows, CLASSES, groups, generator(), is_class_task=True):
        assert (np.diff(train) > 0).all() and (np.diff(held_out) > 0).all()
        assert train.dtype == held_out.dtype == np.int32
        assert not set(groups[train]) & set(groups[held_out])


def test_a_fold_that_holds_out_training_rows_raises_an_error():
    with pytest.raises(ValueError, match="Fold 1 of cv learns from rows that it holds out"):
        folds_of([([0, 1], [2]), ([0, 2], [2])], None, np.array([0, 1, 0]), None, None, is_class_task=True)


def test_folds_by_content_do_not_depend_on_the_order_of_the_rows():
    votes, has_voted, y = votes_on(101), votes_on(101)[:, :, 0] < 0.7, CLASSES
    folds = folds_by_content(votes, has_voted, y, np.ones(101), None)
    order = generator(1).permutation(101)
    again = folds_by_content(votes[:, order], has_voted[:, order], y[order], np.ones(101), None)
    assert len(folds) == len(again) == N_FOLDS
    for (_, held_out), (_, others) in zip(folds, again, strict=True):
        assert held_out.tolist() == np.sort(order[others]).tolist()


def test_folds_by_content_hold_out_rows_of_weight_0_but_never_train_on_them():
    weights = np.where(np.arange(101) < 20, 0.0, 1.0)
    folds = folds_by_content(votes_on(101), np.ones((3, 101), dtype=bool), CLASSES, weights, None)
    assert sum(len(held_out) for _, held_out in folds) == 101
    assert all((weights[train] > 0).all() for train, _ in folds)


@pytest.mark.parametrize("seed", range(3))
def test_splits_leave_at_least_one_training_row_of_each_class(seed):
    classes = np.append(CLASSES, 3)
    folds = spare_folds(classes, seed)
    assert sorted(classes[folds == -1]) == [0, 1, 2, 3]
    assert np.bincount(folds[folds >= 0]).tolist() == [20, 20, 20, 19, 19]
    for mask in (spare_share(classes, 0.9, seed), drawn_share(classes, 0.95, generator(seed))):
        assert set(classes[~mask]) == {0, 1, 2, 3}


def test_splits_are_stratified_by_class():
    assert np.bincount(CLASSES[drawn_share(CLASSES, 0.1, generator())]).tolist() == [6, 3, 1]
    dealt = dealt_folds(CLASSES, 10, np.random.RandomState(0))
    assert all(np.bincount(CLASSES[dealt == fold]).tolist()[:2] == [6, 3] for fold in range(10))
    held_out = one_in(10, np.arange(101), CLASSES, np.random.RandomState(0))
    assert np.bincount(CLASSES[held_out]).tolist() == [6, 3, 1]
