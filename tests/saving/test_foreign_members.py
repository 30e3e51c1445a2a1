"""Estimators that are not on our list are stored through skops and need the caller's trust."""

import ast
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import committee
from committee.saving import UntrustedMember, load, save, verify

X = np.arange(20.0).reshape(10, 2)
y = np.array([0, 1] * 5)
FOREST = "sklearn.ensemble._forest.RandomForestClassifier"
TREES = ["sklearn.tree._tree.Tree", "sklearn.tree._classes.DecisionTreeClassifier"]


class UserDefined(LogisticRegression):
    """A user-defined class."""


def test_a_forest_of_scikit_learn_needs_trust_and_then_predicts_the_same(tmp_path):
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


def test_a_member_of_a_user_defined_class_needs_trust(tmp_path):
    name = f"{UserDefined.__module__}.UserDefined"
    booster = committee.AdaBoostClassifier(UserDefined(), n_estimators=2, random_state=0).fit(X, y)
    booster.save(tmp_path / "model")
    with pytest.raises(UntrustedMember, match=name):
        load(tmp_path / "model")
    loaded = load(tmp_path / "model", trusted=[name])
    assert np.array_equal(loaded.predict_proba(X), booster.predict_proba(X))


def list_in_error(path, trusted):
    with pytest.raises(UntrustedMember) as caught:
        load(path, trusted=trusted)
    return ast.literal_eval(str(caught.value).partition("trusted=")[2].removesuffix("."))


@pytest.mark.parametrize("given", [[], ["sklearn.tree._tree.Tree"], ["sklearn.ensemble"]])
def test_the_error_lists_all_types_that_need_trust(tmp_path, given):
    members = [("own", UserDefined()), ("forest", RandomForestClassifier(3, random_state=0))]
    committee.VotingClassifier(members).fit(X, y).save(tmp_path / "model")
    needed = list_in_error(tmp_path / "model", given)
    assert set(given) <= set(needed)
    assert f"{UserDefined.__module__}.UserDefined" in needed
    assert len(load(tmp_path / "model", trusted=needed).estimators_) == 2


def test_the_error_does_not_list_trusted_types_that_are_not_needed(tmp_path):
    save(RandomForestClassifier(3, random_state=0).fit(X, y), tmp_path / "model")
    assert "numpy" not in list_in_error(tmp_path / "model", ["numpy", FOREST])


def test_a_file_can_be_verified_without_trust(tmp_path):
    save(RandomForestClassifier(3).fit(X, y), tmp_path / "model")
    assert verify(tmp_path / "model").estimator == FOREST


def test_without_skops_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ModuleNotFoundError, match=r"committee\[foreign\]"):
        save(RandomForestClassifier(3).fit(X, y), tmp_path / "model")


def test_a_selector_of_columns_in_a_listed_class_is_stored_through_skops(tmp_path):
    table = pd.DataFrame({"size": [1.0, 2.0, 4.0], "city": ["Oslo", "Rome", "Oslo"]})
    numbers = make_column_selector(dtype_include=np.number)
    model = ColumnTransformer([("scaled", StandardScaler(), numbers)]).fit(table)
    save(model, tmp_path / "model")
    needed = list_in_error(tmp_path / "model", [])
    assert "sklearn.compose._column_transformer.make_column_selector" in needed
    loaded = load(tmp_path / "model", trusted=needed)
    assert np.array_equal(loaded.transform(table), model.transform(table))


def test_an_unfitted_estimator_that_is_not_listed_is_stored_through_skops(tmp_path):
    save(PCA(2), tmp_path / "model")
    assert load(tmp_path / "model", trusted=["sklearn.decomposition"]).n_components == 2
