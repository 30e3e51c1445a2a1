"""Test that `committee evaluate` gives the same scores as `committee.score`."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import classification_report, confusion_matrix

from committee import DecisionTreeClassifier, DecisionTreeRegressor, VotingClassifier, VotingRegressor, score
from committee.jobs.answers import Confusion, decision_of, intervals_of, scores_of
from committee.jobs.model_description import leaderboard_of

X, CODES = make_classification(
    150, 4, n_informative=3, n_redundant=0, n_classes=3, weights=[0.7, 0.2], flip_y=0.2, random_state=0
)
Y = np.array(["a", "b", "c"])[CODES]
MODEL = DecisionTreeClassifier(max_depth=3).fit(X[::2], Y[::2])


@pytest.mark.parametrize(
    "metric",
    ["roc_auc_ovr_weighted", "neg_log_loss", "accuracy", "balanced_accuracy", "neg_brier_score"],
)
def test_a_metric_for_classes_gives_the_same_value_as_score(metric):
    decision = MODEL.predict_proba(X)
    expected = score(Y, decision, scoring=metric, classes=MODEL.classes_)
    assert scores_of(MODEL, decision_of(MODEL, X), Y, metric)[metric] == pytest.approx(expected, rel=1e-9)
    usual = scores_of(MODEL, decision_of(MODEL, X), Y)
    assert metric not in usual or usual[metric] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "metric", ["neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_mean_squared_error", "r2"]
)
def test_a_metric_for_numbers_gives_the_same_value_as_score(metric):
    X, y = make_regression(60, 3, random_state=0)
    model = DecisionTreeRegressor(max_depth=2).fit(X, y)
    assert scores_of(model, decision_of(model, X), y, metric)[metric] == pytest.approx(
        score(y, model.predict(X), scoring=metric), rel=1e-9
    )


def test_an_auc_of_a_single_class_is_an_error():
    with pytest.raises(ValueError, match="has no value here: all rows are of one class"):
        scores_of(MODEL, decision_of(MODEL, X[Y == "a"]), Y[Y == "a"], "roc_auc_ovr_weighted")


@pytest.mark.parametrize(
    ("seen", "metrics"),
    [
        ("abc", ["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr_weighted"]),
        ("ab", ["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr_weighted"]),
        ("a", ["accuracy", "neg_log_loss"]),
    ],
)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
def test_the_default_metrics_depend_on_the_classes_in_the_table(seen, metrics):
    rows = np.isin(Y, list(seen))
    found = scores_of(MODEL, decision_of(MODEL, X[rows]), Y[rows])
    assert list(found) == metrics
    assert all(
        scores_of(MODEL, decision_of(MODEL, X[rows]), Y[rows], metric)[metric] == found[metric]
        for metric in metrics
    )


def test_a_leaderboard_uses_the_weights_of_rows():
    table, y = make_regression(60, 3, random_state=0)
    weights = 1 + np.arange(60) / 7
    voting = VotingRegressor([("tree", DecisionTreeRegressor(max_depth=2))], cv=3, random_state=0)
    voting.fit(table, y, sample_weight=weights)
    found = leaderboard_of(voting, "neg_mean_squared_error", [])
    rows = voting.honest_rows_
    expected = score(
        y[rows], voting.honest_votes_[0, :, 0], scoring="neg_mean_squared_error", sample_weight=weights[rows]
    )
    assert found.scoring == "neg_mean_squared_error"
    assert [each.score for each in found[:-1]] == pytest.approx([expected, expected])


def test_a_metric_for_regression_is_refused_for_classes():
    voting = VotingClassifier([("tree", DecisionTreeClassifier(max_depth=2))], cv=3, random_state=0)
    with pytest.raises(ValueError, match="'neg_mean_squared_error' is for regression"):
        leaderboard_of(voting.fit(X, Y), "neg_mean_squared_error", [])


def test_a_confusion_and_its_figures_equal_those_of_scikit_learn():
    found = Confusion.of(MODEL, MODEL.predict_proba(X), Y)
    predicted = MODEL.predict(X)
    np.testing.assert_array_equal(found.counts, confusion_matrix(Y, predicted))
    expected = classification_report(Y, predicted, output_dict=True)
    for each in found.of_classes():
        of_class = expected[each["class"]]
        assert each["n_rows"] == of_class["support"]
        assert (each["recall"], each["precision"], each["f1"]) == pytest.approx(
            (of_class["recall"], of_class["precision"], of_class["f1-score"])
        )


def test_intervals_contain_the_scores_and_shrink_with_more_rows():
    widths = []
    for n_rows in (40, 150):
        decision = decision_of(MODEL, X[:n_rows])
        value = scores_of(MODEL, decision, Y[:n_rows], "accuracy")["accuracy"]
        (low, high) = intervals_of(MODEL, decision, Y[:n_rows], ["accuracy"])["accuracy"]
        assert low < value < high
        widths.append(high - low)
    assert widths[1] < widths[0]
