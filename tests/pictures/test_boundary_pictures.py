"""Pictures of the plane show the decisions of the models."""

import numpy as np
import pandas as pd
import pytest
from chart_data import title_of, values_of, words_of
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionStumpClassifier,
    DecisionTreeClassifier,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    RegionSelectionClassifier,
    pictures,
)

X, Y = make_moons(60, noise=0.3, random_state=0)
NAMED = pd.DataFrame(X, columns=["width", "length"])
LABELS = np.array(["no", "yes"])[Y]


def panels_of(chart):
    return chart.to_dict()["concat"]


def code_at(panel, point):
    """Return the code of the rectangle around a point."""
    x, y = point
    boxes = values_of(panel, "rect")
    codes = [b["code"] for b in boxes if b["x"] <= x < b["x2"] and b["y"] <= y < b["y2"]]
    assert len(codes) == 1
    return codes[0]


def cell_center(panel, point):
    """Return the center of the cell of the grid around a point."""
    edges = []
    for axis, low, high in ((0, "x", "x2"), (1, "y", "y2")):
        boxes = values_of(panel, "rect")
        begin, end = min(b[low] for b in boxes), max(b[high] for b in boxes)
        width = (end - begin) / 90
        edges.append(begin + (np.floor((point[axis] - begin) / width) + 0.5) * width)
    return np.array([edges])


def test_each_panel_shows_the_decisions_of_its_member_and_the_last_one_those_of_the_committee():
    model = BaggingClassifier(DecisionTreeClassifier(), n_estimators=9, random_state=0).fit(X, Y)
    shown = panels_of(pictures.decision_boundaries(model, X, Y, n_members=2))
    assert len(shown) == 3
    for panel, decider in zip(shown, [*model.estimators_[:2], model], strict=True):
        for point in X[:10]:
            assert code_at(panel, point) == decider.predict(cell_center(panel, point))[0]
    assert shown[-1]["title"]["text"] == "committee of 9"


def test_frames_and_text_labels_give_the_same_fields_as_arrays():
    plain = BaggingClassifier(DecisionTreeClassifier(), n_estimators=3, random_state=0).fit(X, Y)
    named = BaggingClassifier(DecisionTreeClassifier(), n_estimators=3, random_state=0).fit(NAMED, LABELS)
    first, second = (
        pictures.decision_boundaries(model, *given)
        for model, given in ((plain, (X, Y)), (named, (NAMED, LABELS)))
    )
    assert values_of(first, "rect") == values_of(second, "rect")
    assert title_of(second)[1].startswith("width to the right, length upwards")


def test_adaboost_shows_the_weights_errors_and_votes_of_each_round():
    shown = panels_of(pictures.adaboost_rounds(X, Y, learning_rates=[0.5], n_rounds=3, random_state=0))
    booster = AdaBoostClassifier(
        DecisionStumpClassifier(), n_estimators=3, learning_rate=0.5, store_weights=True, random_state=0
    ).fit(X, Y)
    assert len(shown) == 6
    for place, member in enumerate(booster.estimators_):
        points = values_of(shown[place], "point")
        weights = booster.row_weights_[place]
        np.testing.assert_allclose([each["weight"] for each in points], weights / weights.mean())
        np.testing.assert_array_equal([each["is_wrong"] for each in points], member.predict(X) != Y)
        error, alpha = booster.estimator_errors_[place], booster.estimator_weights_[place]
        assert shown[place]["title"]["subtitle"] == f"error {error:.2f}, α {alpha:.2f}"
    wrong = [each["is_wrong"] for each in values_of(shown[5], "point")]
    np.testing.assert_array_equal(wrong, booster.predict(X) != Y)


def test_regions_show_the_member_that_decides():
    members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3))]
    model = RegionSelectionClassifier(members, n_regions=4, random_state=0).fit(NAMED, LABELS)
    chart = pictures.selection_regions(model, NAMED, LABELS)
    names = [name for name, _ in members]
    assert set(words_of(chart)) == {names[member] for member in model.rule_.members_}
    panel = chart.to_dict()
    for point in X[:10]:
        assert code_at(panel, point) == model.rule_.region(cell_center(panel, point))[0]


def test_the_gate_of_two_columns_shows_the_expert_with_the_largest_share():
    model = MixtureOfExpertsClassifier(n_experts=2, random_state=0).fit(X, Y)
    panel = pictures.gate(model, X, Y).to_dict()
    for point in X[:10]:
        assert code_at(panel, point) // 5 == model.gate(cell_center(panel, point)).argmax()


def test_the_rows_of_a_regression_have_one_colour():
    target = X.sum(axis=1)
    model = MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(X, target)
    assert {each["class"] for each in values_of(pictures.gate(model, X, target), "point")} == {"0"}


def test_the_gate_of_one_column_shows_shares_that_sum_to_one():
    model = MixtureOfExpertsRegressor(n_experts=3, random_state=0).fit(X[:, :1], X[:, 1])
    lines = values_of(pictures.gate(model, X[:, :1], Y), "line")
    shares = np.array([each["y"] for each in lines]).reshape(3, -1)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    at = np.array([[each["x"]] for each in lines[: shares.shape[1]]])
    np.testing.assert_allclose(shares, model.gate(at).T)


def test_other_models_and_tables_are_errors():
    with pytest.raises(ValueError, match=r"two columns of finite numbers.* Got 3 columns\."):
        pictures.adaboost_rounds(np.zeros((4, 3)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"a fitted RegionSelectionClassifier\. Got LogisticRegression\."):
        pictures.selection_regions(LogisticRegression(), X, Y)
    with pytest.raises(ValueError, match=r"a fitted mixture of experts\. Got LogisticRegression\."):
        pictures.gate(LogisticRegression(), X, Y)
