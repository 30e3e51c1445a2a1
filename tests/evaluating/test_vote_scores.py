"""Test scores of decisions: results by hand, comparisons with scikit-learn, and invariants."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as peer

from committee.evaluating import score, score_interval
from committee.metrics import METRICS, metric_of

# Metrics that have a value for any three classes.
CLASS_METRICS = [
    "accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "neg_calibration_error",
    "roc_auc_ovr", "roc_auc_ovr_weighted",
]  # fmt: skip
FOUR = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
rng = np.random.default_rng(7)
MANY = rng.dirichlet([1.0, 1.0, 1.0], 60).round(2)
MANY /= MANY.sum(axis=1, keepdims=True)
Y = rng.integers(3, size=60)
WEIGHTS = rng.random(60)
TRUTH = np.eye(3)[Y]


def decisions(n_classes=3):
    """Generate decisions with ties, y and small integer weights."""

    def of_rows(n_rows):
        eighths = st.integers(0, 8).map(lambda n: n / 8)
        return st.tuples(
            arrays(np.float64, (n_rows, n_classes), elements=eighths),
            arrays(np.int64, n_rows, elements=st.integers(0, n_classes - 1)),
            arrays(np.int64, n_rows, elements=st.integers(1, 3)),
        )

    return st.integers(2, 9).flatmap(of_rows)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", 3 / 4),
        ("balanced_accuracy", (1 + 2 / 3) / 2),
        ("roc_auc", 1.0),
        ("neg_log_loss", np.log([0.9, 0.4, 0.8, 0.7]).mean()),
        ("neg_brier_score", -np.square([0.1, 0.6, 0.2, 0.3]).mean()),
        # Each row has its own bin. The confidences are 0.9, 0.6, 0.8 and 0.7, and the second row is wrong.
        ("neg_calibration_error", -(0.1 + 0.6 + 0.2 + 0.3) / 4),
    ],
)
def test_scores_of_four_rows_equal_those_computed_by_hand(metric, value):
    assert score([0, 1, 1, 1], FOUR, scoring=metric) == pytest.approx(value)


def test_calibration_error_compares_the_means_of_each_bin():
    # 0.75 and 0.79 are in the same bin (11/15, 12/15]. Its mean is 0.77, and half of its rows are right.
    assert score([0, 1], [[0.75, 0.25], [0.79, 0.21]], scoring="neg_calibration_error") == pytest.approx(
        0.5 - 0.77
    )


def test_equal_votes_count_half_in_the_area_under_the_curve():
    assert score(
        [0, 1, 1], [[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]], scoring="roc_auc_ovr_weighted"
    ) == pytest.approx(0.75)


def test_scorers_and_functions_are_metrics():
    scorer = peer.make_scorer(peer.fbeta_score, beta=2, average="macro")
    assert score(Y, MANY, scoring=scorer) == pytest.approx(
        peer.fbeta_score(Y, MANY.argmax(axis=1), beta=2, average="macro")
    )
    weights = rng.integers(0, 3, 60)
    by_weight = peer.fbeta_score(Y, MANY.argmax(axis=1), beta=2, average="macro", sample_weight=weights)
    assert score(Y, MANY, scoring=scorer, sample_weight=weights) == pytest.approx(by_weight)

    def highest(y, decision, weights):
        return decision.max() * weights.sum()

    assert score([0, 1, 1, 1], FOUR, scoring=highest) == pytest.approx(3.6)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_can_be_pickled(name):
    metric = metric_of(name, 1 if METRICS[name].task == "regression" else 2)
    again = pickle.loads(pickle.dumps(metric))
    assert (again.name, again.task, again.sign) == (metric.name, metric.task, metric.sign)


def test_y_and_decisions_may_be_labels_or_frames():
    y = pd.Series(["no", "yes", "yes", "yes"])
    assert score(y, FOUR, classes=["no", "yes"]) == 0.75
    assert score(y, FOUR[:, ::-1], scoring="roc_auc", classes=["yes", "no"]) == 1.0
    assert score(np.array([0, 1, 1, 1]), pd.DataFrame(FOUR)) == 0.75
    assert score(y, ["no", "no", "yes", "yes"]) == 0.75
    assert score(["no", "no"], ["no", "no"], scoring="balanced_accuracy") == 1.0
    assert score([1, 1], [1.0, 0.0], scoring="accuracy") == 0.5


def test_each_decision_of_a_stack_has_a_score():
    stack = np.stack([FOUR, FOUR[:, ::-1]])
    np.testing.assert_allclose(score([0, 1, 1, 1], stack), [0.75, 0.25])


def test_votes_are_divided_by_their_sum():
    assert score([0, 1, 1, 1], 5 * FOUR, scoring="neg_log_loss") == pytest.approx(
        score([0, 1, 1, 1], FOUR, scoring="neg_log_loss")
    )


def test_classes_without_rows_are_ignored():
    votes = np.column_stack([FOUR * 0.9, np.full(4, 0.1)])
    assert score([0, 1, 1, 1], votes, scoring="balanced_accuracy") == pytest.approx(5 / 6)
    assert score([0, 1, 1, 1], votes, scoring="roc_auc_ovr_weighted") == 1.0
    assert np.isnan(score([1, 1, 1, 1], votes, scoring="roc_auc_ovr_weighted"))


@given(decisions())
def test_integer_weights_equal_repetitions_of_rows(case):
    decision, y, weights = case
    rows = np.repeat(np.arange(len(y)), weights)
    for metric in CLASS_METRICS:
        weighed = score(y, decision, scoring=metric, sample_weight=weights)
        np.testing.assert_allclose(
            weighed, score(y[rows], decision[rows], scoring=metric), atol=1e-12, err_msg=metric
        )


@given(decisions(), st.permutations(range(3)))
def test_scores_of_probabilities_do_not_depend_on_the_order_of_classes(case, order):
    decision, y, weights = case
    order = np.array(order)
    for metric in ("roc_auc_ovr_weighted", "neg_log_loss", "neg_brier_score"):
        prepare = metric_of(metric, 3).prepare
        before = prepare(y, decision)(weights)
        after = prepare(order.argsort()[y], decision[:, order])(weights)
        np.testing.assert_allclose(after, before, atol=1e-12, err_msg=metric)


@given(decisions(2))
def test_scores_are_within_their_limits(case):
    decision, y, weights = case
    losses = ("neg_log_loss", "neg_brier_score", "neg_calibration_error")
    for metric in ("accuracy", "balanced_accuracy", "roc_auc", "neg_brier_score", "neg_calibration_error"):
        lowest = -1 if metric in losses else 0
        value = score(y, decision, scoring=metric, sample_weight=weights)
        assert np.isnan(value) or lowest - 1e-12 <= value <= lowest + 1 + 1e-12, metric
    assert all(score(y, np.eye(2)[y], scoring=metric) == 0 for metric in losses)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FOUR, [0, 1, 1]), r"y must have one value for each of the 4 rows of the votes. Got \(3,\)"),
        ((FOUR, [0, 1, 1, 2]), "y must be integers from 0 to 1"),
        (
            (FOUR, ["a", "b", "b", "c"], "roc_auc_ovr_weighted"),
            "y is text. Pass classes, the labels of the outputs",
        ),
        ((FOUR, [0, 1, 1, 1], "acuracy"), "There is no metric 'acuracy' for classification. Near"),
        ((FOUR, [0, 1, 1, 1], "r2"), "The metric 'r2' is for regression. For classification use"),
        ((FOUR, [0, 1, 1, 1], "auc"), "'auc' is now 'roc_auc_ovr_weighted'"),
        ((FOUR, [0, 1, 1, 1], lambda m, X, y: m.score(X, y)), r"The metric <lambda> fails \(AttributeErr"),
        ((FOUR, [0, 1, 1, 1], 3), "scoring must be the name of a metric, a scorer .* Got 3."),
        ((FOUR[:, :1], [0, 1, 1, 1.5], "roc_auc"), "The metric 'roc_auc' is for classification"),
        ((MANY, Y, "f1"), "The metric 'f1' is for two classes. For 3 use 'f1_macro'"),
        ((-FOUR, [0, 1, 1, 1]), "votes must be >= 0"),
        ((FOUR * np.inf, [0, 1, 1, 1]), "votes must be finite"),
        (
            (FOUR * np.nan, [0, 1, 1, 1]),
            "The decision on row 0 is NaN. .* Score only the rows that have a decision",
        ),
        ((["a", "b"], ["a"]), r"y must have one value for each of the 2 rows of the votes. Got \(1,\)"),
        (([], []), "at least one row"),
        (([object()], [1]), "decision must be numbers or labels"),
        ((["a", "b"], [0, 1]), "Some labels are text and others are numbers"),
        ((3, [1]), r"votes must have the shape \(n_members, n_rows, n_outputs\)"),
    ],
)
def test_invalid_input_raises_an_error_of_one_line(arguments, message):
    decision, y, *scoring = arguments
    with pytest.raises(ValueError, match=message) as caught:
        score(y, decision, scoring=scoring[0] if scoring else None)
    assert "\n" not in str(caught.value)


def test_passing_the_decision_before_y_raises_an_error_with_the_right_order():
    for function in (score, score_interval):
        for scoring in ("accuracy", "roc_auc"):
            with pytest.raises(ValueError, match=r"Pass y first: .*\(y, decision\)"):
                function(FOUR, [0, 1, 1, 1], scoring=scoring)


def test_invalid_classes_and_weights_raise_an_error():
    with pytest.raises(ValueError, match="classes must be 2 different labels, one for each output"):
        score([0, 1, 1, 1], FOUR, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="The label 'c' is not one of the classes"):
        score(["a", "b", "c", "a"], FOUR, classes=["a", "b"])
    with pytest.raises(ValueError, match="Some labels are text and others are numbers"):
        score([0, 1, 1, 1], FOUR, classes=["a", "b"])
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        score([0, 1, 1, 1], FOUR, sample_weight=[1, 1, 1, -1])
