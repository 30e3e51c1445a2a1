"""Members that need too much memory are skipped."""

from functools import partial

import numpy as np
import pytest
from runner_tasks import Hungry
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import committee
from committee.automatic.limits import MANY_BYTES, Room, Use, measured, pickled_bytes
from committee.running.resources import PeakMemory

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")

X, Y = load_iris(return_X_y=True)
MB = 10**6


@pytest.fixture(autouse=True)
def no_measured_member(monkeypatch):
    for name in ("n_now", "n_most", "n_fits"):
        monkeypatch.setattr(Hungry, name, 0)


def fitted(member, limit, **parameters):
    members = [("hungry", member), ("bayes", GaussianNB())]
    given = {"cv": 4, "n_jobs": 2, "random_state": 0} | parameters
    return CommitteeClassifier(members, memory_limit=limit, **given).fit(X, Y)


@pytest.mark.parametrize("runner", ["serial", "threads", "processes"])
def test_a_member_whose_fit_needs_too_much_memory_is_skipped_after_one_fit(runner):
    with pytest.warns(RuntimeWarning, match=r"'hungry' is skipped: its fits take about .* there are 60 MB"):
        automatic = fitted(Hungry(at_once=100 * MB), 60 * MB, runner=runner)
    assert list(automatic.named_estimators_) == ["bayes"]
    assert Hungry.n_fits == (0 if runner == "processes" else 1)


def test_all_models_of_a_member_must_fit_in_memory():
    with pytest.warns(RuntimeWarning, match=r"'hungry' is skipped: its fits take about 1\d\d MB"):
        automatic = fitted(Hungry(model=30 * MB), 100 * MB)
    assert list(automatic.named_estimators_) == ["bayes"]
    assert len(fitted(Hungry(model=30 * MB), 1000 * MB).named_estimators_) == 2


def test_a_table_larger_than_the_memory_is_an_error_before_any_fit():
    too_little = r"No member fits in memory\. .*take about 4\.8 kB, .* are 10 bytes"
    with pytest.warns(RuntimeWarning, match="is skipped"), pytest.raises(ValueError, match=too_little):
        fitted(Hungry(), 10)
    assert Hungry.n_fits == 0


def test_members_run_one_after_the_other_if_memory_is_short():
    fitted(Hungry(at_once=60 * MB), 100 * MB)
    assert (Hungry.n_fits, Hungry.n_most) == (4, 1)


@pytest.mark.filterwarnings("ignore:A resumed run:RuntimeWarning")
def test_a_skipped_member_stays_out_of_a_resumed_run(tmp_path):
    with pytest.warns(RuntimeWarning, match="is skipped"):
        fitted(Hungry(at_once=100 * MB), 60 * MB, run_folder=str(tmp_path))
    assert list(fitted(Hungry(at_once=100 * MB), 60 * MB, run_folder=str(tmp_path)).named_estimators_) == [
        "bayes"
    ]
    assert Hungry.n_fits == 1
    assert len(fitted(Hungry(at_once=100 * MB), 600 * MB, run_folder=str(tmp_path)).named_estimators_) == 2


def test_the_memory_of_a_fit_is_measured():
    def fit():
        temporary = np.ones(80 * MB, dtype=np.uint8)
        return np.ones(20 * MB, dtype=np.uint8), int(temporary[-1])

    (model, _), use = measured(fit)
    # The fit may reuse memory that the process already had.
    assert 70 * MB < use.peak < 130 * MB
    assert use.model == pytest.approx(len(model), abs=1000)
    memory = PeakMemory()
    assert memory.peak() < 20 * MB  # earlier use does not count


def test_the_size_of_an_unpicklable_model_is_the_growth_of_memory():
    assert pickled_bytes(lambda: 3, 7.0) == 7.0
    assert 8000 < pickled_bytes(np.ones(1000), 7.0) < 9000


def test_members_share_the_available_memory():
    uses = {"a": Use(3e6, 1e6), "b": Use(3e6, 1e6)}
    assert [Room(1e3, 5, limit, True, uses).shortage("b") is None for limit in (11e6, 13e6)] == [False, True]
    assert Room(1e3, 5, 11e6, False, uses).shortage("b") is None
    assert Room(1e3, 5, 11e6, True, {}).shortage("b") is None


def test_large_fits_run_one_at_a_time_on_all_cores_and_are_measured():
    large, small = Room(2 * MANY_BYTES, 5), Room(MANY_BYTES / 2, 5)
    assert large.n_at_once(None) == 1 and large.n_at_once(2) == 2 and large.n_at_once(-1) == -1
    assert small.n_at_once(None) is None
    assert large.measures("booster", 1) and not large.measures("booster", 2) and not small.measures("b", 1)
