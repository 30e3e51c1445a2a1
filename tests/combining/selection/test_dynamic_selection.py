"""Test dynamic selection against a reference implementation for one row and one member at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committee
from committee.combining.selection import competence_data, dynamic_selection
from committee.combining.selection.competence import METHODS, REGRESSION_METHODS, SURE, meta_features
from committee.combining.selection.competence_data import Query, in_tenths
from committee.rules import DynamicRule, one_hot
from committee.votes import vote_arrays as votes_module

SLOW = (
    "ola",
    "lca",
    "mcb",
    "a_priori",
    "a_posteriori",
    "knora_e",
    "knora_u",
    "des_p",
    "des_kl",
    "knop",
    "des_knn",
)
every_method = pytest.mark.parametrize("method", METHODS)


def some_table(n_members=4, n_rows=50, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    y = rng.integers(0, n_classes, n_rows)
    scores = 1.2 * one_hot(y, n_classes) + rng.normal(size=(n_members, n_rows, n_classes))
    return X, y, np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)


def slow_competence(method, X, y, votes, weights, x, vote, n_neighbours, has_voted):
    """Compute the competence of each member on one row by the table in the docstring of DynamicRule."""
    n_members, n_rows, n_classes = votes.shape
    known = [row for row in range(n_rows) if weights[row] > 0]
    if method == "knop":
        distances = {row: np.linalg.norm(votes[:, row] - vote) for row in known}
    else:
        distances = {row: np.linalg.norm(X[row] - x) for row in known}
    near = sorted(known, key=distances.get)[:n_neighbours]
    if method == "mcb":
        same = {
            row: np.mean(
                [votes[m, row].argmax() == vote[m].argmax() for m in range(n_members) if has_voted[m, row]]
                or [0]
            )
            for row in near
        }
        near = [row for row in near if same[row] > 0.7] or near
    competence = []
    for m in range(n_members):
        right = {row: votes[m, row].argmax() == y[row] for row in known}
        mine = [row for row in near if has_voted[m, row]]
        if method in ("lca", "a_posteriori"):
            mine = [row for row in mine if y[row] == vote[m].argmax()]
        if method in ("ola", "lca", "mcb", "des_p", "des_knn"):
            parts = [(weights[row], right[row]) for row in mine]
        elif method in ("a_priori", "a_posteriori"):
            parts = [(weights[row] / distances[row], votes[m, row, y[row]]) for row in mine]
        elif method == "des_kl":
            parts = []
            for row in [row for row in known if has_voted[m, row]]:
                divergence = sum(p * math.log(p * n_classes, n_classes) for p in votes[m, row])
                weight = weights[row] * math.exp(-(distances[row] ** 2))
                parts.append((weight, divergence if right[row] else -divergence))
        elif method == "knora_e":
            competence.append(next((i for i, row in enumerate(mine) if not right[row]), len(mine)))
            continue
        else:
            parts = [(weights[row], right[row]) for row in mine]
        total = sum(weight for weight, _ in parts)
        mean = sum(weight * value for weight, value in parts) / total if parts else 0.0
        competence.append(mean * sum(weights[row] for row in near) if method in ("knora_u", "knop") else mean)
    return np.array(competence, dtype=float)


def slow_shares(method, competence, n_classes):
    highest = competence.max()
    chosen = {
        "ola": np.arange(len(competence)) == competence.argmax(),
        "lca": np.arange(len(competence)) == competence.argmax(),
        "mcb": highest - competence < 0.1,
        "a_priori": highest - competence < 0.1,
        "a_posteriori": highest - competence < 0.1,
        "knora_e": (competence == highest) & (highest > 0),
        "knora_u": competence,
        "knop": competence,
        "des_p": competence > 1 / n_classes,
        "des_kl": competence > 0,
    }[method].astype(float)
    return chosen / chosen.sum() if chosen.any() else np.full(len(competence), 1 / len(competence))


@pytest.mark.parametrize("have_all_voted", [True, False])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("method", SLOW)
def test_selection_agrees_with_the_reference_implementation(method, is_weighted, have_all_voted):
    X, y, votes = some_table()
    has_voted = np.random.default_rng(3).random((4, 50)) < (1 if have_all_voted else 0.4)
    weights = np.random.default_rng(1).integers(0, 3, 50) if is_weighted else np.ones(50)
    new_X, _, new_votes = some_table(n_rows=30, seed=2)
    rule = DynamicRule(method=method, n_neighbours=None if method == "des_kl" else 5, scale=False)
    rule.fit(votes, y, X, sample_weight=weights, has_voted=has_voted)
    shares, competence = rule.selected(new_votes, new_X)
    decision = rule.combine(new_votes, new_X)
    for row in range(30):
        slow = slow_competence(method, X, y, votes, weights, new_X[row], new_votes[:, row], 5, has_voted)
        np.testing.assert_allclose(competence[row], slow)
        if method != "des_knn":
            np.testing.assert_allclose(shares[row], slow_shares(method, slow, 3))
        np.testing.assert_allclose(decision[row], shares[row] @ new_votes[:, row])


def test_des_knn_selects_accurate_members_with_few_common_errors():
    # There are five neighbours. Members 0 to 3 are correct on 4, 3, 3 and 1 of them.
    right = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 1]])
    votes = one_hot(1 - right, 2)
    rule = DynamicRule(method="des_knn", n_neighbours=5).fit(votes, np.zeros(5, int), np.arange(5.0)[:, None])
    shares, accuracy = rule.selected(votes[:, :1], [[2.0]])
    np.testing.assert_allclose(accuracy, [[0.8, 0.6, 0.6, 0.2]])
    # The better half consists of members 0 and 1, and 30 % of 4 members are rounded up to 2.
    np.testing.assert_allclose(shares, [[0.5, 0.5, 0, 0]])


def test_the_source_of_des_rrc_is_the_probability_that_a_randomised_classifier_is_correct():
    supports = np.array([[0.3, 0.6, 0.1]])
    source = competence_data.randomised_reference(supports[None], np.array([1]))
    # The expected value is the output of the authors' program for 20 points.
    np.testing.assert_allclose(source, [[0.784953394056843]], atol=1e-7)
    drawn = np.random.default_rng(0).beta(3 * supports, 3 * (1 - supports), size=(100_000, 3))
    np.testing.assert_allclose(source, np.mean(drawn.argmax(axis=1) == 1), atol=0.005)


@pytest.mark.parametrize("n_neighbours", [7, 26, 40])
def test_a_feature_of_meta_des_is_the_accuracy_on_all_neighbours(n_neighbours):
    X, y, votes = some_table(n_rows=60)
    votes[0] = one_hot(y, 3)
    rule = DynamicRule(method="meta_des", n_neighbours=n_neighbours).fit(votes, y, X)
    _, near = rule._nearest.find(rule.points_, n_neighbours)
    query = Query(rule.labels_, rule.confidence_, near, np.empty((0, 0)), near[:, :5])
    tenths = meta_features(rule._known, query).reshape(60, 4, -1)[:, :, 2 * n_neighbours]
    is_right = y[:, None] == votes.argmax(axis=2).T
    np.testing.assert_array_equal(tenths, in_tenths(is_right[near].mean(axis=1)))


def test_meta_des_prefers_a_member_that_is_always_correct():
    X, y, votes = some_table(n_rows=120)
    votes[0] = 0.9 * one_hot(y, 3) + 0.1 / 3
    rule = DynamicRule(method="meta_des").fit(votes, y, X)
    _, competence = rule.selected(votes, X)
    assert (competence.mean(axis=0)[0] > competence.mean(axis=0)[1:] + 0.2).all()


def test_meta_des_is_fitted_without_substitutes_for_votes():
    X, y, _ = some_table()
    has_voted = np.random.default_rng(1).random((4, 50)) < 0.5
    votes = one_hot(np.where(has_voted, y, (y + 1) % 3), 3)
    rule = DynamicRule(method="meta_des")
    assert rule.fit(votes, y, X).meta_intercept_ < 1
    # All votes of the members themselves are correct.
    assert rule.fit(votes, y, X, has_voted=has_voted).meta_intercept_ == SURE


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if not method.looks_at_votes])
def test_substitutes_for_votes_have_no_effect(method):
    X, y, votes = some_table(n_members=8)
    has_voted = np.random.default_rng(1).random((8, 50)) < 0.4
    others = np.where(has_voted[:, :, None], votes, some_table(n_members=8, seed=1)[2])
    rules = [DynamicRule(method=method).fit(each, y, X, has_voted=has_voted) for each in (votes, others)]
    for one, other in zip(*(rule.selected(votes, X) for rule in rules), strict=True):
        np.testing.assert_array_equal(one, other)
    with_substitutes = DynamicRule(method=method).fit(votes, y, X).selected(votes, X)
    assert np.abs(rules[0].selected(votes, X)[0] - with_substitutes[0]).max() > 0.1


@every_method
def test_a_block_with_only_rows_of_weight_zero_has_no_effect(method, monkeypatch):
    X, y, votes = some_table()
    monkeypatch.setattr(votes_module, "BLOCK_SIZE", 120)  # Blocks have ten rows.
    weights = np.where(np.arange(50) < 20, 0, 1)
    weighted = DynamicRule(method=method).fit(votes, y, X, weights).combine(votes, X)
    there = DynamicRule(method=method).fit(votes[:, 20:], y[20:], X[20:]).combine(votes, X)
    np.testing.assert_allclose(weighted, there)


@every_method
def test_a_rule_with_has_voted_can_be_saved_and_loaded(method, tmp_path):
    X, y, votes = some_table()
    has_voted = np.random.default_rng(1).random((4, 50)) < 0.4
    rule = DynamicRule(method=method).fit(votes, y, X, has_voted=has_voted)
    rule.save(tmp_path / "rule.committee")
    loaded = committee.load(tmp_path / "rule.committee")
    np.testing.assert_array_equal(loaded.combine(votes, X), rule.combine(votes, X))


@every_method
def test_all_members_have_voted_by_default(method):
    X, y, votes = some_table()
    rules = [DynamicRule(method=method).fit(votes, y, X, has_voted=each) for each in (None, np.ones((4, 50)))]
    np.testing.assert_array_equal(rules[0].combine(votes, X), rules[1].combine(votes, X))


@pytest.mark.parametrize("method", [name for name in METHODS if name != "meta_des"])
def test_a_perfect_member_has_the_highest_competence(method):
    X, y, votes = some_table()
    votes[2] = one_hot(y, 3)
    rule = DynamicRule(method=method).fit(votes, y, X)
    shares, competence = rule.selected(votes, X)
    np.testing.assert_allclose(competence[:, 2], competence.max(axis=1))
    # These methods select only the first of several equal members.
    assert method in ("ola", "lca", "des_knn") or (shares[:, 2] > 0).all()


@every_method
def test_hard_voting_counts_classes(method):
    X, y, votes = some_table()
    rule = DynamicRule(method=method, voting="hard").fit(votes, y, X)
    shares, _ = rule.selected(votes, X)
    crisp = one_hot(votes.argmax(axis=2), 3)
    np.testing.assert_allclose(rule.combine(votes, X), np.einsum("rm,mrj->rj", shares, crisp))


@every_method
def test_decisions_do_not_depend_on_blocks(method, monkeypatch):
    X, y, votes = some_table()
    rule = DynamicRule(method=method).fit(votes, y, X)
    together = rule.combine(votes, X)
    for row in (0, 17):
        alone = rule.combine(votes[:, row : row + 1], X[row : row + 1])
        np.testing.assert_allclose(alone[0], together[row])
    monkeypatch.setattr(dynamic_selection, "BLOCK_SIZE", 100)
    again = DynamicRule(method=method).fit(votes, y, X)
    np.testing.assert_allclose(again.combine(votes, X), together)


@every_method
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_members=st.integers(1, 5),
    n_rows=st.integers(2, 20),
    n_classes=st.integers(2, 4),
)
def test_decisions_sum_to_one_and_do_not_depend_on_row_order(method, seed, n_members, n_rows, n_classes):
    X, y, votes = some_table(n_members, n_rows, n_classes, seed)
    rule = DynamicRule(method=method, n_neighbours=3).fit(votes, y, X)
    decision = rule.combine(votes, X)
    np.testing.assert_allclose(decision.sum(axis=1), 1)
    assert (decision >= 0).all()
    order = np.random.default_rng(seed).permutation(n_rows)
    shuffled = DynamicRule(method=method, n_neighbours=3).fit(votes[:, order], y[order], X[order])
    np.testing.assert_allclose(shuffled.combine(votes, X), decision, atol=1e-6)


@pytest.mark.parametrize("method", REGRESSION_METHODS)
def test_the_member_that_is_correct_nearby_decides_in_regression(method):
    X = np.linspace(-1, 1, 80)[:, None]
    y = 2 * X[:, 0]
    left, right = np.where(X[:, 0] < 0, y, y + 3), np.where(X[:, 0] > 0, y, y - 3)
    votes = np.array([left, right])[:, :, None]
    rule = DynamicRule(method=method, n_neighbours=3).fit(votes, y, X)
    shares, competence = rule.selected(votes, X)
    assert (shares[:30, 0] == 1).all()
    assert (shares[-30:, 1] == 1).all()
    assert (competence[:30, 0] == 0).all()
    np.testing.assert_allclose(rule.combine(votes, X)[[5, 70], 0], y[[5, 70]])


def test_competences_in_regression_are_negative_mean_squared_errors_on_neighbours():
    votes = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])[:, :, None]
    X, y = [[0.0], [1.0], [9.0]], [1.0, 1.0, 1.0]
    rule = DynamicRule(method="knora_u", n_neighbours=2, scale=False).fit(
        votes, y, X, sample_weight=[1, 3, 1]
    )
    shares, competence = rule.selected([[[1.0]], [[4.0]]], [[0.2]])
    np.testing.assert_allclose(competence, [[-0.75, -1.0]])
    np.testing.assert_allclose(shares, [[4 / 7, 3 / 7]])


@pytest.mark.parametrize("method", REGRESSION_METHODS)
def test_all_members_decide_in_regression_only_if_none_has_voted(method):
    X, y = [[0.0], [1.0], [8.0], [9.0]], [0.0, 1.0, 8.0, 9.0]
    votes = np.array([[0.1, 1.1, 8.1, 9.1], [0.0, 1.0, 8.0, 9.0]])[:, :, None]
    has_voted = [[True, True, False, False], [False, False, False, False]]
    rule = DynamicRule(method=method, n_neighbours=2, scale=False).fit(votes, y, X, has_voted=has_voted)
    shares, competence = rule.selected([[[0.5], [8.5]]] * 2, [[0.5], [8.5]])
    np.testing.assert_array_equal(shares, [[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_allclose(competence, [[-0.01, -np.inf], [-np.inf, -np.inf]])


@pytest.mark.parametrize("method", sorted(set(METHODS) - set(REGRESSION_METHODS)))
def test_methods_for_classes_refuse_regression(method):
    with pytest.raises(ValueError, match=r"Use one of ola, a_priori, knora_u, des_p, knop\."):
        DynamicRule(method=method).fit([[[1.0]]], [1.0], [[0.0]])


def test_knop_does_not_need_rows():
    _, y, votes = some_table()
    assert DynamicRule(method="knop").fit(votes, y).combine(votes).shape == (50, 3)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (None, "DynamicRule uses the columns of X. Pass X"),
        ([["a"]] * 50, "X must be a matrix of numbers"),
        ([[np.nan]] * 50, "X must be finite"),
        (np.zeros(50), "X must be a matrix of numbers"),
    ],
)
def test_invalid_rows_are_refused(X, message):
    _, y, votes = some_table()
    with pytest.raises(ValueError, match=message) as caught:
        DynamicRule().fit(votes, y, X)
    assert "\n" not in str(caught.value)


def test_other_columns_than_in_the_fit_are_refused():
    X, y, votes = some_table()
    with pytest.raises(ValueError, match=r"fitted on 2 columns\. Got 1"):
        DynamicRule().fit(votes, y, X).combine(votes, X[:, :1])


def test_meta_des_refuses_a_single_row():
    X, y, votes = some_table()
    with pytest.raises(ValueError, match=r"needs 2 rows\. Got 1\."):
        DynamicRule(method="meta_des").fit(votes[:, :1], y[:1], X[:1])


def test_meta_des_is_fitted_without_rows_that_no_member_has_voted_on(monkeypatch):
    X, y, votes = some_table()
    has_voted = np.repeat([[True, False]], 25, axis=1).repeat(4, axis=0)
    rule = DynamicRule(method="meta_des")
    together = rule.fit(votes, y, X, has_voted=has_voted).meta_coefficients_
    monkeypatch.setattr(dynamic_selection, "BLOCK_SIZE", 1)
    apart = rule.fit(votes, y, X, has_voted=has_voted).meta_coefficients_
    np.testing.assert_allclose(apart, together)
    with pytest.raises(ValueError, match=r"needs votes of members. Got has_voted without any."):
        rule.fit(votes, y, X, has_voted=np.zeros((4, 50)))


def test_decisions_with_scaling_do_not_depend_on_units():
    X, y, votes = some_table()
    in_other_units = X * [1000, 0.001] + 5
    plain = DynamicRule().fit(votes, y, X).combine(votes, X)
    np.testing.assert_allclose(
        DynamicRule().fit(votes, y, in_other_units).combine(votes, in_other_units), plain
    )
