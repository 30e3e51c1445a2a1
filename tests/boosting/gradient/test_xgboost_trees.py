"""Test that trees equal those of XGBoost in every split. benchmarks/xgboost_trees.py recorded them."""

import json
from pathlib import Path

import numpy as np
import pytest

from committee import GradientBoostingClassifier, GradientBoostingRegressor, _engine

RECORDED = json.loads((Path(__file__).parent / "xgboost_trees.json").read_text(encoding="utf-8"))
X = np.array([[np.nan if value is None else value for value in row] for row in RECORDED["X"]])


def assert_same(nodes, node, theirs, rows):
    """Assert that a node splits its rows as XGBoost's node does, or is a leaf of the same value."""
    if not isinstance(theirs, list):
        assert nodes.left[node] < 0
        values = theirs["values"] if isinstance(theirs, dict) else [theirs]
        assert list(nodes.value[node]) == pytest.approx(values, rel=1e-4, abs=1e-6)
        return 1
    column, threshold, missing_left, left, right = theirs
    values = X[rows, column]
    goes_left = np.where(np.isnan(values), missing_left, values < threshold)
    is_ours_left = np.where(np.isnan(values), not nodes.missing_right[node], values <= nodes.threshold[node])
    assert nodes.column[node] == column
    np.testing.assert_array_equal(is_ours_left, goes_left)
    return assert_same(nodes, nodes.left[node], left, rows[goes_left]) + assert_same(
        nodes, nodes.right[node], right, rows[~goes_left]
    )


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: f"{case['name']}-{case['weighted']}")
def test_the_trees_equal_those_of_xgboost(case):
    estimator = GradientBoostingClassifier if case["loss"] == "log_loss" else GradientBoostingRegressor
    booster = estimator(
        RECORDED["n_rounds"],
        loss=case["loss"],
        grow_policy="depthwise",
        max_leaf_nodes=None,
        subsample=1.0,
        colsample_bynode=1.0,
        **case["parameters"],
    )
    y = np.array(RECORDED["targets"][case["loss"]])
    weights = RECORDED["weights"] if case["weighted"] else None
    booster.fit(X, y, sample_weight=weights, init_score=np.zeros(len(y)))
    assert_same_trees(booster, case["trees"])


@pytest.mark.parametrize(
    "case", RECORDED["many_classes"], ids=lambda case: f"{case['name']}-{case['weighted']}"
)
def test_the_trees_of_each_class_equal_those_of_xgboost(case):
    booster = GradientBoostingClassifier(
        RECORDED["n_rounds"],
        multi_strategy="one_output_per_tree",
        grow_policy="depthwise",
        max_leaf_nodes=None,
        subsample=1.0,
        colsample_bynode=1.0,
        **case["parameters"],
    )
    weights = RECORDED["weights"] if case["weighted"] else None
    booster.fit(
        X, RECORDED["targets"]["many_classes"], sample_weight=weights, init_score=np.zeros((len(X), 3))
    )
    assert len(case["trees"]) == 3 * RECORDED["n_rounds"]
    assert_same_trees(booster, case["trees"])


@pytest.mark.parametrize("case", RECORDED["multi_output"], ids=lambda case: case["name"])
def test_multi_output_trees_equal_those_of_xgboost(case):
    target = np.outer(RECORDED["targets"]["squared_error"], RECORDED["outputs"])

    def squared_error(_, scores):
        return scores - target, np.ones_like(scores)

    booster = GradientBoostingClassifier(
        RECORDED["n_rounds"],
        loss=squared_error,
        multi_strategy="multi_output_tree",
        grow_policy="depthwise",
        max_leaf_nodes=None,
        subsample=1.0,
        colsample_bynode=1.0,
        **case["parameters"],
    )
    booster.fit(X, np.arange(len(X)) % 3, init_score=np.zeros(target.shape))
    assert_same_trees(booster, case["trees"])


def assert_same_trees(booster, trees):
    n_leaves = 0
    for tree, theirs in enumerate(trees):
        nodes = _engine.describe_tree(booster._forest, tree)
        n_leaves += assert_same(nodes, 0, theirs, np.arange(len(X)))
    assert n_leaves > RECORDED["n_rounds"] * 3
