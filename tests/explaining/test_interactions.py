"""Interaction values are exact, symmetric and sum to the attributions."""

import itertools
import math

import numpy as np
import pytest
from every_estimator import mixed_frame

import committee

MODELS = [
    committee.RandomForestRegressor(4, random_state=0),
    committee.GradientBoostingRegressor(10, random_state=0),
    committee.C45Classifier(min_samples_leaf=1),
    committee.AdaBoostClassifier(n_estimators=4, random_state=0),
    committee.VotingClassifier(
        [
            ("tree", committee.C45Classifier()),
            ("forest", committee.RandomForestClassifier(3, random_state=0)),
        ],
        columns={"tree": ["city", "number"]},
    ),
]


def pair_index(value, n_columns, first, second):
    """The Shapley interaction index of two columns, from its definition."""
    rest = [column for column in range(n_columns) if column not in (first, second)]
    total = 0.0
    for size in range(len(rest) + 1):
        weight = (
            math.factorial(size) * math.factorial(n_columns - size - 2) / (2 * math.factorial(n_columns - 1))
        )
        for each in itertools.combinations(rest, size):
            joint = (
                value({*each, first, second})
                - value({*each, first})
                - value({*each, second})
                + value({*each})
            )
            total = total + weight * joint
    return total


@pytest.mark.parametrize("estimator", MODELS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("n_background", [0, 3])
def test_interactions_are_symmetric_and_sum_to_the_attributions(estimator, n_background):
    frame, signal = mixed_frame(120)
    model = estimator.fit(frame, signal if "Regressor" in type(estimator).__name__ else signal > 0.5)
    background = frame[:n_background] if n_background else None
    explanation = model.explain(frame[:20], background, interactions=True)
    pairs = explanation.interactions
    np.testing.assert_allclose(pairs.sum(axis=2), explanation.attributions, atol=1e-12)
    np.testing.assert_allclose(pairs, np.swapaxes(pairs, 1, 2), atol=1e-12)
    assert np.array_equal(explanation.attributions, model.explain(frame[:20], background).attributions)
    assert len(explanation[:3].interactions) == 3


def test_interactions_are_the_index_of_their_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    model = committee.RandomForestRegressor(3, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    background = X[100:103]
    pairs = model.explain(X[:3], background, interactions=True).interactions
    for number, (first, second) in itertools.product(range(3), itertools.permutations(range(4), 2)):

        def value(coalition, number=number):
            mixed = background.copy()
            mixed[:, list(coalition)] = X[number, list(coalition)]
            return model.predict(mixed).mean()

        assert pairs[number, first, second] == pytest.approx(pair_index(value, 4, first, second), abs=1e-12)


def test_estimates_have_no_interactions():
    frame, signal = mixed_frame(60)
    model = committee.RotationForestRegressor(2, random_state=0).fit(frame, signal)
    with pytest.raises(ValueError, match="no exact interactions for this RotationForestRegressor"):
        model.explain(frame[:2], frame, interactions=True)
