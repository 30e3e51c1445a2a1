"""The engine's tree agrees with the slow reference implementation of `tree_oracle`."""

import numpy as np
import pytest
import tree_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _engine

CRITERIA = ["gini", "entropy", "squared_error", "poisson"]


@st.composite
def problems(draw):
    """Draw a small table with missing values, a criterion, a y and integer weights."""
    n_rows = draw(st.integers(2, 14))
    criterion = draw(st.sampled_from(CRITERIA))
    # The engine's sets of categories are optimal for two classes and for means. A Poisson leaf must not have
    # only zeros, so its best set need not consist of neighbours in the order of the means.
    has_categories = criterion != "poisson" and draw(st.booleans())
    n_classes = 0
    if criterion in ("gini", "entropy"):
        n_classes = 2 if has_categories else draw(st.integers(2, 3))
    is_category = draw(st.lists(st.booleans() if has_categories else st.just(False), min_size=1, max_size=3))
    values = st.sampled_from([0, 1, 2, 3, 4])
    columns = [draw(st.lists(values, min_size=n_rows, max_size=n_rows)) for _ in is_category]
    X = np.array(columns, dtype=float).T
    for j, here in enumerate(is_category):
        if not here:
            # Missing categories have the code 0, and missing numbers are NaN.
            X[:, j] = np.where(X[:, j] == 0, np.nan, X[:, j] ** 2)
    targets = st.integers(0, n_classes - 1) if n_classes else st.integers(0, 5)
    y = np.array(draw(st.lists(targets, min_size=n_rows, max_size=n_rows)), dtype=int if n_classes else float)
    w = np.array(draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows)), dtype=float)
    return X, y, w, criterion, is_category


def fit(X, y, w, criterion, is_category, **parameters):
    """Fit the engine's tree and return it with its arrays. Codes of categories become text, and 0 missing."""
    table = X.astype(object)
    for j in np.flatnonzero(is_category):
        table[:, j] = [None if code == 0 else f"c{int(code)}" for code in X[:, j]]
    kind = DecisionTreeRegressor if criterion in ("squared_error", "poisson") else DecisionTreeClassifier
    tree = kind(criterion=criterion, **parameters).fit(table, y, sample_weight=w)
    return tree, _engine.describe_tree(tree._forest, 0)


def codes_of(tree, y):
    return np.searchsorted(tree.classes_, y) if hasattr(tree, "classes_") else y


def decreases(nodes):
    """Return the decrease of impurity in every inner node."""
    inner = np.flatnonzero(nodes.left >= 0)
    left, right = nodes.left[inner], nodes.right[inner]
    parts = [nodes.weight[side] * nodes.impurity[side] for side in (left, right)]
    return dict(zip(inner, nodes.impurity[inner] - sum(parts) / nodes.weight[inner], strict=True))


@settings(max_examples=100)
@given(problem=problems())
def test_the_split_of_the_root_decreases_the_impurity_most(problem):
    X, y, w, criterion, is_category = problem
    if criterion == "poisson" and not y.any():
        return
    tree, nodes = fit(*problem)
    codes, n_classes = codes_of(tree, y), len(getattr(tree, "classes_", ()))
    if n_classes == 1:
        assert tree.get_n_leaves() == 1
        return
    best, _, _ = tree_oracle.best_split(X, codes, w, n_classes, criterion, is_category)
    if len(np.unique(y)) == 1 or best == -np.inf:
        assert tree.get_n_leaves() == 1
    else:
        assert decreases(nodes)[0] == pytest.approx(best, rel=1e-6, abs=1e-7)


@settings(max_examples=60)
@given(problem=problems(), min_samples_leaf=st.integers(1, 3))
def test_the_tree_equals_the_reference_tree_except_for_ties(problem, min_samples_leaf):
    X, y, w, criterion, is_category = problem
    if criterion == "poisson" and not y.any():
        return
    # With this limit, the best set of categories need not consist of neighbours either.
    min_samples_leaf = 1 if any(is_category) else min_samples_leaf
    tree, nodes = fit(*problem, min_samples_leaf=min_samples_leaf)
    codes, n_classes = codes_of(tree, y), len(getattr(tree, "classes_", ()))
    if n_classes == 1:
        return
    truth = tree_oracle.grow(
        X, codes, w, n_classes, criterion, is_category, min_samples_leaf=min_samples_leaf
    )
    compare(truth, nodes, 0, decreases(nodes), X, codes, w, n_classes, criterion, is_category)


def compare(truth, nodes, node, found, *problem):
    """Compare two trees from a node down to the first nodes with different splits of equal quality."""
    assert nodes.n_rows[node] == truth.n_rows
    np.testing.assert_allclose(nodes.value[node], truth.value, atol=1e-9)
    assert nodes.impurity[node] == pytest.approx(truth.impurity, rel=1e-6, abs=1e-7)
    assert (nodes.left[node] < 0) == (not truth.children)
    if not truth.children:
        return
    assert found[node] == pytest.approx(truth.decrease, rel=1e-6, abs=1e-7)
    left, right = nodes.left[node], nodes.right[node]
    for first, second in (truth.children, truth.children[::-1]):
        same = all(
            nodes.n_rows[side] == child.n_rows
            and np.allclose(nodes.value[side], child.value, atol=1e-9)
            and nodes.weight[side] == child.weight
            for side, child in ((left, first), (right, second))
        )
        if same and nodes.column[node] == truth.column:
            break
    else:
        return
    if has_unique_children(truth):
        compare(first, nodes, left, found, *problem)
        compare(second, nodes, right, found, *problem)


def has_unique_children(truth):
    """Return whether the children differ so much that other rows cannot give the same children."""
    first, second = truth.children
    return first.n_rows != second.n_rows and not np.allclose(first.value, second.value)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_missing_values_go_to_the_better_side(criterion):
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    for y in ([0, 0, 1, 1, 1], [1, 1, 0, 1, 1]):
        tree, nodes = fit(X, np.array(y), np.ones(5), criterion, [False])
        assert tree.get_n_leaves() == 2
        assert nodes.impurity[1:] == pytest.approx([0, 0])


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(1, 3)), min_size=2, max_size=30
    ),
    criterion=st.sampled_from(["gini", "entropy"]),
)
def test_with_many_classes_a_split_is_at_least_as_good_as_the_order_by_any_single_class(rows, criterion):
    column, y, w = (np.array(values) for values in zip(*rows, strict=True))
    _, y = np.unique(y, return_inverse=True)
    n_classes = y.max() + 1
    if n_classes < 3:
        return
    X, w = column[:, np.newaxis].astype(float), w.astype(float)
    tree, nodes = fit(X, y, w, criterion, [True])
    if len(np.unique(column)) == 1:
        assert tree.get_n_leaves() == 1
        return
    by_one_class = tree_oracle.best_set_by_one_class(column, y, w, n_classes, criterion)
    of_all, _, _ = tree_oracle.best_split(X, y, w, n_classes, criterion, [True])
    found = decreases(nodes).get(0, 0.0)
    assert by_one_class - 1e-7 <= found <= of_all + 1e-7
