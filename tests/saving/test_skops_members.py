"""Estimators on no list of ours are stored by skops, and need the caller's trust."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import committee
from committee.saving import UntrustedMember, load, save, verify

X = np.arange(20.0).reshape(10, 2)
y = np.array([0, 1] * 5)
FOREST = "sklearn.ensemble._forest.RandomForestClassifier"
TREES = ["sklearn.tree._tree.Tree", "sklearn.tree._classes.DecisionTreeClassifier"]


class Stubborn(LogisticRegression):
    """A class of the user's own."""


def test_a_forest_of_scikit_learn_needs_trust_and_then_answers_the_same(tmp_path):
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    save(forest, tmp_path / "model")
    with pytest.raises(UntrustedMember, match=FOREST):
        load(tmp_path / "model")
    with pytest.raises(UntrustedMember, match="Tree"):
        load(tmp_path / "model", trusted=[FOREST])
    loaded = load(tmp_path / "model", trusted=[FOREST, *TREES])
    assert np.array_equal(loaded.predict_proba(X), forest.predict_proba(X))


def test_a_library_can_be_trusted_as_a_whole(tmp_path):
    save(RandomForestClassifier(3, random_state=0).fit(X, y), tmp_path / "model")
    assert len(load(tmp_path / "model", trusted=["sklearn"]).estimators_) == 3


def test_a_member_of_a_class_of_the_user_needs_trust(tmp_path):
    name = f"{Stubborn.__module__}.Stubborn"
    booster = committee.AdaBoostClassifier(Stubborn(), n_estimators=2, random_state=0).fit(X, y)
    booster.save(tmp_path / "model")
    with pytest.raises(UntrustedMember, match=name):
        load(tmp_path / "model")
    loaded = load(tmp_path / "model", trusted=[name])
    assert np.array_equal(loaded.predict_proba(X), booster.predict_proba(X))


def test_a_file_can_be_verified_without_trust(tmp_path):
    save(RandomForestClassifier(3).fit(X, y), tmp_path / "model")
    assert verify(tmp_path / "model").estimator == FOREST


def test_without_skops_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ModuleNotFoundError, match=r"committee\[foreign\]"):
        save(RandomForestClassifier(3).fit(X, y), tmp_path / "model")
