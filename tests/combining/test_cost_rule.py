"""Test that costs and thresholds decide, that probabilities agree with the decisions, and their errors."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import committee
from committee import CommitteeClassifier, CommitteeRegressor
from committee.combining.cost_rule import costs_by_label, shifted
from committee.rules import CostRule

X, Y = load_breast_cancer(return_X_y=True)
MEMBERS = ["linear", "c45"]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_highest_probability_is_that_of_the_lowest_expected_cost(n_classes):
    rng = np.random.default_rng(n_classes)
    decision = rng.dirichlet(np.ones(n_classes), 500)
    costs = rng.uniform(0.5, 9, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    found = shifted(decision, costs)
    np.testing.assert_array_equal(found.argmax(axis=1), (decision @ costs).argmin(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()


def test_equal_costs_change_nothing():
    decision = np.random.default_rng(0).dirichlet(np.ones(4), 100)
    np.testing.assert_allclose(shifted(decision, 3 * (1 - np.eye(4))), decision)


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8])
def test_a_threshold_is_the_probability_from_which_on_the_second_class_is_predicted(threshold, tmp_path):
    plain = CommitteeClassifier(MEMBERS, cv=2, random_state=0).fit(X, Y)
    given = CommitteeClassifier(MEMBERS, cv=2, random_state=0, threshold=threshold).fit(X, Y)
    expected = (plain.predict_proba(X)[:, 1] >= threshold).astype(int)
    np.testing.assert_array_equal(given.predict(X), expected)
    np.testing.assert_array_equal(given.predict_proba(X).argmax(axis=1), expected)
    assert given.leaderboard([])[0].score == plain.leaderboard([])[0].score
    given.save(tmp_path / "m.committee")
    np.testing.assert_array_equal(committee.load(tmp_path / "m.committee").predict(X), expected)
    for other in (given.recombine("mean"), given.recombine("auto"), given.prune(max_members=1)):
        assert isinstance(other.rule_, CostRule)


def test_costs_by_label_are_a_matrix_with_ones_for_other_errors():
    classes = np.array([1, 2, 3])
    found = costs_by_label({("1", "3"): 7, (2, 1): 0.5}, None, classes)
    assert found.tolist() == [[0, 1, 7], [0.5, 0, 1], [1, 1, 0]]
    assert costs_by_label(found, None, classes).tolist() == found.tolist()


def test_costs_lower_the_mean_cost_of_an_expensive_error():
    X, y = load_iris(return_X_y=True)
    costs = np.array([[0, 1, 1], [1, 0, 1], [1, 30, 0]])
    fits = [
        CommitteeClassifier(["linear"], cv=3, random_state=0, costs=each).fit(X, y) for each in (None, costs)
    ]
    plain, careful = (costs[y, each.predict(X)].mean() for each in fits)
    assert careful < plain


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": [[0, 1]]}, "a row for each true class"),
        ({"costs": [[0, 1], [0, 0]]}, "An error must cost more than the right class"),
        ({"costs": {("a", 1): 2}}, "costs has 'a', which is not a class. There are 0, 1"),
        ({"costs": {(0, 1): 2}, "threshold": 0.3}, "exclude each other"),
        ({"threshold": 1.5}, "threshold must be"),
        ({"threshold": 0.5, "tune_threshold": True}, "tune_threshold excludes"),
    ],
)
def test_wrong_costs_are_refused_before_any_fit(given, message, monkeypatch):
    def fit_members(*arguments):
        raise AssertionError("A member was fitted.")

    monkeypatch.setattr(CommitteeClassifier, "_fit_members", fit_members)
    with pytest.raises(ValueError, match=message):
        CommitteeClassifier(MEMBERS, **given).fit(X, Y)


def test_costs_are_for_classes():
    with pytest.raises(ValueError, match="costs and threshold are for classes"):
        CommitteeRegressor(["linear"], threshold=0.5).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"threshold is for two classes\. Got 3"):
        CommitteeClassifier(["linear"], threshold=0.5).fit(*load_iris(return_X_y=True))


def test_a_predictor_from_a_file_decides_by_costs_too(tmp_path):
    given = CommitteeClassifier(["c45", "booster"], cv=2, random_state=0, threshold=0.1).fit(X, Y)
    given.save(tmp_path / "m.committee")
    found = committee.predictor(tmp_path / "m.committee").predict_proba(X)
    np.testing.assert_allclose(found, given.predict_proba(X), atol=1e-6)
