"""Random trees with one branch per category: against a tree written with loops, and in files and texts."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import committee
from committee import BaggingClassifier, RandomTreeClassifier, RandomTreeRegressor

RNG = np.random.default_rng(2)
N_ROWS = 240
FRAME = pd.DataFrame(
    {
        "city": RNG.choice(list("abcde"), N_ROWS, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
        "plan": RNG.choice(list("xyz"), N_ROWS),
        "age": RNG.normal(size=N_ROWS),
    }
)
SCORE = FRAME["city"].map(dict(zip("abcde", [0, 2, -1, 1, 3], strict=True))) + FRAME["age"]
SCORE = SCORE.to_numpy() + RNG.normal(size=N_ROWS)
TARGETS = {
    "two classes": (SCORE > 1).astype(int),
    "four classes": np.digitize(SCORE, [-0.5, 0.5, 2]),
    "numbers": SCORE,
}


def tree_for(y, **parameters):
    kind = RandomTreeRegressor if y.dtype.kind == "f" else RandomTreeClassifier
    return kind(max_features=None, random_state=0, **parameters)


def impurity(y):
    if y.dtype.kind == "f":
        return np.square(y - y.mean()).sum()
    shares = np.bincount(y) / len(y)
    shares = shares[shares > 0]
    return -len(y) * (shares * np.log2(shares)).sum()


def grown(frame, y, depth):
    """Grow a tree with loops: the best gain of all splits, one branch per category, two per number."""
    best, chosen = 1e-9, None
    for name in frame if depth > 0 else ():
        if frame[name].dtype.kind == "f":
            values = np.unique(frame[name])
            splits = [(frame[name] <= middle).to_numpy() for middle in (values[1:] + values[:-1]) / 2]
            groups = [[is_left, ~is_left] for is_left in splits]
        else:
            groups = [[(frame[name] == value).to_numpy() for value in sorted(set(frame[name]))]]
        for parts in groups:
            gain = impurity(y) - sum(impurity(y[part]) for part in parts)
            if len(parts) > 1 and gain > best:
                best, chosen = gain, parts
    if chosen is None:
        return [np.arange(len(y))]
    return [
        np.flatnonzero(part)[leaf]
        for part in chosen
        for leaf in grown(frame[part].reset_index(drop=True), y[part], depth - 1)
    ]


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
def test_leaves_are_those_of_a_tree_grown_with_loops(y, depth):
    tree = tree_for(y, max_depth=depth).fit(FRAME, y)
    leaves = grown(FRAME, y, depth)
    found = tree.apply(FRAME)
    assert Counter(map(frozenset, (np.flatnonzero(found == leaf).tolist() for leaf in np.unique(found)))) == (
        Counter(frozenset(rows.tolist()) for rows in leaves)
    )
    assert tree.get_n_leaves() == len(leaves)
    assert tree.get_depth() == depth


def test_a_column_of_four_categories_has_four_leaves():
    table = pd.DataFrame({"kind": list("abcd") * 5})
    tree = RandomTreeClassifier(max_depth=1).fit(table, table["kind"])
    assert [tree.get_n_leaves(), tree.get_depth(), tree.score(table, table["kind"])] == [4, 1, 1]
    assert tree.export_text().splitlines() == [f"kind = {name}: {name} (5)" for name in "abcd"]
    binary = RandomTreeClassifier(max_depth=1, categories="binary").fit(table, table["kind"])
    assert binary.get_n_leaves() == 2


def test_missing_values_are_a_branch_and_unseen_values_go_to_the_heaviest():
    table = pd.DataFrame({"kind": ["a"] * 3 + ["b"] * 6 + [None] * 4})
    y = np.repeat(["first", "second", "none"], [3, 6, 4])
    tree = RandomTreeClassifier().fit(table, y)
    assert tree.get_n_leaves() == 3
    assert tree.score(table, y) == 1
    assert tree.predict(pd.DataFrame({"kind": ["never seen"]})).tolist() == ["none"]
    known = RandomTreeClassifier().fit(table[:9], y[:9])
    assert known.predict(pd.DataFrame({"kind": [None, "never seen"]})).tolist() == ["second", "second"]
    assert known.export_text().splitlines() == ["kind = a: first (3)", "kind = b: second (6)"]


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("categories", ["multiway", "binary"])
def test_a_file_and_its_predictor_give_the_same_predictions(y, categories, tmp_path):
    table = FRAME.copy()
    table.loc[::7, "city"] = None
    tree = tree_for(y, categories=categories).fit(table, y)
    tree.save(tmp_path / "tree.committee")
    loaded = committee.load(tmp_path / "tree.committee")
    rows = [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]
    predicted = committee.predictor(tmp_path / "tree.committee").predict(rows)
    np.testing.assert_array_equal(loaded.predict(table), tree.predict(table))
    np.testing.assert_array_equal(predicted, tree.predict(table))
    assert loaded.export_text() == tree.export_text()
    assert loaded.get_depth() == tree.get_depth()


def test_leaves_can_be_limited():
    y = TARGETS["four classes"]
    limited = tree_for(y, min_samples_leaf=15).fit(FRAME, y)
    assert np.unique(limited.apply(FRAME), return_counts=True)[1].min() >= 15


def test_row_order_and_repetition_do_not_matter():
    y = TARGETS["four classes"]
    weights = RNG.integers(0, 3, N_ROWS)
    order = RNG.permutation(np.repeat(np.arange(N_ROWS), weights))
    weighed = tree_for(y, max_depth=3).fit(FRAME, y, weights)
    repeated = tree_for(y, max_depth=3).fit(FRAME.iloc[order], y[order])
    np.testing.assert_array_equal(weighed.predict_proba(FRAME), repeated.predict_proba(FRAME))


def test_importances_sum_the_gains_of_all_branches():
    y = TARGETS["numbers"]
    tree = tree_for(y, max_depth=2).fit(FRAME[["city", "age"]], y)
    rows = [FRAME["city"] == name for name in "abcde"]
    of_city = impurity(y) - sum(impurity(y[part]) for part in rows)
    leaves = grown(FRAME[["city", "age"]], y, 2)
    of_both = impurity(y) - sum(impurity(y[leaf]) for leaf in leaves)
    assert tree.export_text().startswith("city = ")
    assert tree.feature_importances_[0] == pytest.approx(of_city / of_both, rel=1e-6)


def test_members_of_ensembles_have_branches_too():
    y = TARGETS["four classes"]
    bagged = BaggingClassifier(RandomTreeClassifier(max_depth=1), 5, random_state=0).fit(FRAME[["city"]], y)
    assert {tree.get_n_leaves() for tree in bagged.estimators_} == {5}
    assert {tree.get_depth() for tree in bagged.estimators_} == {1}
