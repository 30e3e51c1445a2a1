"""What members take of the memory, and what becomes of those that take too much."""

import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import committee
from committee import CommitteeClassifier, NetworkClassifier
from committee.assembling.members import Member
from committee.automatic.candidates import CANDIDATES, Size
from committee.automatic.memory import Room, bytes_of_fit, bytes_of_model, within_memory
from committee.members.lesson import Lesson
from committee.task import Classification

X, Y = load_iris(return_X_y=True)


def test_members_that_take_too_much_memory_are_left_out_with_a_word():
    members = [("forest", committee.RandomForestClassifier(100)), ("bayes", GaussianNB())]
    with pytest.warns(RuntimeWarning, match=r"Member 'forest' is left out: its fits take about .* MB"):
        automatic = CommitteeClassifier(members, memory_limit=1e5, n_jobs=1, random_state=0).fit(X, Y)
    assert list(automatic.named_estimators_) == ["bayes"]
    with pytest.raises(ValueError, match=r"there are 10 bytes, and the least .* takes is [\d.]+ kB\. Set"):
        CommitteeClassifier(memory_limit=10).fit(X, Y)


def test_the_inputs_of_networks_count_as_memory():
    size = Size("classification", 1000, 10, 2)
    foreign, network = (bytes_of_fit(size, each) for each in (GaussianNB(), NetworkClassifier(n_bins=8)))
    assert network == foreign + 4 * 1000 * (10 + 9 * 10)


def test_models_that_may_be_large_count_as_memory():
    size = Size("classification", 1000, 10, 3)
    models = {name: bytes_of_model(size, CANDIDATES[name].make(size)) for name in CANDIDATES}
    assert models["neighbours"] == models["machine"] == 8 * 1000 * 10
    assert models["booster"] == 100 * 3 * 31 * 20
    assert models["rotation_forest"] == 100 * 1000 / 2 * 28
    assert models["linear"] == 0


def test_large_tables_are_not_copied_for_trees():
    booster = CANDIDATES["booster"]
    small, large = Size("classification", 10**4, 10, 2), Size("classification", 10**6, 10, 2)
    of_small, of_large = (bytes_of_fit(size, booster.make(size)) / size.n_rows for size in (small, large))
    assert of_small - of_large == 8 * 10


def test_large_fits_run_one_at_a_time_on_all_cores():
    room = Room(1e12, {"booster": 2e8, "linear": 5e8})
    assert room.n_at_once(None) == 1 and room.n_at_once(2) == 2 and room.n_at_once(-1) == -1
    assert Room(1e12, {"booster": 1e8, "linear": 5e8}).n_at_once(None) is None


class Crowded(ClassifierMixin, BaseEstimator):
    """A member that tells how many were fitted beside it."""

    n_now, n_most = 0, 0
    alone = threading.Lock()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        with self.alone:
            Crowded.n_now += 1
            Crowded.n_most = max(Crowded.n_most, Crowded.n_now)
        np.sort(np.random.default_rng(0).normal(size=200_000))
        with self.alone:
            Crowded.n_now -= 1
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


def test_where_memory_is_short_members_wait_for_each_other():
    size = Size.of(Lesson.of(Classification, X, Y, None, None))
    limit = 1.5 * bytes_of_fit(size, Crowded())
    automatic = CommitteeClassifier(
        [("crowded", Crowded())], memory_limit=limit, n_jobs=3, runner="threads", random_state=0
    )
    assert list(automatic.fit(X, Y).named_estimators_) == ["crowded"]
    assert Crowded.n_most == 1


def test_members_share_the_memory_that_there_is():
    size = Size.of(Lesson.of(Classification, X, Y, None, None))
    forests = [Member(name, committee.RandomForestClassifier(100)) for name in "ab"]
    each = 5 * bytes_of_model(size, forests[0].estimator) + bytes_of_fit(size, forests[0].estimator)
    assert [kept.name for kept in within_memory(forests, size, 2 * each, 5)] == ["a", "b"]
    with pytest.warns(RuntimeWarning, match="Member 'b' is left out"):
        assert [kept.name for kept in within_memory(forests, size, 1.5 * each, 5)] == ["a"]
