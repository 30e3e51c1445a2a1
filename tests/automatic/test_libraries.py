"""The automatic committee uses boosters of other libraries if they are installed: see `make members`."""

import importlib.util
from functools import partial
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import committee
from committee.assembling.named_members import Member
from committee.automatic.journal import libraries_of
from committee.automatic.portfolio import NAMED_ONLY

# Most of these tests look at all members and at the models of their folds.
CommitteeClassifier = partial(committee.CommitteeClassifier, keep="all")

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", list(NAMED_ONLY))
def test_boosters_of_other_libraries_are_members_if_named_and_installed(name):
    automatic = CommitteeClassifier(["linear", name], cv=2, random_state=0)
    if importlib.util.find_spec(name) is None:
        with pytest.raises(ValueError, match=f"Member '{name}' needs the package {name}. Install it."):
            automatic.fit(X, Y)
    else:
        assert list(automatic.fit(X, Y).named_estimators_) == ["linear", name]


@pytest.mark.parametrize("name", list(NAMED_ONLY))
def test_a_resumed_run_opens_the_boosters_that_the_caller_trusts(name, tmp_path):
    pytest.importorskip(name)
    automatic = CommitteeClassifier(["linear", name], cv=2, random_state=0, run_folder=str(tmp_path / "run"))
    first = automatic.fit(X, Y).predict_proba(X)
    before = {path: path.stat().st_mtime_ns for path in Path(tmp_path, "run").iterdir()}
    assert automatic.fit(X, Y).predict_proba(X).tobytes() == first.tobytes()
    assert {path: path.stat().st_mtime_ns for path in before} == before
    automatic.save(tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee", trusted=[name])
    assert loaded.predict_proba(X).tobytes() == first.tobytes()


def test_a_run_trusts_the_library_of_its_booster_and_no_other():
    booster = type("LGBMClassifier", (GaussianNB,), {"__module__": "lightgbm.sklearn"})()
    assert libraries_of(Member("mine", make_pipeline(booster))) == ["lightgbm"]
    assert libraries_of(Member("bayes", GaussianNB())) == []
