"""Test the simulations: the distribution of rows, curves of bagged trees, and committees of polynomials."""

import numpy as np
import pytest

from committee import BaggingClassifier, DecisionTreeClassifier
from committee.evaluating import bagging_errors, draw_simulated_rows, polynomial_committee


def test_simulated_rows_have_the_stated_distribution():
    X, y = draw_simulated_rows(100_000, random_state=0)
    assert np.corrcoef(X.T)[np.triu_indices(5, 1)] == pytest.approx(0.95, abs=0.01)
    assert X.std(axis=0) == pytest.approx(1, abs=0.02)
    assert y[X[:, 0] > 0.5].mean() == pytest.approx(0.8, abs=0.01)
    assert y[X[:, 0] <= 0.5].mean() == pytest.approx(0.2, abs=0.01)


def test_curves_of_bagged_trees_are_the_errors_of_smaller_ensembles():
    found = bagging_errors(n_estimators=6, n_test_rows=300, random_state=4)
    rng = np.random.default_rng(4)
    X_test, y_test = draw_simulated_rows(300, random_state=rng)
    X, y = draw_simulated_rows(30, random_state=rng)
    tree = DecisionTreeClassifier(min_samples_leaf=5)
    bagged = BaggingClassifier(tree, 6, random_state=int(rng.integers(2**31))).fit(X, y)
    trees = np.array([each.predict_proba(X_test)[:, 1] for each in bagged.estimators_])
    assert found.probability[-1] == np.mean((trees.mean(axis=0) > 0.5) != y_test)
    assert found.consensus[0] == np.mean((trees[0] > 0.5) != y_test)
    assert found.original == np.mean(tree.fit(X, y).predict(X_test) != y_test)


def test_bagging_lowers_the_error_towards_that_of_bayes():
    found = bagging_errors(n_estimators=100, n_samples=20, random_state=0)
    assert found.bayes == 0.2
    assert found.bayes < found.probability[-1] < found.original
    assert found.consensus[-1] < found.original


def test_full_trees_have_the_same_consensus_and_probability():
    found = bagging_errors(DecisionTreeClassifier(), n_estimators=15, random_state=0)
    np.testing.assert_array_equal(found.consensus, found.probability)


def test_parts_of_the_error_of_polynomials_follow_the_formulas():
    found = polynomial_committee(4, n_members=10, random_state=2)
    errors = np.square(found.members - found.target)
    assert found.errors.e_av == pytest.approx(errors.mean())
    assert found.errors.e_com == pytest.approx(np.square(found.mean - found.target).mean())
    assert found.errors.e_av == pytest.approx(found.bias + found.variance)
    assert found.errors.limit == pytest.approx(found.errors.e_av / 10)


def test_independent_flexible_polynomials_reach_the_limit_and_bootstrapped_ones_do_not():
    independent = polynomial_committee(5, n_members=200, random_state=0).errors
    assert independent.e_com == pytest.approx(independent.limit, rel=1)
    assert abs(independent.correlation) < 0.05
    bootstrapped = polynomial_committee(5, n_members=200, samples="bootstrap", random_state=0).errors
    assert bootstrapped.limit * 10 < bootstrapped.e_com < bootstrapped.e_av
    assert bootstrapped.correlation > 0.2


def test_a_straight_line_has_a_bias_that_no_average_removes():
    found = polynomial_committee(1, random_state=0)
    assert found.bias > 0.19
    assert found.errors.e_com > 0.9 * found.errors.e_av


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": 25}, "degree must be an integer from 0 to n_rows - 1. Got degree=25 and n_rows=25"),
        ({"n_members": 1}, "n_members must be an integer >= 2"),
        ({"noise": -1}, "noise must be a number >= 0"),
        ({"samples": "jackknife"}, 'samples must be "independent" or "bootstrap"'),
    ],
)
def test_settings_out_of_range_are_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        polynomial_committee(**settings)
