"""AdaBoost: warm starts and stored weights."""

import warnings

import numpy as np
import pytest
from adaboost_cases import (
    CLASSIFIERS,
    PythonRegressionTree,
    PythonStump,
    PythonTree,
    noisy_classes,
    noisy_numbers,
)
from sklearn.datasets import load_iris

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from committee.table import bin_table


@pytest.mark.parametrize("booster_type", [*CLASSIFIERS, AdaBoostRegressor])
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("in_python", [False, True])
def test_a_warm_start_equals_an_uninterrupted_fit(booster_type, weighting, in_python):
    X, y = noisy_classes(n_classes=3) if booster_type in CLASSIFIERS else noisy_numbers()
    tree, python = (
        (DecisionTreeClassifier, PythonTree)
        if booster_type in CLASSIFIERS
        else (DecisionTreeRegressor, PythonRegressionTree)
    )
    member = (python if in_python else tree)(max_depth=3)
    settings = {"weighting": weighting, "store_weights": True, "random_state": 3}
    whole = booster_type(member, n_estimators=7, **settings).fit(X, y)
    resumed = booster_type(member, n_estimators=3, warm_start=True, **settings).fit(X, y)
    resumed.set_params(n_estimators=7).fit(X, y)
    assert len(resumed.estimators_) == len(whole.estimators_) == 7
    np.testing.assert_allclose(resumed.estimator_weights_, whole.estimator_weights_, rtol=1e-12)
    np.testing.assert_allclose(resumed.row_weights_, whole.row_weights_, rtol=1e-12)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_a_warm_start_checks_the_rows_and_the_parameters():
    X, y = noisy_classes()
    booster = AdaBoostM1Classifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        booster.fit(X, y)
    booster.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="pass the same rows"):
        booster.fit(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="classes of the previous fit"):
        booster.fit(X, y + 1)
    with pytest.raises(ValueError, match="store_weights must be True from the first fit on"):
        booster.set_params(store_weights=True).fit(X, y)
    with pytest.raises(ValueError, match="members of the same kind"):
        booster.set_params(store_weights=False, estimator=PythonStump()).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal to the 3 members"):
        booster.set_params(estimator=None, n_estimators=2).fit(X, y)
    easy = AdaBoostM1Classifier(n_estimators=3, warm_start=True).fit([[1], [2]], [0, 1])
    with pytest.warns(UserWarning, match="A member has ended the run"):
        easy.set_params(n_estimators=9).fit([[1], [2]], [0, 1])


def test_stored_weights_sum_to_one_and_start_with_those_of_the_user():
    X, y = noisy_classes()
    weights = np.arange(len(y)) % 3
    booster = AdaBoostM2Classifier(n_estimators=4, store_weights=True).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(booster.row_weights_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(booster.row_weights_[0], weights / weights.sum(), rtol=1e-12)
    assert (booster.row_weights_[:, weights == 0] == 0).all()
    assert AdaBoostM2Classifier(n_estimators=4).fit(X, y).row_weights_ is None


def test_the_number_of_threads_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 20)).astype(np.float32)
    y = ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int)
    for booster in (
        AdaBoostM1Classifier(n_estimators=5),
        AdaBoostM2Classifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=3, weighting="resample", random_state=0
        ),
    ):
        decisions = {booster.set_params(n_jobs=n).fit(X, y).predict_proba(X).tobytes() for n in (1, 2, 3, 7)}
        assert len(decisions) == 1


def test_many_bins_are_exact_and_few_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = (X[:, 0] > np.sort(X[:, 0])[700]).astype(int)
    assert AdaBoostM1Classifier(max_bins=2000).fit(X, y).score(X, y) == 1
    assert AdaBoostM1Classifier(max_bins=4).fit(X, y).score(X, y) < 1


def test_a_binned_table_gives_the_same_model_as_the_table():
    X, y = noisy_classes()
    binned = bin_table(X)
    np.testing.assert_array_equal(
        AdaBoostClassifier(n_estimators=5).fit(binned, y).predict_proba(X),
        AdaBoostClassifier(n_estimators=5).fit(X, y).predict_proba(X),
    )
    with pytest.raises(TypeError, match="learns from values"):
        AdaBoostClassifier(PythonStump()).fit(binned, y)
    with pytest.raises(ValueError, match="a BinnedTable cannot be divided"):
        AdaBoostClassifier(early_stopping=True).fit(binned, y)


def test_parameters_of_the_trees_reach_the_engine():
    X, y = noisy_classes()
    for parameters in (
        {"max_leaf_nodes": 3},
        {"min_samples_leaf": 20},
        {"ccp_alpha": 0.05},
        {"splitter": "random", "max_depth": 2},
        {"max_features": 1, "max_depth": 2},
        {"monotonic_cst": [1, 0, 0, 0, 0, -1]},
        {"criterion": "entropy", "max_depth": 2},
    ):
        member = DecisionTreeClassifier(**parameters)
        engine = AdaBoostClassifier(member, n_estimators=4, random_state=0).fit(X, y)
        assert isinstance(engine.estimators_[0], DecisionTreeClassifier)
        if "splitter" in parameters or "max_features" in parameters:
            again = AdaBoostClassifier(member, n_estimators=4, random_state=1).fit(X, y)
            assert (again.votes(X) != engine.votes(X)).any()
            continue
        python = AdaBoostClassifier(PythonTree(**parameters), n_estimators=4, random_state=0).fit(X, y)
        np.testing.assert_allclose(engine.predict_proba(X), python.predict_proba(X), rtol=1e-6)


def test_importances_are_weighted_means_of_those_of_the_members():
    X, y = noisy_classes()
    booster = AdaBoostM1Classifier(n_estimators=6).fit(X, y)
    by_member = np.array([member.feature_importances_ for member in booster.estimators_])
    expected = np.average(by_member, axis=0, weights=booster.estimator_weights_)
    np.testing.assert_allclose(booster.feature_importances_, expected)
    assert booster.feature_importances_.sum() == pytest.approx(1)


def test_the_scale_of_row_weights_does_not_matter():
    X, y = noisy_classes()
    weights = np.random.default_rng(0).integers(1, 5, len(y)).astype(float)
    small, large = (
        AdaBoostM1Classifier(n_estimators=5).fit(X, y, sample_weight=w).estimator_errors_
        for w in (weights, weights * 123_456.7)
    )
    np.testing.assert_allclose(small, large, rtol=1e-9)


def test_ordinary_tables_cause_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for booster_type in CLASSIFIERS:
            booster_type().fit(*load_iris(return_X_y=True))
