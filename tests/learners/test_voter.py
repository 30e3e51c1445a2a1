"""The models of the engine: sums of trees, and the links that turn them into decisions."""

import pickle

import numpy as np
import pytest
from scipy.special import expit, softmax

from committee import DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor, _engine

LINKS = {"mean": 0, "identity": 1, "exponential": 2, "logistic": 3, "softmax": 4, "share": 5}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + RNG.normal(size=300)
COLUMNS = [np.ascontiguousarray(column) for column in X.T]


def booster(link, *, n_scores=1, turns=False, start=0.0, scale=1.0):
    """Return a booster that adds the trees of a regression forest."""
    arrays = _engine.forest_arrays(RandomForestRegressor(6, max_depth=3, random_state=0).fit(X, Y)._forest)
    is_classifier = link not in ("identity", "exponential")
    return _engine.forest_from_arrays(
        {
            **arrays,
            "n_outputs": np.array([2 if link == "logistic" else n_scores], dtype=np.uint64),
            "is_classifier": np.array([is_classifier], dtype=np.uint8),
            "n_scores": np.array([n_scores], dtype=np.uint64),
            "turns": np.array([turns], dtype=np.uint8),
            "start": np.full(n_scores, start),
            "link": np.array([LINKS[link]], dtype=np.uint8),
            "scale": np.array([scale]),
            "values": abs(arrays["values"]) if link == "share" else arrays["values"],
        }
    )


def test_a_booster_adds_its_trees_to_the_start():
    model = booster("identity", start=0.5)
    votes = model.votes(COLUMNS, 300, 2)
    np.testing.assert_allclose(model.predict(COLUMNS, 300, "mean", 2), 0.5 + votes.sum(axis=0))
    np.testing.assert_array_equal(model.scores(COLUMNS, 300, 0, 6, 1), model.predict_matrix(X, "mean", 2))
    np.testing.assert_allclose(model.scores(COLUMNS, 300, 2, 4, 1), votes[2:4].sum(axis=0))
    np.testing.assert_array_equal(model.scores(COLUMNS, 300, 0, 0, 1), 0.5)


def test_trees_alternate_between_the_classes():
    model = booster("softmax", n_scores=3, turns=True, scale=0.5)
    votes = model.votes(COLUMNS, 300, 1)[..., 0]
    expected = (votes[:3] + votes[3:]).T
    np.testing.assert_allclose(model.scores(COLUMNS, 300, 0, 6, 2), expected)
    np.testing.assert_allclose(model.predict(COLUMNS, 300, "mean", 2), softmax(expected / 2, axis=1))


def test_the_last_stage_is_the_sum_of_all_trees():
    model = booster("softmax", n_scores=2, turns=True, start=0.25)
    stages = model.staged_scores(COLUMNS, 300, 0, 6, 4, None, 2)
    assert stages.shape == (2, 300, 2)
    np.testing.assert_array_equal(stages[0], model.scores(COLUMNS, 300, 0, 4, 1))
    np.testing.assert_array_equal(stages[1], model.scores(COLUMNS, 300, 0, 6, 1))
    np.testing.assert_array_equal(model.staged_scores(COLUMNS, 300, 4, 6, 2, stages[0], 2)[0], stages[1])


@pytest.mark.parametrize("link", [link for link in LINKS if link != "mean"])
def test_a_decision_is_the_link_of_the_scores(link):
    formulas = {
        "identity": lambda s: s,
        "exponential": lambda s: np.exp(s),
        "logistic": lambda s: np.column_stack([expit(-s), expit(s)]),
        "softmax": lambda s: softmax(s, axis=1),
        "share": lambda s: s / s.sum(axis=1, keepdims=True),
    }
    n_scores = 2 if link in ("softmax", "share") else 1
    model = booster(link, n_scores=n_scores, turns=n_scores > 1, start=0.125)
    scores = model.scores(COLUMNS, 300, 0, 6, 1)
    np.testing.assert_allclose(model.link(scores), formulas[link](scores))
    np.testing.assert_array_equal(model.link(scores), model.predict(COLUMNS, 300, "mean", 1))
    np.testing.assert_array_equal(model.predict_matrix(X[7:8], "mean", 1), model.link(scores)[7:8])


def test_a_booster_is_pickled_split_and_joined():
    model = booster("logistic", start=0.5)
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict_matrix(X, "mean", 1), model.predict_matrix(X, "mean", 1))
    first, rest = _engine.take_trees(model, 0, 2), _engine.take_trees(model, 2, 6)
    joined = _engine.append_trees(first, rest)
    np.testing.assert_array_equal(joined.predict_matrix(X, "mean", 1), model.predict_matrix(X, "mean", 1))
    np.testing.assert_array_equal(rest.scores(COLUMNS, 300, 0, 4, 1), model.scores(COLUMNS, 300, 2, 6, 1))


def test_a_predictor_is_pickled_and_works_without_its_forest():
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y > 0)
    expected = forest.predict_proba(X)
    predictor = forest.predictor()
    del forest
    for each in (predictor, pickle.loads(pickle.dumps(predictor))):
        np.testing.assert_array_equal(each.predict_proba(X), expected)
        np.testing.assert_array_equal(each.predict_proba(X[3:4]), expected[3:4])


def test_arguments_that_do_not_fit_a_booster_raise():
    model, turning = booster("logistic"), booster("softmax", n_scores=2, turns=True)
    with pytest.raises(ValueError, match="majority"):
        model.predict_matrix(X, "majority", 1)
    with pytest.raises(ValueError, match="1 scores per row"):
        model.link(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"\[2, 7\) are not among the 6"):
        model.scores(COLUMNS, 300, 2, 7, 1)
    with pytest.raises(ValueError, match="at least one tree"):
        model.staged_scores(COLUMNS, 300, 0, 6, 0, None, 1)
    with pytest.raises(ValueError, match=r"must be of shape \(300, 1\)"):
        model.staged_scores(COLUMNS, 300, 0, 6, 2, np.zeros((300, 2)), 1)
    with pytest.raises(ValueError, match="differ"):
        _engine.append_trees(model, turning)
    with pytest.raises(ValueError, match="is not the first tree of a round"):
        _engine.take_trees(turning, 1, 4)
    with pytest.raises(ValueError, match="middle of a round"):
        _engine.append_trees(_engine.take_trees(turning, 0, 1), turning)


def test_the_scores_of_a_forest_are_the_sums_of_its_votes():
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y > 0)
    scores = forest._forest.scores(COLUMNS, 300, 0, 5, 1)
    np.testing.assert_array_equal(forest._forest.link(scores), forest.predict_proba(X))
    np.testing.assert_array_equal(scores / 5, forest.predict_proba(X))
    tree = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    assert tree._forest.n_scores == 1
