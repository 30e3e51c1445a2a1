"""Pictures of boosting show the weights, errors and sums of each round."""

import numpy as np
import pytest
from chart_data import parts_of, title_of, values_of, words_of
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeRegressor

from committee import AdaBoostM1Classifier, pictures

X, Y = make_moons(14, noise=0.4, random_state=1)


def test_rectangles_are_the_weights_of_rows_and_crosses_their_errors():
    booster = AdaBoostM1Classifier(n_estimators=4, store_weights=True).fit(X, Y)
    chart = pictures.boosting_rounds(booster, X, Y)
    boxes = values_of(chart, "rect")
    n_rounds, n_rows = booster.row_weights_.shape
    assert len(boxes) == (n_rounds + 1) * n_rows
    about = {each["about"] for each in boxes}
    for place, member in enumerate(booster.estimators_):
        for row, label in enumerate(member.predict(X)):
            weight = f"weight {booster.row_weights_[place, row]:.3f}"
            end = ", misclassified" if label != Y[row] else ""
            assert f"round {place + 1}: row {row}, class {Y[row]}, {weight}{end}" in about
    heights = sum(box["y2"] - box["y"] for box in boxes) / (n_rounds + 1)
    assert 250 < heights <= 300
    n_wrong = sum("misclassified" in box["about"] for box in boxes)
    assert words_of(chart).count("×") == n_wrong
    assert f"vote {booster.estimator_weights_[0]:.2f}" in words_of(chart)


def test_without_stored_weights_the_error_names_the_parameter():
    with pytest.raises(ValueError, match=r"Fit AdaBoost with store_weights=True\."):
        pictures.boosting_rounds(AdaBoostM1Classifier(n_estimators=2).fit(X, Y), X, Y)


def test_the_panels_of_gradient_boosting_are_those_of_trees_fitted_to_residuals_by_hand():
    x = np.linspace(-0.5, 0.5, 60)
    y = 3 * x**2 + np.random.default_rng(0).normal(0, 0.05, 60)
    shown = pictures.gradient_boosting_rounds(x[:, None], y, n_rounds=2, learning_rate=0.5).to_dict()[
        "concat"
    ]
    assert len(shown) == 6
    total = np.full(60, y.mean())
    for place in range(2):
        residuals = y - total
        left, middle, right = shown[3 * place : 3 * place + 3]
        np.testing.assert_allclose([each["y"] for each in values_of(left, "circle")], residuals, atol=1e-6)
        tree = DecisionTreeRegressor(max_depth=2).fit(x[:, None], residuals)
        line = values_of(middle, "line")
        at = np.array([[each["x"]] for each in line])
        # Points near a row are on its side of the threshold.
        distances = np.abs(at - x)
        is_near = distances.min(axis=1) < 0.3 / 59
        by_hand = tree.predict(x[distances.argmin(axis=1), None])
        steps = np.array([each["y"] for each in line])
        assert is_near.sum() > 200
        np.testing.assert_allclose(steps[is_near], by_hand[is_near], atol=1e-5)
        total = total + 0.5 * tree.predict(x[:, None])
        rmse = np.sqrt(np.mean((y - total) ** 2))
        assert right["title"]["subtitle"] == f"RMSE {rmse:.3f}"
    assert len(list(parts_of(shown[0]))) == 1


def test_titles_say_what_to_see():
    chart = pictures.gradient_boosting_rounds(X[:, :1], X[:, 1], n_rounds=1)
    assert title_of(chart)[0] == "Each tree is fitted to what the sum of the previous ones leaves"
    with pytest.raises(ValueError, match=r"X must have one column of numbers.* Got shape \(14, 2\)\."):
        pictures.gradient_boosting_rounds(X, Y)
