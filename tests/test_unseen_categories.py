"""A category without training rows is treated as missing, even if its name was declared in the fit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import committee

LETTERS = ["u", "v", None] * 40
CLASSES = [0, 1, 2] * 40


def estimators():
    """Return an estimator of each kind that learns from categories."""
    return [
        committee.DecisionTreeClassifier(),
        committee.DecisionStumpClassifier(),
        committee.RandomTreeClassifier(random_state=0),
        committee.RandomForestClassifier(10, random_state=0),
        committee.ExtraTreesClassifier(10, random_state=0),
        committee.BaggingClassifier(committee.DecisionTreeClassifier(), n_estimators=5, random_state=0),
        committee.AdaBoostClassifier(
            committee.DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0
        ),
        committee.GradientBoostingClassifier(n_estimators=5, min_samples_leaf=1, random_state=0),
        committee.RotationForestClassifier(n_estimators=3, random_state=0),
        committee.NetworkClassifier(n_estimators=2, max_steps=20, random_state=0),
    ]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda estimator: type(estimator).__name__)
def test_a_declared_category_that_no_row_has_is_missing(estimator):
    X = pd.DataFrame({"a": pd.Categorical(LETTERS, categories=["u", "v", "z"])})
    new_rows = pd.DataFrame({"a": ["z", None, "new"]}, dtype=object)
    declared, missing, new = estimator.fit(X, CLASSES).predict_proba(new_rows)
    np.testing.assert_array_equal(declared, missing)
    np.testing.assert_array_equal(new, missing)


@pytest.mark.parametrize("estimator", estimators(), ids=lambda estimator: type(estimator).__name__)
def test_a_category_of_rows_without_weight_is_missing(estimator):
    X = pl.DataFrame({"a": [*LETTERS, "w"]})
    estimator.fit(X, [*CLASSES, 1], sample_weight=[1.0] * len(LETTERS) + [0.0])
    without_weight, missing = estimator.predict_proba(pl.DataFrame({"a": ["w", None]}))
    np.testing.assert_array_equal(without_weight, missing)


def test_a_binned_table_drops_categories_without_rows():
    frame = pl.DataFrame({"a": pl.Series(LETTERS, dtype=pl.Enum(["z", "u", "v"]))})
    binned = committee.table.bin_table(frame)
    assert binned.schema.columns[0].categories == ("u", "v")
    tree = committee.DecisionTreeClassifier().fit(binned, CLASSES)
    assert tree.predict(pl.DataFrame({"a": ["z", None, "u"]})).tolist() == [2, 2, 0]
