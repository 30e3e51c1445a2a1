"""Bags: the rows of each member, and how often each is drawn."""

import numpy as np
import pytest

from committee import _engine
from committee.learners.training_data import Training
from committee.sampling.bags import Bags
from committee.table import bin_table
from committee.task import Classification, are_repetitions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
# The classes have 40, 15 and 5 rows.
Y = np.repeat([0, 1, 2], [40, 15, 5])


def bags_of(X=X, y=Y, weights=None, groups=None, *, bootstrap=True, max_samples=1.0, sampling="plain"):
    task, codes = Classification.of(y)
    binned = bin_table(X)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    training = Training(binned, task, codes, weights)
    repeats = None if weights is None or not are_repetitions(weights) else weights
    return Bags.of(
        training,
        binned,
        groups,
        bootstrap=bootstrap,
        max_samples=max_samples,
        sampling=sampling,
        repeats=repeats,
    )


def class_counts(counts, y=Y):
    return np.bincount(y, weights=counts).astype(int).tolist()


def test_a_bootstrap_draws_the_number_of_rows_and_leaves_about_a_third_out():
    counts = np.array([bags_of().draw(7, member) for member in range(200)])
    assert (counts.sum(axis=1) == 60).all()
    assert 0.33 < (counts == 0).mean() < 0.41


def test_a_bag_depends_only_on_the_member_and_the_seed():
    bags = bags_of()
    assert np.array_equal(bags.draw(1, 4), bags_of().draw(1, 4))
    assert not np.array_equal(bags.draw(1, 4), bags.draw(1, 5))
    assert not np.array_equal(bags.draw(1, 4), bags.draw(2, 4))


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("sampling", ["plain", "stratified", "balanced"])
def test_the_order_of_rows_does_not_change_bags(bootstrap, sampling):
    order = np.random.default_rng(1).permutation(60)
    straight = bags_of(bootstrap=bootstrap, sampling=sampling, max_samples=0.6)
    shuffled = bags_of(X[order], Y[order], bootstrap=bootstrap, sampling=sampling, max_samples=0.6)
    assert np.array_equal(straight.draw(0, 3)[order], shuffled.draw(0, 3))


@pytest.mark.parametrize("repeats", [1 + np.arange(60) % 2, 1 + 2 * (Y == 1)], ids=["by row", "by class"])
@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("sampling", ["plain", "stratified", "balanced"])
def test_a_row_of_weight_two_is_the_row_twice(sampling, bootstrap, repeats):
    drawing = {"bootstrap": bootstrap, "sampling": sampling, "max_samples": 0.5}
    weighted = bags_of(weights=repeats, **drawing)
    repeated = bags_of(X.repeat(repeats, axis=0), Y.repeat(repeats), **drawing)
    rows = np.arange(60).repeat(repeats)
    drawn = repeated.draw(0, 2)
    assert np.array_equal(weighted.draw(0, 2), np.bincount(rows, weights=drawn, minlength=60))
    if not bootstrap:
        assert (weighted.draw(0, 2) <= repeats).all()


def test_pasting_draws_a_row_at_most_once():
    counts = bags_of(bootstrap=False, max_samples=25).draw(0, 0)
    assert (counts.max(), counts.sum()) == (1, 25)
    assert (bags_of(bootstrap=False).draw(0, 0) == 1).all()


def test_rows_are_drawn_in_proportion_to_their_weights():
    weights = np.where(np.arange(60) < 10, 0.0, np.where(np.arange(60) < 20, 7.5, 2.5))
    bags = bags_of(weights=weights)
    counts = sum(bags.draw(0, member).astype(int) for member in range(400))
    assert bags.total == 50
    assert counts[:10].sum() == 0
    assert 2.7 < counts[10:20].mean() / counts[20:].mean() < 3.3
    assert not bags.keeps_weights


def test_pasted_rows_keep_weights_that_do_not_count_repetitions():
    assert bags_of(weights=np.linspace(0.1, 2, 60), bootstrap=False).keeps_weights
    assert not bags_of(weights=1 + np.arange(60) % 2, bootstrap=False).keeps_weights


@pytest.mark.parametrize("bootstrap", [True, False])
def test_stratified_bags_have_the_class_proportions_of_the_table(bootstrap):
    for member in range(20):
        bags = bags_of(bootstrap=bootstrap, sampling="stratified", max_samples=0.6)
        assert class_counts(bags.draw(0, member)) == [24, 9, 3]


@pytest.mark.parametrize("bootstrap", [True, False])
def test_balanced_bags_have_the_size_of_the_rarest_class_for_each_class(bootstrap):
    for member in range(20):
        bags = bags_of(bootstrap=bootstrap, sampling="balanced")
        assert class_counts(bags.draw(0, member)) == [5, 5, 5]
    assert class_counts(bags_of(sampling="balanced", max_samples=9).draw(0, 0)) == [3, 3, 3]


def test_every_class_is_in_a_small_stratified_bag():
    assert class_counts(bags_of(sampling="stratified", max_samples=3).draw(0, 0)) == [1, 1, 1]


@pytest.mark.parametrize("bootstrap", [True, False])
def test_groups_are_drawn_as_a_whole(bootstrap):
    groups = np.arange(60) // 4
    bags = bags_of(groups=groups, bootstrap=bootstrap, max_samples=0.5)
    for member in range(20):
        counts = bags.draw(0, member).reshape(15, 4)
        assert (counts == counts[:, :1]).all()
        assert counts[:, 0].sum() == 7
        assert bootstrap or counts.max() == 1


def test_groups_of_one_class_are_drawn_by_class():
    groups = np.concatenate([np.arange(40) // 4, 10 + np.arange(15) // 5, 13 + np.arange(5) // 5])
    bags = bags_of(groups=groups, sampling="balanced")
    for member in range(10):
        drawn = bags.draw(0, member)
        assert (drawn[Y == 0].sum() / 4, drawn[Y == 1].sum() / 5, drawn[Y == 2].sum() / 5) == (1, 1, 1)


def test_groups_of_several_classes_cannot_be_drawn_by_class():
    with pytest.raises(ValueError, match="some have rows of several classes"):
        bags_of(groups=np.arange(60) % 7, sampling="stratified")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_samples": 61}, "max_samples=61 is more than the 60 rows that can be drawn"),
        ({"max_samples": 16, "groups": np.arange(60) // 4}, "more than the 15 groups"),
        ({"max_samples": 16, "sampling": "balanced"}, "15 rows that can be drawn in equal numbers per class"),
        ({"max_samples": 2, "sampling": "stratified"}, "draws 2 rows, and there are 3 classes"),
    ],
)
def test_bags_that_cannot_be_drawn_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        bags_of(**arguments)


@pytest.mark.parametrize(
    "changed",
    [{"units": [0, 9]}, {"groups": [0, 2**31]}, {"ends": [3]}, {"n_draws": [2**31]}],
    ids=str,
)
def test_a_drawing_from_rows_outside_of_the_table_is_refused(changed):
    given = {"units": [0, 1], "ends": [2], "n_draws": [2], "groups": [0, 1]} | changed
    units, groups = (np.array(given[name], dtype=np.uint32) for name in ("units", "groups"))
    ends, n_draws = (np.array(given[name], dtype=np.uint64) for name in ("ends", "n_draws"))
    with pytest.raises(ValueError, match="does not fit the rows of the table"):
        _engine.Drawing(2, units, ends, n_draws, None, groups, True, False)
