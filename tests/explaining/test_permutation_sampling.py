"""Estimates by sampling add up, agree with the exact values and state their errors."""

import numpy as np
import polars as pl
import pytest
from every_estimator import ALL_ESTIMATORS, mixed_frame, name_of, target_for, votes_of
from shapley_oracle import interventional
from sklearn.base import clone, is_classifier

import committee

OTHERS = [
    each
    for each in ALL_ESTIMATORS
    if name_of(each).startswith(
        ("AdaBoostR", "Committee", "Mixture", "Network", "Rotation", "Stacking", "Voting")
    )
]


@pytest.mark.parametrize("estimator", OTHERS, ids=name_of)
def test_estimates_sum_to_the_decision(estimator):
    frame, signal = mixed_frame(80)
    model = clone(estimator).fit(frame, target_for(estimator, signal))
    explanation = model.explain(frame[:4], frame[20:30], n_permutations=4)
    assert explanation.method == "sampling" and not explanation.is_exact
    assert explanation.scale == ("probability" if is_classifier(estimator) else "target")
    assert explanation.standard_errors.shape == explanation.attributions.shape
    np.testing.assert_allclose(explanation.sums, votes_of(model, frame[:4]), rtol=0, atol=1e-6)


def test_estimates_agree_with_exact_values_within_their_errors():
    frame, signal = mixed_frame(200)
    model = committee.GradientBoostingClassifier(20, random_state=0).fit(frame, signal > 0)
    # As many pairs of permutations as background rows use each of them once.
    background = frame[100:120].reset_index(drop=True)
    found = model.explain(frame[:5], background, scale="prediction", n_permutations=400)
    assert found.scale == "probability" and found.attributions.shape == (5, 4, 2)
    for number in range(5):
        expected = interventional(model.predict_proba, frame[number : number + 1], background)
        error = np.abs(found.attributions[number] - expected)
        assert (error <= 5 * found.standard_errors[number] + 1e-12).all() and error.max() < 0.05


def test_a_sum_of_columns_has_no_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    stump = committee.DecisionStumpRegressor()
    model = committee.AdaBoostRegressor(n_estimators=1, estimator=stump, random_state=0).fit(X, X[:, 0])
    found = model.explain(X[:5], X[:1])
    assert found.attributions[:, 0].any() and (found.standard_errors < 1e-12).all()


def test_the_container_and_the_order_of_columns_make_no_difference():
    frame, signal = mixed_frame(80)
    model = committee.RotationForestRegressor(3, random_state=0).fit(frame, signal)
    expected = model.explain(frame[:3], frame[10:20], n_permutations=8).attributions
    polars = pl.from_pandas(frame)
    assert np.array_equal(model.explain(polars[:3], polars[10:20], n_permutations=8).attributions, expected)
    matrix = frame[["number", "count"]].to_numpy()
    model.fit(matrix, signal)
    first = model.explain(matrix[:3], matrix[10:20], n_permutations=8)
    again = model.explain(matrix[:3].tolist(), matrix[10:20].tolist(), n_permutations=8)
    assert np.array_equal(first.attributions, again.attributions)


def test_bad_arguments_are_errors():
    model = committee.DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 1.0])
    for arguments, message in (
        ({"scale": "logit"}, 'scale must be "auto" or "prediction"'),
        ({"n_permutations": 3}, "n_permutations must be an even integer >= 4. Got 3"),
        ({"random_state": -1}, "random_state must be an integer >= 0. Got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain([[1.0]], **arguments)
