"""A stopped run resumes where it ended and gives the same result as an uninterrupted one."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from every_estimator import mixed_frame
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import committee
from committee.assembling import Bank
from committee.automatic.schedule import timed
from committee.learners import NetworkClassifier
from committee.running.deadline import half_of_the_time, is_time_up, note_cut

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")
CommitteeRegressor = partial(committee.CommitteeRegressor, keep="all")

X, Y = load_iris(return_X_y=True)
MEMBERS = ["booster", "linear", "machine"]

KILLED = """
import os, signal, sys
from sklearn.datasets import load_iris
from committee import CommitteeClassifier
from committee.running import receiving

def kill(event):
    if (event.share or 0) > 0.4 and event.name == "CommitteeClassifier":
        os.kill(os.getpid(), signal.SIGKILL)

members = ["booster", "linear", "machine"]
with receiving(kill):
    CommitteeClassifier(members, cv=3, random_state=0, n_jobs=1, run_folder=sys.argv[1]).fit(
        *load_iris(return_X_y=True)
    )
"""


def automatic(folder=None, **parameters):
    given = {"cv": 3, "random_state": 0, "run_folder": folder} | parameters
    return CommitteeClassifier(given.pop("estimators", MEMBERS), **given)


def stamps(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).iterdir()}


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    run = tmp_path / "run"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(run)], check=False, timeout=300)
    assert killed.returncode == -9
    done = stamps(run)
    assert sum(name.endswith(".committee") for name in done) == 4
    expected, found = automatic().fit(X, Y), automatic(str(run)).fit(X, Y)
    assert found.predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()
    assert found.honest_votes_.tobytes() == expected.honest_votes_.tobytes()
    assert done.items() <= stamps(run).items()


def test_a_finished_run_is_not_fitted_again_and_is_a_bank_of_votes(tmp_path):
    first = automatic(tmp_path).fit(X, Y)
    before = stamps(tmp_path)
    again = automatic(tmp_path, estimators=[*MEMBERS, "bayes"]).fit(X, Y)
    assert before.items() <= stamps(tmp_path).items()
    np.testing.assert_array_equal(again.honest_votes_[:3], first.honest_votes_)
    bank = Bank.open(tmp_path)
    assert bank.members == ["bayes", "booster", "linear", "machine"]
    np.testing.assert_array_equal(bank.votes(["booster", "linear"]), first.honest_votes_[:2])


def test_another_table_or_split_is_refused(tmp_path):
    automatic(tmp_path).fit(X, Y)
    with pytest.raises(ValueError, match="holds votes on another table"):
        automatic(tmp_path).fit(X[1:], Y[1:])
    with pytest.raises(ValueError, match="holds votes on another split"):
        automatic(tmp_path, cv=4).fit(X, Y)
    with pytest.raises(ValueError, match="run_folder must be the name of a folder"):
        automatic(3).fit(X, Y)


def test_a_resumed_run_keeps_its_members_whatever_memory_is_free(tmp_path, monkeypatch):
    rows, kinds = X[::3], Y[::3]
    fitted = automatic(str(tmp_path), estimators="auto", preset="fast").fit(rows, kinds)
    monkeypatch.setattr("committee.running.available_bytes", lambda: 1.0)
    again = automatic(str(tmp_path), estimators="auto", preset="fast").fit(rows, kinds)
    assert again.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
    with pytest.warns(RuntimeWarning, match="Member '.*' is skipped: its fits take about 1.6 kB"):
        more = automatic(str(tmp_path), estimators="auto", preset="balanced").fit(rows, kinds)
    assert list(more.named_estimators_) == list(fitted.named_estimators_)
    (tmp_path / "skipped.json").write_text("{")
    with pytest.warns(RuntimeWarning, match="is skipped"):
        automatic(str(tmp_path), estimators="auto", preset="balanced").fit(rows, kinds)


def test_a_damaged_model_is_fitted_again(tmp_path):
    expected = automatic(tmp_path).fit(X, Y).predict_proba(X)
    path = next(path for path in tmp_path.iterdir() if path.suffix == ".committee")
    path.write_bytes(path.read_bytes()[:-7])
    np.testing.assert_array_equal(automatic(tmp_path).fit(X, Y).predict_proba(X), expected)
    committee.load(path)


class Own(GaussianNB):
    """A class that is not on the list of trusted classes."""


def test_an_untrusted_member_is_fitted_again(tmp_path):
    members = [("own", Own()), "linear"]
    first = automatic(tmp_path, estimators=members).fit(X, Y)
    with pytest.warns(RuntimeWarning, match=r"will fit member 'own' again: .*Own"):
        again = automatic(tmp_path, estimators=members).fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), first.predict_proba(X))


def test_a_run_needs_an_integer_seed_and_members_that_keep_their_names(tmp_path):
    with pytest.raises(ValueError, match=r"needs an integer random_state\. Got None"):
        automatic(tmp_path, random_state=None).fit(X, Y)
    automatic(tmp_path, estimators=[("bayes", GaussianNB()), "linear"]).fit(X, Y)
    with pytest.raises(ValueError, match="There are votes of another member 'bayes'"):
        automatic(tmp_path, estimators=["linear", ("bayes", GaussianNB(var_smoothing=0.1))]).fit(X, Y)


def test_other_members_and_their_order_do_not_change_a_member(tmp_path):
    first = automatic(tmp_path).fit(X, Y)
    before = stamps(tmp_path)
    again = automatic(tmp_path, estimators=["machine", "linear", "booster"]).fit(X, Y)
    assert before == stamps(tmp_path)
    np.testing.assert_array_equal(again.honest_votes_[::-1], first.honest_votes_)


def test_a_fit_cut_short_by_the_time_limit_is_not_kept():
    _, _, is_cut, _ = timed(None, False, lambda: (None, None, None))
    assert not is_cut
    _, _, is_cut, _ = timed(0.0, False, lambda: (None, None, None))
    assert is_cut


def ended_in_the_first_half():
    with half_of_the_time():
        while not is_time_up():
            pass


def test_a_fit_that_planned_or_tried_less_because_of_time_counts_as_cut_short():
    assert not timed(60.0, False, lambda: None)[2]
    assert timed(60.0, False, note_cut)[2]
    assert timed(0.02, False, ended_in_the_first_half)[2]
    network = NetworkClassifier(max_steps=10**6, random_state=0)
    assert timed(0.05, False, network.fit, np.tile(X, (50, 1)), np.tile(Y, 50))[2]


def test_a_run_can_resume_with_another_time_limit(tmp_path):
    bayes = [("bayes", GaussianNB())]
    automatic(tmp_path, estimators=bayes, cv="auto", time_limit=0.9).fit(X, Y)
    assert automatic(tmp_path, estimators=bayes, cv="auto", time_limit=60).fit(X, Y).score(X, Y) > 0.9


def test_a_run_can_resume_without_a_time_limit(tmp_path, monkeypatch):
    bayes = [("bayes", GaussianNB())]
    limited = automatic(tmp_path, estimators=bayes, time_limit=60).fit(X, Y)
    monkeypatch.setattr(GaussianNB, "fit", None)
    again = automatic(tmp_path, estimators=bayes).fit(X, Y).named_estimators_["bayes"]
    for first, second in zip(limited.named_estimators_["bayes"][: len(again)], again, strict=True):
        np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_regression_and_repeated_folds_are_kept(tmp_path):
    frame, signal = mixed_frame()
    given = {"estimators": ["booster", "linear"], "cv": 2, "preset": "best", "random_state": 0}
    first = CommitteeRegressor(**given).fit(frame, signal)
    for _ in range(2):
        kept = CommitteeRegressor(**given, run_folder=tmp_path).fit(frame, signal)
        assert kept.predict(frame).tobytes() == first.predict(frame).tobytes()
