"""Test measures of diversity: examples of Kuncheva and Whitaker 2003 by hand, limits and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from committee import DecisionTreeClassifier, VotingClassifier, diversity
from committee.rules import one_hot

ALL = [name for name in diversity.__all__ if name not in ("average", "summary", "kappa")]
PAIRS = ["q_statistic", "correlation", "disagreement", "double_fault"]
TOGETHER = [name for name in ALL if name not in PAIRS]

# Three members of accuracy 0.6 on ten rows, from Kuncheva and Whitaker. 1 means that the member is right.
# The majority is right on 9 rows of SUCCESS and on 4 rows of FAILURE.
SUCCESS = ["110", "110", "110", "101", "101", "101", "011", "011", "011", "000"]
FAILURE = ["111", "111", "111", "111", "100", "100", "010", "010", "001", "001"]
IDENTICAL = ["111"] * 6 + ["000"] * 4


def rights(rows):
    return np.array([[int(each) for each in row] for row in rows]).T


def committees(n_classes=3, most_members=5):
    """Generate labels of members, y and small integer weights."""

    def of_shape(shape):
        n_members, n_rows = shape
        labels = st.integers(0, n_classes - 1)
        return st.tuples(
            arrays(np.int64, (n_members, n_rows), elements=labels),
            arrays(np.int64, n_rows, elements=labels),
            arrays(np.int64, n_rows, elements=st.integers(1, 3)),
        )

    return st.tuples(st.integers(2, most_members), st.integers(1, 8)).flatmap(of_shape)


def same(left, right):
    np.testing.assert_allclose(left, right, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # N11, N10, N01 and N00 are 3, 3, 3 and 1 for each pair of SUCCESS, and 4, 2, 2 and 2 for FAILURE.
        (
            SUCCESS,
            {
                "q_statistic": (3 * 1 - 3 * 3) / (3 * 1 + 3 * 3),
                "correlation": (3 * 1 - 3 * 3) / 24,
                "disagreement": 0.6,
                "double_fault": 0.1,
                "entropy": 0.9,
                "kohavi_wolpert": 0.2,
                "interrater_agreement": -0.25,
                "difficulty": 0.9 * (2 / 3) ** 2 - 0.6**2,
                "generalised_diversity": 1 - 0.1 / 0.4,
                "coincident_failure": 0.9,
            },
        ),
        (
            FAILURE,
            {
                "q_statistic": (4 * 2 - 2 * 2) / (4 * 2 + 2 * 2),
                "correlation": (4 * 2 - 2 * 2) / 24,
                "disagreement": 0.4,
                "double_fault": 0.2,
                "entropy": 0.6,
                "kohavi_wolpert": 0.4 / 3,
                "interrater_agreement": 1 - 0.4 / (2 * 0.6 * 0.4),
                "difficulty": 0.4 + 0.6 / 9 - 0.6**2,
                "generalised_diversity": 1 - 0.2 / 0.4,
                "coincident_failure": 0.5,
            },
        ),
        (
            IDENTICAL,
            {
                "q_statistic": 1,
                "correlation": 1,
                "disagreement": 0,
                "double_fault": 0.4,
                "entropy": 0,
                "kohavi_wolpert": 0,
                "interrater_agreement": 1,
                "difficulty": 0.6 * 0.4,
                "generalised_diversity": 0,
                "coincident_failure": 0,
            },
        ),
    ],
)
def test_measures_equal_those_computed_by_hand(rows, expected):
    found = diversity.summary(rights(rows), np.ones(10, dtype=int))
    # All accuracies are 0.6. So with right and wrong as labels, kappa equals the interrater agreement.
    assert found.pop("kappa") == pytest.approx(expected["interrater_agreement"])
    assert found == pytest.approx(expected)


def test_measures_of_a_pair_by_hand():
    # N11 = 4, N10 = 3, N01 = 2, N00 = 1.
    votes = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], [4, 3, 2, 1], axis=1)
    truth = np.ones(10, dtype=int)
    assert diversity.q_statistic(votes, truth)[0, 1] == pytest.approx((4 - 6) / (4 + 6))
    assert diversity.correlation(votes, truth)[0, 1] == pytest.approx((4 - 6) / np.sqrt(7 * 3 * 6 * 4))
    assert diversity.disagreement(votes, truth)[0, 1] == pytest.approx(0.5)
    assert diversity.double_fault(votes, truth)[0, 1] == pytest.approx(0.1)
    assert diversity.kappa(votes)[0, 1] == pytest.approx(2 * (4 - 6) / (7 * 4 + 6 * 3))


@given(committees())
def test_kappa_equals_that_of_scikit_learn(case):
    labels, _, weights = case
    found = diversity.kappa(labels, sample_weight=weights)
    for first, second in np.ndindex(found.shape):
        if len(np.unique(labels[[first, second]])) > 1:
            expected = cohen_kappa_score(labels[first], labels[second], sample_weight=weights)
            assert found[first, second] == pytest.approx(expected)
        else:
            assert np.isnan(found[first, second])


@given(committees())
def test_measures_are_within_their_limits(case):
    labels, y, weights = case
    n_members = len(labels)
    accuracy = np.average((labels == y).mean(axis=0), weights=weights)
    limits = {
        "q_statistic": (-1, 1),
        "correlation": (-1, 1),
        "disagreement": (0, 1),
        "double_fault": (0, 1),
        "entropy": (0, 1),
        "kohavi_wolpert": (0, 1 / 4),
        "interrater_agreement": (-1 / (n_members - 1), 1),
        "difficulty": (0, accuracy * (1 - accuracy)),
        "generalised_diversity": (0, 1),
        "coincident_failure": (0, 1),
        "kappa": (-1, 1),
    }
    for name, value in diversity.summary(labels, y, sample_weight=weights).items():
        low, high = limits[name]
        assert np.isnan(value) or low - 1e-9 <= value <= high + 1e-9, name


@given(committees())
def test_measures_are_related_as_kuncheva_and_whitaker_prove(case):
    labels, y, weights = case
    found = diversity.summary(labels, y, sample_weight=weights)
    n_members = len(labels)
    accuracy = np.average((labels == y).mean(axis=0), weights=weights)
    chance = accuracy * (1 - accuracy)
    same(found["kohavi_wolpert"], (n_members - 1) / (2 * n_members) * found["disagreement"])
    # The variance of being right is the sum of the variance over rows and the variance over members.
    same(found["difficulty"] + found["kohavi_wolpert"], chance)
    if chance > 1e-9:
        same(found["interrater_agreement"], 1 - found["disagreement"] / (2 * chance))


@given(committees())
def test_q_has_the_sign_of_the_correlation_and_at_least_its_absolute_value(case):
    labels, y, weights = case
    q = diversity.q_statistic(labels, y, sample_weight=weights)
    correlation = diversity.correlation(labels, y, sample_weight=weights)
    known = ~np.isnan(q) & ~np.isnan(correlation)
    same(np.sign(q[known]), np.sign(correlation[known].round(12)))
    assert (np.abs(q[known]) >= np.abs(correlation[known]) - 1e-9).all()


@settings(max_examples=50)
@given(committees(), st.randoms(use_true_random=False))
def test_measures_do_not_depend_on_the_order_of_members_rows_and_classes(case, shuffling):
    labels, y, weights = case
    members, rows, classes = (list(range(n)) for n in (*labels.shape, 3))
    for each in (members, rows, classes):
        shuffling.shuffle(each)
    names = np.array(["a", "b", "c"])[classes]
    before = diversity.summary(labels, y, sample_weight=weights)
    after = diversity.summary(names[labels[members][:, rows]], names[y[rows]], sample_weight=weights[rows])
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, atol=1e-9, err_msg=name)


@settings(max_examples=50)
@given(committees())
def test_integer_weights_equal_repetitions_of_rows(case):
    labels, y, weights = case
    rows = np.repeat(np.arange(len(y)), weights)
    weighed = diversity.summary(labels, y, sample_weight=weights)
    for name, value in diversity.summary(labels[:, rows], y[rows]).items():
        np.testing.assert_allclose(weighed[name], value, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ALL)
def test_probabilities_count_as_votes_for_the_most_probable_class(name):
    labels = np.random.default_rng(0).integers(3, size=(4, 20))
    y = np.random.default_rng(1).integers(3, size=20)
    measure = getattr(diversity, name)
    np.testing.assert_array_equal(measure(one_hot(labels, 3) * 0.8 + 0.1, y), measure(labels, y))


@pytest.mark.parametrize("name", [*ALL, "summary"])
def test_y_may_have_labels_if_classes_is_passed(name):
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], (4, 20))
    y = np.random.default_rng(1).integers(3, size=20)
    measure, classes = getattr(diversity, name), np.array(["c", "a", "b"])
    np.testing.assert_equal(measure(votes, classes[y], classes=classes), measure(votes, y))


@pytest.mark.parametrize("name", PAIRS)
def test_measures_of_pairs_are_symmetric(name):
    labels = np.random.default_rng(0).integers(3, size=(4, 20))
    matrix = getattr(diversity, name)(labels, np.random.default_rng(1).integers(3, size=20))
    assert matrix.shape == (4, 4)
    np.testing.assert_array_equal(matrix, matrix.T)


def test_members_that_are_wrong_on_different_rows_have_the_highest_diversity():
    votes = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    found = diversity.summary(votes, [1, 1, 1])
    assert found["q_statistic"] == -1
    assert found["generalised_diversity"] == found["coincident_failure"] == found["entropy"] == 1
    assert found["difficulty"] == found["double_fault"] == 0


def test_undefined_values_are_nan_and_ignored_in_the_average():
    found = diversity.summary([[1, 1], [1, 1]], [1, 1])
    unknown = {name for name, value in found.items() if np.isnan(value)}
    assert unknown == {"q_statistic", "correlation", "kappa", "interrater_agreement", "generalised_diversity"}
    assert found["coincident_failure"] == 0
    assert diversity.average([[1, np.nan, 0.5], [np.nan, 1, np.nan], [0.5, np.nan, 1]]) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], [0, 1]), "votes must have at least 2 members. Got 1."),
        (([[[0.5], [0.1]], [[0.5], [0.1]]], [0, 1]), "votes must be for classes"),
        (([[0, 1], [0, 1]], [0]), "y must have one value for each of the 2 rows"),
        (([0, 1], [0, 1]), r"votes must have the shape \(n_members, n_rows, n_outputs\)"),
        (([[0, 1], [0]], [0, 1]), "votes must have the same rows and outputs for every member."),
        (
            ([[[0.5, 0.5]], [[np.nan] * 2]], [0]),
            "The vote of member 1 on row 0 is NaN, .* Pass only rows with the votes of all",
        ),
    ],
)
def test_invalid_votes_raise_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        diversity.entropy(*arguments)


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([[0, 1]], "votes must have at least 2 members. Got 1."),
        ([0, 1], r"votes must have the shape \(n_members, n_rows, n_outputs\)"),
        ([[], []], "votes must have at least one row"),
        ([[[0.5]], [[0.5]]], "votes must be for classes"),
        ([[0.0, 1.0], [0.0, np.nan]], "The vote of member 1 on row 1 is NaN"),
    ],
)
def test_invalid_labels_raise_an_error(votes, message):
    with pytest.raises(ValueError, match=message):
        diversity.kappa(votes)


def test_an_average_needs_a_square_matrix():
    with pytest.raises(
        ValueError, match=r"matrix must have the shape \(n_members, n_members\). Got \(2, 1\)"
    ):
        diversity.average([[1], [2]])


def test_a_fitted_committee_is_measured_by_its_honest_votes():
    X, codes = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[codes]
    members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    voting = VotingClassifier(members, cv=TimeSeriesSplit(4)).fit(X[::-1], y[::-1])
    expected = diversity.summary(voting.honest_votes_, y[::-1][voting.honest_rows_], classes=voting.classes_)
    assert diversity.summary(voting, y[::-1]) == expected
    with pytest.raises(AttributeError, match="fitted without honest votes"):
        diversity.summary(VotingClassifier(members).fit(X, y), y)
