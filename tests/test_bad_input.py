"""Bad input gives a documented result or a one-line error that names the problem, but never a crash."""

import warnings

import numpy as np
import pandas as pd
import pytest
from every_estimator import CLASSIFIERS, COMMITTEES, ESTIMATORS, EXPERTS, REGRESSORS, make, name_of
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreeClassifier,
)

# The automatic committee warns of few rows.
pytestmark = pytest.mark.filterwarnings("ignore:The mean of the members decides:UserWarning")

# The committees are included, except in tests of input that members from scikit-learn do not support.
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS + EXPERTS + COMMITTEES, ids=name_of)

X = np.array([[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 6.0]] * 3)
Y = np.array([0, 0, 1, 1] * 3)


def error_of(estimator, X, y, **more):
    """Return the one-line message of the error that a fit raises."""
    with pytest.raises((ValueError, TypeError)) as caught:
        clone(estimator).fit(X, y, **more)
    return one_line(caught)


def one_line(caught):
    message = str(caught.value)
    assert len(message.splitlines()) == 1 and len(message) < 250
    return message


def assert_fits(estimator, X, y):
    """Check that the estimator fits and that its predictions are finite."""
    fitted = clone(estimator).fit(X, y)
    predictions = fitted.predict_proba(X) if is_classifier(fitted) else fitted.predict(X)
    assert np.isfinite(predictions).all()
    return fitted


@every_estimator
def test_a_table_without_rows_or_columns_is_refused(estimator):
    assert "0 sample(s)" in error_of(estimator, np.empty((0, 2)), [])
    assert "0 feature(s)" in error_of(estimator, np.empty((4, 0)), Y[:4])
    assert "0 sample(s)" in error_of(estimator, pd.DataFrame({"a": []}), [])


@every_estimator
def test_wrong_shapes_are_refused(estimator):
    assert "inconsistent numbers of samples: [12, 11]" in error_of(estimator, X, Y[:-1])
    assert "Expected 2D array, got 1D array" in error_of(estimator, X[:, 0], Y)
    assert "3" in error_of(estimator, X.reshape(3, 4, 2), Y)
    assert "y should be a 1d array" in error_of(estimator, X, np.column_stack([Y, Y]))
    assert "sample_weight" in error_of(estimator, X, Y, sample_weight=np.ones(3))


@every_estimator
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (X[:, 0], "got 1D array: X is a ndarray of 12 values. Reshape your data: X.reshape(-1, 1)"),
        (pd.Series(X[:, 0]), "got 1D array: X is a Series of 12 values. Reshape your data: X.to_frame()"),
        (
            "train.csv",
            "X must be a table of rows and columns: an array, a frame or a list of rows. Got 'train",
        ),
        (None, "X must be a table of rows and columns: an array, a frame or a list of rows. Got None."),
        (X + 1j, "Complex data not supported: X is of dtype complex128. Split it"),
        ([[1.0, 5.0], [2.0]] * 6, "The rows of X have different numbers of values"),
    ],
    ids=["1-D", "series", "text", "None", "complex", "ragged"],
)
def test_other_values_than_tables_are_refused_in_one_line(estimator, wrong, message):
    assert message in error_of(estimator, wrong, Y)
    with pytest.raises(ValueError) as caught:
        clone(estimator).fit(X, Y).predict(wrong)
    assert message in one_line(caught)


@every_estimator
def test_columns_without_values_and_constant_columns_are_ignored(estimator):
    useless = np.column_stack([X[:, 0], np.full(len(X), np.nan), np.full(len(X), 3.0)])
    fitted = assert_fits(estimator, useless, Y)
    assert list(fitted.predict([[1.0, np.nan, 3.0], [9.0, 1.0, np.nan]]).round()) == [0, 1]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_a_table_of_missing_values_only_gives_a_constant(estimator):
    fitted = assert_fits(estimator, np.full((6, 2), np.nan), [0, 0, 0, 0, 0, 1])
    assert len(set(fitted.predict([[1.0, np.nan], [np.nan, 2.0]]))) == 1


@every_estimator
@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_targets_are_refused(estimator, missing):
    y = np.array([0, 1, missing, *([1] * 9)], dtype=object)
    assert "Input y contains NaN" in error_of(estimator, X, y)


@pytest.mark.parametrize("estimator", REGRESSORS + [e for e in COMMITTEES if is_regressor(e)], ids=name_of)
def test_infinite_targets_are_refused(estimator):
    assert "Input y contains infinity" in error_of(estimator, X, np.where(Y == 0, np.inf, 1.0))


@every_estimator
def test_bad_weights_are_refused(estimator):
    weights = np.ones(len(Y))
    weights[3] = -1
    assert error_of(estimator, X, Y, sample_weight=weights) == "sample_weight must be >= 0. Got -1.0."
    assert "weight of every row to zero" in error_of(estimator, X, Y, sample_weight=np.zeros(len(Y)))
    weights[3] = np.nan
    assert error_of(estimator, X, Y, sample_weight=weights) == "sample_weight must be finite. Got nan."


# C4.5 counts weights as rows, so they should be around 1, as its documentation states.
@pytest.mark.parametrize(
    "estimator", [each for each in ESTIMATORS + EXPERTS if not name_of(each).startswith("C45")], ids=name_of
)
def test_tiny_and_huge_weights_are_accepted(estimator):
    for scale in (1e-300, 1e300, 1e308):
        fitted = clone(estimator).fit(X, Y, sample_weight=np.full(len(Y), scale))
        assert list(fitted.predict([[1.0, 5.0], [9.0, 6.0]]).round()) == [0, 1]


@pytest.mark.parametrize("estimator", COMMITTEES, ids=name_of)
def test_committees_accept_huge_weights(estimator):
    fitted = clone(estimator).fit(X, Y, sample_weight=np.full(len(Y), 1e308))
    assert list(fitted.predict([[1.0, 5.0], [9.0, 6.0]]).round()) == [0, 1]


@every_estimator
def test_text_in_a_column_of_numbers_is_refused_with_the_name_of_the_column(estimator):
    fitted = clone(estimator).fit(pd.DataFrame(X, columns=["age", "size"]), Y)
    with pytest.raises(ValueError, match=r"Column 'age' was a number .* and is text now"):
        fitted.predict(pd.DataFrame({"age": ["old"], "size": [1.0]}))


@every_estimator
def test_missing_and_unseen_columns_are_refused_by_name(estimator):
    fitted = clone(estimator).fit(pd.DataFrame(X, columns=["age", "size"]), Y)
    with pytest.raises(ValueError, match="size") as caught:
        fitted.predict(pd.DataFrame({"age": [1.0], "shape": [1.0]}))
    assert "Now missing: 'size'. Unseen then: 'shape'. Rename them, or fit again." in one_line(caught)
    with pytest.raises(ValueError, match=r"passed during fit\. Now missing: 'size'\. Rename") as caught:
        fitted.predict(pd.DataFrame({"age": [1.0]}))
    assert one_line(caught)
    with pytest.raises(ValueError, match=r"1 features, but .* 2"), pytest.warns(UserWarning, match="names"):
        fitted.predict(X[:, :1])


@pytest.mark.parametrize(
    "estimator",
    # Rotation forests make a column of each category, and raise an error if these do not fit into memory.
    [each for each in ESTIMATORS if not name_of(each).startswith("Rotation")]
    + [each for each in COMMITTEES if each.cv is None],
    ids=name_of,
)
def test_a_million_categories_are_read(estimator):
    # Only the 65,535 most frequent categories are kept, as the documentation of the table states.
    city = np.concatenate([np.arange(1_000_000 - 10), np.zeros(5), np.ones(5)]).astype(np.int64)
    frame = pd.DataFrame({"city": pd.Categorical(city)})
    y = (city % 2).astype(int)
    small = make(type(estimator), **{"n_estimators": 1} if hasattr(estimator, "n_estimators") else {})
    # C4.5 sends a row with a missing value down every branch, so the table has only a few of them.
    fitted = small.fit(frame[-65_600:], y[-65_600:])
    assert np.isfinite(fitted.predict(frame[-5:])).all()


@every_estimator
def test_unusual_number_types_are_read(estimator, tmp_path):
    expected = clone(estimator).fit(X, Y).predict(X)
    np.save(tmp_path / "X.npy", X)
    unusual = [
        X.astype(np.float16),
        X.astype(">f8"),
        X.astype("<i2"),
        X.astype(np.longdouble),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        X[::-1][::-1],
    ]
    for each in unusual:
        np.testing.assert_array_equal(clone(estimator).fit(each, Y).predict(each), expected)


@every_estimator
def test_an_object_column_of_mixed_values_is_a_category(estimator):
    mixed = np.array([[1, "a"], [2.5, "b"], ["x", None], [None, "a"]] * 3, dtype=object)
    assert_fits(estimator, mixed, Y)


@every_estimator
def test_huge_values_are_accepted(estimator):
    huge = X.copy()
    huge[:4, 0] = [-1e308, 1e308, np.inf, -np.inf]
    assert_fits(estimator, huge, Y)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
@pytest.mark.parametrize("scale", [1e-280, 1e-150, 1e90])
def test_huge_and_tiny_targets_are_accepted(estimator, scale):
    if "Gradient" in name_of(estimator):
        scale = scale ** (1 / 15)  # derivatives have 32 bits, as the error for larger numbers explains
    rows = [[1.0, 5.0], [9.0, 6.0]]
    expected = clone(estimator).fit(X, np.where(Y == 0, -1.0, 1.0)).predict(rows)
    fitted = assert_fits(estimator, X, np.where(Y == 0, -scale, scale))
    np.testing.assert_allclose(fitted.predict(rows) / scale, expected, rtol=1e-6)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
def test_targets_too_large_to_be_squared_are_refused(estimator):
    y = np.where(Y == 0, -1e155, 1.0)
    assert error_of(estimator, X, y) == "y must be between -1e+90 and 1e+90. Got -1e+155. Scale it."


@pytest.mark.parametrize("scale", [1e-129, 1e89])
def test_squares_of_targets_are_finite(scale):
    y = scale * X[:, 0]
    forest = RandomForestRegressor("auto", oob_score=True, random_state=0).fit(X, y)
    assert 0.9 < forest.oob_score_ <= 1
    assert np.isfinite(forest.oob_curve_[-50:]).all()
    assert forest.feature_importances_.sum() == pytest.approx(1)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, y)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert np.isfinite(tree.cost_complexity_pruning_path(X, y).impurities).all()


@pytest.mark.parametrize(
    "estimator", [e for e in COMMITTEES if not is_classifier(e) and e.cv is not None], ids=name_of
)
def test_targets_too_large_to_be_squared_are_refused_if_members_are_scored(estimator):
    y = np.where(Y == 0, -1e155, 1.0)
    assert error_of(estimator, X, y) == "y must be between -1e+90 and 1e+90. Got -1e+155. Scale it."
    assert_fits(estimator, X, np.where(Y == 0, -1e89, 1.0))


@pytest.mark.parametrize("estimator", CLASSIFIERS + [e for e in COMMITTEES if is_classifier(e)], ids=name_of)
def test_continuous_labels_are_refused(estimator):
    assert "continuous" in error_of(estimator, X, Y + 0.5 * np.arange(len(Y)) / 7)


@every_estimator
def test_a_lazy_or_unreadable_table_is_refused(estimator):
    error_of(estimator, "table.csv", Y)
    error_of(estimator, None, Y)
    assert "omplex" in error_of(estimator, X.astype(complex), Y)


@every_estimator
def test_predicting_before_fitting_is_an_error(estimator):
    with pytest.raises(NotFittedError):
        clone(estimator).predict(X)


@every_estimator
def test_a_failed_fit_leaves_the_estimator_unchanged(estimator):
    failed = clone(estimator)
    for bad_y in ([np.nan] * len(Y), Y[:-1]):
        with pytest.raises(ValueError):
            failed.fit(X, bad_y)
        with pytest.raises(NotFittedError):
            failed.predict(X)
    fitted = clone(estimator).fit(pd.DataFrame(X, columns=["age", "size"]), Y)
    before = set(vars(fitted))
    with pytest.raises(ValueError):
        fitted.fit(pd.DataFrame({"city": ["Oslo"] * len(Y)}), [np.nan] * len(Y))
    assert set(vars(fitted)) == before
    assert list(fitted.feature_names_in_) == ["age", "size"]
    assert len(fitted.predict(pd.DataFrame(X, columns=["age", "size"]))) == len(X)


def test_a_failed_metric_leaves_the_forest_unchanged():
    forest = RandomForestRegressor(5, random_state=0, keep_leaf_rows=True).fit(X, Y)
    expected = forest.predict_quantiles(X)
    with pytest.raises(ZeroDivisionError):
        forest.set_params(oob_score=lambda truth, answer: 1 / 0).fit(X[:, :1], Y + 1.0)
    np.testing.assert_array_equal(forest.predict_quantiles(X), expected)
    assert len(forest.feature_importances_) == 2


@pytest.mark.parametrize("estimator", REGRESSORS + [e for e in COMMITTEES if is_regressor(e)], ids=name_of)
def test_targets_that_are_not_numbers_are_refused(estimator):
    assert error_of(estimator, X, [10**400] * len(Y)).startswith("y must be numbers (")
    assert error_of(estimator, X, ["one"] * len(Y)).endswith("Convert it, or use a classifier.")
    dates = np.array(["2024-01-01"] * len(Y), dtype="datetime64[D]")
    assert error_of(estimator, X, dates).startswith("y must be numbers. Got datetime64[D].")
    assert "timedelta64" in error_of(estimator, X, dates - dates[0])


@every_estimator
def test_text_in_weights_is_refused(estimator):
    weights = ["one"] * len(Y)
    assert error_of(estimator, X, Y, sample_weight=weights).startswith("sample_weight must be numbers (")


@pytest.mark.parametrize(
    "estimator", [each for each in CLASSIFIERS if hasattr(each, "class_weight")], ids=name_of
)
def test_text_in_class_weights_is_refused(estimator):
    weighted = clone(estimator).set_params(class_weight={0: "one"})
    assert error_of(weighted, X, Y).startswith("class_weight must be numbers (")


HUGE = 2**40
BAD_PARAMETERS = [
    (
        RandomForestClassifier,
        {"n_estimators": HUGE},
        'n_estimators must be an integer >= 1 or "auto". Integers may go up to 2147483647. '
        "Got 1099511627776.",
    ),
    (
        RandomForestClassifier,
        {"max_samples": HUGE},
        "max_samples must be an integer >= 1, a float > 0 or None. Integers may go up to 2147483647. "
        "Got 1099511627776.",
    ),
    (DecisionTreeClassifier, {"ccp_alpha": np.inf}, "ccp_alpha must be a number >= 0. Got inf."),
    (
        DecisionTreeClassifier,
        {"monotonic_cst": [[1], [1, 0]]},
        "monotonic_cst must be None or a value of -1, 0 or 1 for each of 2 columns. Got [[1], [1, 0]].",
    ),
    (
        DecisionTreeClassifier,
        {"categorical_features": [[1], [1, 0]]},
        'categorical_features must be "from_dtype", or a mask, indices or names of columns. '
        "Got [[1], [1, 0]].",
    ),
    (RandomForestClassifier, {"n_estimators": 0}, 'n_estimators must be an integer >= 1 or "auto". Got 0.'),
    (
        RandomForestClassifier,
        {"n_estimators": 2.0},
        'n_estimators must be an integer >= 1 or "auto". Got 2.0.',
    ),
    (DecisionTreeClassifier, {"max_depth": 0}, "max_depth must be an integer >= 1 or None. Got 0."),
    (DecisionTreeClassifier, {"max_depth": True}, "max_depth must be an integer >= 1 or None. Got True."),
    (
        DecisionTreeClassifier,
        {"min_samples_split": 1},
        "min_samples_split must be an integer >= 2 or a float in (0, 1]. Got 1.",
    ),
    (
        DecisionTreeClassifier,
        {"min_samples_leaf": 1.0},
        "min_samples_leaf must be an integer >= 1 or a float in (0, 1). Got 1.0.",
    ),
    (
        DecisionTreeClassifier,
        {"criterion": "absolute_error"},
        'criterion must be "gini", "entropy", "log_loss" or "gain_ratio". Got \'absolute_error\'.',
    ),
    (
        DecisionTreeRegressor,
        {"criterion": "friedman_mse"},
        'criterion must be "squared_error", "absolute_error" or "poisson". Got \'friedman_mse\'.',
    ),
    (DecisionTreeClassifier, {"splitter": "worst"}, 'splitter must be "best" or "random". Got \'worst\'.'),
    (DecisionTreeClassifier, {"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer >= 2 or None. Got 1."),
    (DecisionTreeClassifier, {"ccp_alpha": -1.0}, "ccp_alpha must be a number >= 0. Got -1.0."),
    (
        DecisionTreeClassifier,
        {"min_weight_fraction_leaf": 0.6},
        "min_weight_fraction_leaf must be a number in [0, 0.5]. Got 0.6.",
    ),
    (
        DecisionTreeClassifier,
        {"min_impurity_decrease": np.nan},
        "min_impurity_decrease must be a number >= 0. Got nan.",
    ),
    (
        DecisionTreeClassifier,
        {"max_features": "all"},
        'max_features must be an integer >= 1, a float in (0, 1], "sqrt", "log2" or None. Got \'all\'.',
    ),
    (
        RandomTreeClassifier,
        {"max_features": 0},
        'max_features must be an integer >= 1, a float in (0, 1], "auto", "sqrt", "log2" or None. Got 0.',
    ),
    (
        DecisionTreeClassifier,
        {"monotonic_cst": [1]},
        "monotonic_cst must be None or a value of -1, 0 or 1 for each of 2 columns. Got [1].",
    ),
    (
        RandomForestClassifier,
        {"rule": 3},
        "rule must be the name of a rule, a function of votes or a rule. Got 3.",
    ),
    (RandomForestClassifier, {"n_jobs": 0}, "n_jobs must be an integer other than 0, or None. Got 0."),
    (
        RandomForestClassifier,
        {"max_samples": np.inf},
        "max_samples must be an integer >= 1, a float > 0 or None. Got inf.",
    ),
    (
        RandomForestClassifier,
        {"max_samples": 0.0},
        "max_samples must be an integer >= 1, a float > 0 or None. Got 0.0.",
    ),
    (
        RandomForestClassifier,
        {"class_weight": "even"},
        'class_weight must be None, "balanced", "balanced_subsample" or a dict of label to weight. '
        "Got 'even'.",
    ),
    (
        DecisionTreeClassifier,
        {"class_weight": "balanced_subsample"},
        "class_weight must be None, \"balanced\" or a dict of label to weight. Got 'balanced_subsample'. "
        "Did you mean 'balanced'?",
    ),
    (
        ExtraTreesClassifier,
        {"oob_score": True},
        "Out of bag estimation only available if bootstrap=True. Got bootstrap=False.",
    ),
    (
        ExtraTreesClassifier,
        {"n_estimators": "auto"},
        'n_estimators="auto" needs the out-of-bag error. Set bootstrap=True.',
    ),
    (
        ExtraTreesClassifier,
        {"max_samples": 5},
        "max_samples cannot be set if bootstrap=False. Set bootstrap=True.",
    ),
]


@pytest.mark.parametrize(("estimator", "parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_at_fit(estimator, parameters, message):
    assert error_of(estimator(**parameters), X, Y) == message


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor])
def test_limits_may_be_arbitrarily_large(kind):
    limits = dict.fromkeys(["max_depth", "max_leaf_nodes", "max_features"], HUGE)
    make(kind, **limits, **{"n_jobs": 2**70} if hasattr(kind, "n_jobs") else {}).fit(X, Y)
    none = make(kind, min_samples_split=HUGE, min_samples_leaf=HUGE).fit(X, Y)
    assert len(set(none.predict(X))) == 1


def test_quantiles_and_predictors_need_numbers():
    forest = RandomForestRegressor(2, random_state=0, keep_leaf_rows=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"^quantiles must be numbers \(.*\)\. Convert them\.$"):
        forest.predict_quantiles(X, ["half"])
    with pytest.raises(TypeError, match=r"^A predictor takes a matrix of float64, .* Got list\. .*itself\.$"):
        forest.predictor().predict([[1.0, 5.0]])


@pytest.mark.parametrize("estimator", [DecisionTreeRegressor, RandomForestRegressor])
def test_poisson_needs_counts(estimator):
    assert "needs y >= 0. Got -1.0" in error_of(estimator(criterion="poisson"), X, Y - 1.0)
    assert "needs some y > 0" in error_of(estimator(criterion="poisson"), X, np.zeros(len(Y)))


@pytest.mark.parametrize(
    ("estimator", "n_trees"), [(DecisionTreeClassifier(), 1), (RandomForestClassifier(n_estimators=7), 7)]
)
def test_classes_that_do_not_fit_in_memory_are_refused(estimator, n_trees, monkeypatch):
    monkeypatch.setattr("committee.learners.training_data.SMALL_MODEL", 0)
    monkeypatch.setattr("committee.learners.training_data.available_bytes", lambda: n_trees * 12 * 12 * 8 - 1)
    message = error_of(estimator, np.arange(12.0)[:, None], np.arange(12))
    assert message.startswith("The 12 classes of y take")
    assert_fits(estimator, np.arange(12.0)[:, None], Y)


def test_monotonic_constraints_need_an_order_and_two_classes():
    tree = DecisionTreeClassifier(monotonic_cst=[1])
    assert "categories ['city'], which have no order" in error_of(
        tree, pd.DataFrame({"city": ["Oslo", "Bonn"]}), [0, 1]
    )
    assert "needs two classes, and y has 3" in error_of(tree, [[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_warnings_point_to_the_caller(kind):
    forest = kind(2, warm_start=True, oob_score=True, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        forest.fit(X[:1], Y[:1]).fit(X[:1], Y[:1])
    assert [str(warning.message).split(",")[0].split(" without")[0] for warning in caught] == [
        "Every bag contains every row",
        "Warm-start fitting",
    ]
    assert {warning.filename for warning in caught} == {__file__}
