"""C4.5: the trees of the textbook, missing values, weights, pruning, bad input, pickles."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from committee import BaggingClassifier, _engine
from committee.learners.c45 import C45Classifier

GOLF = pd.DataFrame(
    [
        ("sunny", 85, 85, False, "no"),
        ("sunny", 80, 90, True, "no"),
        ("overcast", 83, 86, False, "yes"),
        ("rainy", 70, 96, False, "yes"),
        ("rainy", 68, 80, False, "yes"),
        ("rainy", 65, 70, True, "no"),
        ("overcast", 64, 65, True, "yes"),
        ("sunny", 72, 95, False, "no"),
        ("sunny", 69, 70, False, "yes"),
        ("rainy", 75, 80, False, "yes"),
        ("sunny", 75, 70, True, "yes"),
        ("overcast", 72, 90, True, "yes"),
        ("overcast", 81, 75, False, "yes"),
        ("rainy", 71, 91, True, "no"),
    ],
    columns=["outlook", "temperature", "humidity", "windy", "play"],
)

GOLF_TREE = """\
outlook = overcast: yes (4)
outlook = rainy
|   windy = False: yes (3)
|   windy = True: no (2)
outlook = sunny
|   humidity <= 75: yes (2)
|   humidity > 75: no (3)"""


def golf(rows=slice(None)):
    table = GOLF.iloc[rows]
    return table.drop(columns="play"), table["play"]


def tables(n_columns=3):
    """Return small tables of integers with missing values."""
    numbers = st.one_of(st.integers(-3, 3).map(float), st.just(np.nan))
    return st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            arrays(np.float64, (n, n_columns), elements=numbers),
            arrays(np.int64, n, elements=st.integers(0, 2)),
            arrays(np.int64, n, elements=st.integers(0, 3)),
        )
    )


@parametrize_with_checks([C45Classifier()])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def test_scikit_learn_runs_its_checks():
    assert len(list(estimator_checks_generator(C45Classifier()))) >= 60


def test_golf_is_the_tree_of_the_textbook():
    tree = C45Classifier().fit(*golf())
    assert tree.export_text() == GOLF_TREE
    assert tree.get_n_leaves() == 5
    assert tree.tree_.n_nodes == 8
    assert tree.get_depth() == 2
    assert (tree.predict(golf()[0]) == golf()[1]).all()


def test_iris_has_the_five_leaves_of_j48():
    X, y = load_iris(return_X_y=True)
    tree = C45Classifier().fit(X, y)
    assert (tree.get_n_leaves(), tree.get_depth()) == (5, 4)


def test_a_missing_value_is_the_mean_of_the_branches():
    X, y = golf()
    tree = C45Classifier().fit(X, y)
    unknown = pd.DataFrame({"outlook": [None], "temperature": [70], "humidity": [70], "windy": [False]})
    # 4 of 14 overcast, 5 rainy and not windy, 5 sunny and dry: all are yes.
    assert tree.predict_proba(unknown).tolist() == [[0.0, 1.0]]
    unknown["humidity"] = 90
    np.testing.assert_allclose(tree.predict_proba(unknown), [[5 / 14, 9 / 14]])


def test_an_unseen_category_is_missing():
    X, y = golf()
    tree = C45Classifier().fit(X, y)
    day = X.iloc[[0]]
    hail, unknown = day.assign(outlook="hail"), day.assign(outlook=[None])
    np.testing.assert_array_equal(tree.predict_proba(hail), tree.predict_proba(unknown))


def test_training_rows_with_missing_values_are_split_over_the_branches():
    X, y = golf()
    # J48 prints this tree for the golf table if the outlook of the seventh row is missing.
    X.loc[6, "outlook"] = None
    text = C45Classifier().fit(X, y).export_text()
    assert "outlook = overcast: yes (3.23)" in text
    weights = C45Classifier(pruning=None).fit(X, y).tree_.arrays()["distribution"].sum(axis=1)
    np.testing.assert_allclose(weights[0], 14)
    np.testing.assert_allclose(weights[1:4], [3 * 14 / 13, 5 * 14 / 13, 5 * 14 / 13])


@given(tables(), st.randoms(use_true_random=False))
def test_row_order_does_not_change_the_tree(table, random):
    X, y, weights = table
    weights = weights + 0.3
    order = random.sample(range(len(y)), len(y))
    first = C45Classifier().fit(X, y, weights).tree_.arrays()
    second = C45Classifier().fit(X[order], y[order], weights[order]).tree_.arrays()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@given(tables())
def test_weight_two_is_the_row_twice(table):
    X, y, weights = table
    if not weights.any():
        return
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = C45Classifier().fit(X, y, weights)
    repeated = C45Classifier().fit(X[rows], y[rows])
    present = np.isin(weighted.classes_, repeated.classes_)
    np.testing.assert_allclose(weighted.predict_proba(X)[:, present], repeated.predict_proba(X), atol=1e-9)
    assert weighted.get_n_leaves() == repeated.get_n_leaves()


@given(tables())
def test_probabilities_sum_to_one(table):
    X, y, _ = table
    for pruning in "pessimistic", None:
        votes = C45Classifier(pruning=pruning, min_samples_leaf=1).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(votes.sum(axis=1), 1)
        assert (votes >= 0).all()


@given(tables())
def test_pruning_never_grows_a_tree(table):
    X, y, _ = table
    leaves = [
        C45Classifier(pruning=None).fit(X, y).get_n_leaves(),
        C45Classifier(confidence_factor=0.5).fit(X, y).get_n_leaves(),
        C45Classifier(confidence_factor=0.5, subtree_raising=False).fit(X, y).get_n_leaves(),
    ]
    assert leaves[1] <= leaves[0]
    assert leaves[2] <= leaves[0]


def test_a_monotone_transform_of_a_column_changes_nothing():
    X, y = load_iris(return_X_y=True)
    plain, cubed = C45Classifier().fit(X, y), C45Classifier().fit(X**3, y)
    np.testing.assert_array_equal(plain.predict_proba(X), cubed.predict_proba(X**3))


def test_columns_of_tiny_numbers_are_split():
    X, y = load_iris(return_X_y=True)
    assert C45Classifier().fit(X * 1e-9, y).get_n_leaves() == 5


@pytest.mark.parametrize("huge", [1e308, np.inf])
def test_huge_values_are_values(huge):
    X = np.array([[-huge], [-huge], [huge], [huge]])
    tree = C45Classifier().fit(X, [0, 0, 1, 1])
    assert tree.predict(X).tolist() == [0, 0, 1, 1]


def test_class_weight_moves_the_decision():
    X, y = np.zeros((10, 1)), np.array([0] * 7 + [1] * 3)
    assert C45Classifier().fit(X, y).predict(X[:1]) == [0]
    assert C45Classifier(class_weight={1: 3}).fit(X, y).predict(X[:1]) == [1]


def test_ties_go_to_the_first_class():
    X = np.zeros((4, 1))
    assert C45Classifier().fit(X, ["b", "a", "b", "a"]).predict(X).tolist() == ["a"] * 4


def test_too_many_copies_of_rows_with_missing_values_raise():
    values, n_missing = np.repeat(np.arange(22_000), 2), 100_000
    X = np.concatenate([values, np.full(n_missing, np.nan)])[:, None]
    y = np.concatenate([values % 2, np.arange(n_missing) % 2])
    with pytest.raises(
        ValueError, match=r"^Column 0 .* 100000 rows with a missing value to 22000 branches\."
    ):
        C45Classifier(categorical_features=[0]).fit(X, y)


def test_an_all_missing_or_constant_column_is_never_used():
    X, y = load_iris(return_X_y=True)
    wide = np.column_stack([np.full(len(y), np.nan), X, np.ones(len(y))])
    tree = C45Classifier().fit(wide, y)
    assert tree.get_n_leaves() == 5
    assert tree.feature_importances_[[0, 5]].tolist() == [0, 0]
    assert C45Classifier().fit(wide[:, [0]], y).get_n_leaves() == 1


def test_all_missing_rows_get_the_distribution_of_the_root():
    X, y = load_iris(return_X_y=True)
    votes = C45Classifier().fit(X, y).predict_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(votes, 1 / 3, rtol=1e-12)


def test_a_table_of_one_class_or_one_row_gives_a_leaf():
    assert C45Classifier().fit([[1.0], [2.0]], [7, 7]).predict([[5.0]]).tolist() == [7]
    assert C45Classifier().fit([[1.0]], ["only"]).predict([[5.0]]).tolist() == ["only"]


def test_importances_sum_to_one_and_are_positive_for_the_columns_of_the_tree():
    X, y = load_breast_cancer(return_X_y=True)
    tree = C45Classifier().fit(X, y)
    used = np.unique(tree.tree_.arrays()["column"])
    importances = tree.feature_importances_
    np.testing.assert_allclose(importances.sum(), 1)
    assert set(np.flatnonzero(importances)) == set(used[used >= 0])
    assert not C45Classifier().fit(X, np.zeros(len(y))).feature_importances_.any()


def test_reduced_error_pruning_is_repeated_by_its_seed():
    X, y = load_breast_cancer(return_X_y=True)

    def grow(seed):
        return C45Classifier(pruning="reduced_error", random_state=seed).fit(X, y).export_text()

    assert grow(0) == grow(0)
    assert len({grow(seed) for seed in range(5)}) > 1
    unpruned = C45Classifier(pruning=None).fit(X, y).get_n_leaves()
    assert C45Classifier(pruning="reduced_error", random_state=0).fit(X, y).get_n_leaves() <= unpruned


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": "cost"}, 'pruning must be "pessimistic", "reduced_error" or None. Got \'cost\'.'),
        ({"confidence_factor": 0}, "confidence_factor must be a number in (0, 0.5]. Got 0."),
        ({"confidence_factor": 0.6}, "confidence_factor must be a number in (0, 0.5]. Got 0.6."),
        ({"confidence_factor": "low"}, "confidence_factor must be a number in (0, 0.5]. Got 'low'."),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be an integer >= 1. Got 0."),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf must be an integer >= 1. Got 1.5."),
        ({"reduced_error_folds": 1}, "reduced_error_folds must be an integer >= 2. Got 1."),
        ({"subtree_raising": "no"}, "subtree_raising must be True or False. Got 'no'."),
        (
            {"pruning": "reduced_error", "reduced_error_folds": 20},
            "reduced_error_folds must be at most the number of rows, 14. Got 20.",
        ),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(ValueError) as error:
        C45Classifier(**parameters).fit(*golf())
    assert str(error.value) == message


def test_it_has_the_attributes_of_every_classifier():
    X, y = load_iris(return_X_y=True)
    tree = C45Classifier().fit(X, y)
    assert (tree.n_classes_, tree.n_outputs_, tree.nbytes) == (3, 1, tree.tree_.nbytes)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(tree.predict_log_proba(X), np.log(tree.predict_proba(X)))


def test_weights_whose_sum_overflows_are_accepted():
    tree = C45Classifier(min_samples_leaf=1).fit([[1.0], [2.0]], [0, 1], [1e308, 1e308])
    np.testing.assert_array_equal(tree.predict([[1.0], [2.0]]), [0, 1])


def test_pickle_changes_nothing():
    X, y = golf()
    X.loc[6, "outlook"] = None
    tree = C45Classifier().fit(X, y)
    for again in pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree):
        np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))
        assert again.export_text() == tree.export_text()
    assert tree.tree_.nbytes == sum(array.nbytes for array in tree.tree_.arrays().values())


def broken_trees():
    """Yield the arrays of damaged trees, each with one error."""
    X, y = golf()
    good = C45Classifier().fit(X, y).tree_.arrays()
    for name in good:
        yield {key: good[key] for key in good if key != name}
        yield {**good, name: good[name].astype(np.float32)}
        yield {**good, name: good[name][:-1]}
        yield {**good, name: good[name][:0]}
        if name != "n_categories":  # A table may have a column that the tree does not use.
            yield {**good, name: np.concatenate([good[name], good[name][:1]])}
        yield {**good, name: "text"}
        yield {**good, name: None}
    changes = [
        ("column", [99, -2, 2**31 - 1, -(2**31)]),
        ("threshold", [np.nan]),
        ("first_branch", [5, -1, 2**31 - 1, -(2**31)]),
        ("branch", [0, -2, 8, 2, 2**31 - 1, -(2**31)]),
        ("distribution", [-1.0, np.nan, np.inf]),
        ("n_categories", [-1, 1, 4, 0, -2, 2**31 - 1, -(2**31)]),
    ]
    for name, values in changes:
        for value in values:
            array = good[name].copy()
            array.flat[0] = value
            yield {**good, name: array}
    yield {**good, "distribution": good["distribution"].T.copy()}
    yield {**good, "distribution": good["distribution"].ravel()}
    yield {**good, "distribution": np.zeros_like(good["distribution"])}
    yield {}


def test_damaged_arrays_raise():
    for number, arrays_ in enumerate(broken_trees()):
        with pytest.raises(ValueError, match=r"C4\.5 tree"):
            _engine.C45Tree.from_arrays(arrays_)
            pytest.fail(f"Tree {number} was accepted.")


@given(st.data())
def test_random_changes_to_the_arrays_never_crash(data):
    X, y = golf()
    tree = C45Classifier().fit(X, y)
    changed = tree.tree_.arrays()
    name = data.draw(st.sampled_from(sorted(changed)))
    place = data.draw(st.integers(0, changed[name].size - 1))
    values = st.floats() if changed[name].dtype.kind == "f" else st.integers(-(2**31), 2**31 - 1)
    changed[name].flat[place] = data.draw(values)
    try:
        tree.tree_ = _engine.C45Tree.from_arrays(changed)
        votes = tree.predict_proba(X)
    except ValueError:
        return
    assert votes.shape == (14, 2)


def test_columns_that_do_not_fit_the_tree_raise():
    X, y = load_iris(return_X_y=True)
    tree = C45Classifier().fit(X, y).tree_
    columns = list(np.ascontiguousarray(X.T))
    for last in columns[3][:-1], np.zeros(150, np.int32), np.zeros((150, 1)), np.zeros(300)[::2], "text":
        with pytest.raises(ValueError, match=r"column|float64"):
            tree.predict([*columns[:3], last], 150)
    with pytest.raises(ValueError, match="number of columns"):
        tree.predict(columns[:3], 150)


@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error", None])
def test_a_row_of_tiny_weight_gives_finite_results(pruning):
    table = pd.DataFrame(
        {
            "a": ["c", "d", "d", "d", "b", "a"],
            "b": [None, None, None, "c", "a", "b"],
            "c": [None, "c", None, "a", None, None],
        }
    )
    tree = C45Classifier(pruning=pruning, random_state=0)
    tree.fit(table, [0, 1, 1, 0, 0, 1], sample_weight=[1e9, 100, 1e-5, 1e7, 1e9, 0.01])
    np.testing.assert_allclose(tree.predict_proba(table).sum(axis=1), 1)
    assert np.isfinite(tree.feature_importances_).all()


def test_a_row_of_huge_weight_may_be_held_out():
    X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 0, 1, 1, 1]
    for heavy in range(6):
        weights = np.where(np.arange(6) == heavy, 1e13, 1.0)
        tree = C45Classifier(pruning="reduced_error", random_state=0).fit(X, y, sample_weight=weights)
        assert np.isfinite(tree.predict_proba(X)).all()


def test_the_order_of_the_rows_does_not_change_which_are_held_out():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    tree = C45Classifier(pruning="reduced_error", random_state=0)
    members = BaggingClassifier(tree, 3, random_state=0)
    for learner in tree, members:
        expected = learner.fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(learner.fit(X[order], y[order]).predict_proba(X), expected)


def test_categories_of_rows_without_weight_are_ignored():
    rng = np.random.default_rng(0)
    letters, numbers = rng.choice(["a", "b"], 60), rng.normal(size=60)
    y = ((letters == "a") ^ (numbers > 0)).astype(int)
    X = pd.DataFrame({"letter": letters, "number": numbers})
    more = pd.DataFrame({"letter": [f"k{i}" for i in range(40)], "number": 0.0})
    expected = C45Classifier().fit(X, y)
    weights = np.r_[np.ones(60), np.zeros(40)]
    found = C45Classifier().fit(pd.concat([X, more], ignore_index=True), np.r_[y, y[:40]], weights)
    assert found.export_text() == expected.export_text() and found.get_n_leaves() == 4
