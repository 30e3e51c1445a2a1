"""Scores of decisions: by hand, as scikit-learn has them, and what holds for all decisions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as peer

from committee.combining.metrics import task_of_metric
from committee.evaluating import METRICS, metric_of, score

CLASS_METRICS = [name for name, metric in METRICS.items() if metric.task == "classification"]
NUMBER_METRICS = [name for name, metric in METRICS.items() if metric.task == "regression"]
FOUR = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
rng = np.random.default_rng(7)
MANY = rng.dirichlet([1.0, 1.0, 1.0], 60).round(2)
MANY /= MANY.sum(axis=1, keepdims=True)
Y = rng.integers(3, size=60)
WEIGHTS = rng.random(60)
TRUTH = np.eye(3)[Y]


def judged(n_classes=3):
    """Decisions with ties, their answers and small whole weights."""

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
        ("error", 1 / 4),
        ("balanced_error", (0 + 1 / 3) / 2),
        ("auc", 1.0),
        ("log_loss", -np.log([0.9, 0.4, 0.8, 0.7]).mean()),
        ("brier", 2 * np.square([0.1, 0.6, 0.2, 0.3]).mean()),
        # Four bins of one row each, of the confidences 0.9, 0.6, 0.8 and 0.7; the second row is wrong.
        ("calibration_error", (0.1 + 0.6 + 0.2 + 0.3) / 4),
    ],
)
def test_scores_of_four_rows_are_those_by_hand(metric, value):
    assert score(FOUR, [0, 1, 1, 1], metric) == pytest.approx(value)


def test_rows_of_a_calibration_bin_may_make_up_for_each_other():
    # The probabilities 0.75 and 0.79 share the bin (11/15, 12/15]: mean 0.77, and half of the rows are right.
    assert score([[0.75, 0.25], [0.79, 0.21]], [0, 1], "calibration_error") == pytest.approx(0.77 - 0.5)


def test_equal_votes_count_half_in_the_area():
    assert score([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]], [0, 1, 1], "auc") == pytest.approx(0.75)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_scores_are_those_of_scikit_learn(weights):
    given = {"sample_weight": weights}
    decided = MANY.argmax(axis=1)
    expected = {
        "error": 1 - peer.accuracy_score(Y, decided, **given),
        "balanced_error": 1 - peer.balanced_accuracy_score(Y, decided, **given),
        "log_loss": peer.log_loss(Y, MANY.clip(1e-15), **given),
        "brier": np.average(np.square(MANY - TRUTH).sum(axis=1), weights=weights),
    }
    for metric, value in expected.items():
        assert score(MANY, Y, metric, **given) == pytest.approx(value), metric
    if weights is None:
        areas = peer.roc_auc_score(Y, MANY, multi_class="ovr", average="weighted")
    else:
        of_classes = [peer.roc_auc_score(code == Y, MANY[:, code], **given) for code in range(3)]
        areas = np.average(of_classes, weights=np.bincount(Y, weights=weights))
    assert score(MANY, Y, "auc", **given) == pytest.approx(areas)


def test_scores_of_numbers_are_those_of_scikit_learn():
    y, found = rng.normal(size=(2, 20))
    weights = rng.random(20)
    assert score(found, y, "squared_error") == pytest.approx(peer.mean_squared_error(y, found))
    assert score(found[:, None], y) == pytest.approx(peer.root_mean_squared_error(y, found))
    of_weights = peer.mean_absolute_error(y, found, sample_weight=weights)
    assert score(found, y, "mae", sample_weight=weights) == pytest.approx(of_weights)
    assert score(found, y, "r2") == pytest.approx(peer.r2_score(y, found))
    assert score([1, 3], [1, 2], "squared_error") == 0.5


@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro", "matthews_corrcoef"])
def test_any_scorer_of_scikit_learn_judges_by_its_name(name):
    expected = {
        "accuracy": peer.accuracy_score(Y, MANY.argmax(axis=1)),
        "neg_log_loss": -peer.log_loss(Y, MANY),
        "roc_auc_ovr": peer.roc_auc_score(Y, MANY, multi_class="ovr"),
        "f1_macro": peer.f1_score(Y, MANY.argmax(axis=1), average="macro"),
        "matthews_corrcoef": peer.matthews_corrcoef(Y, MANY.argmax(axis=1)),
    }
    assert score(MANY, Y, name) == pytest.approx(expected[name])
    assert metric_of(name, 3).more_is_better


def test_scorers_and_functions_of_the_users_own():
    scorer = peer.make_scorer(peer.fbeta_score, beta=2, average="macro")
    assert score(MANY, Y, scorer) == pytest.approx(
        peer.fbeta_score(Y, MANY.argmax(axis=1), beta=2, average="macro")
    )
    weights = rng.integers(0, 3, 60)
    by_weight = peer.fbeta_score(Y, MANY.argmax(axis=1), beta=2, average="macro", sample_weight=weights)
    assert score(MANY, Y, scorer, sample_weight=weights) == pytest.approx(by_weight)

    def surest(y, decision, weights):
        return decision.max() * weights.sum()

    assert score(FOUR, [0, 1, 1, 1], surest) == pytest.approx(3.6)
    assert not metric_of(surest, 2).more_is_better


def test_scorers_are_for_classes_or_for_numbers():
    of_numbers = {name for name in peer.get_scorer_names() if task_of_metric(name) == "regression"}
    assert {
        "r2",
        "explained_variance",
        "neg_root_mean_squared_error",
        "neg_median_absolute_error",
    } <= of_numbers
    assert all(name.startswith(("neg_m", "neg_root_m", "r2", "explained", "d2_abs")) for name in of_numbers)


@pytest.mark.parametrize("name", [*METRICS, "f1_macro"])
def test_a_metric_can_be_pickled(name):
    metric = metric_of(name, 1 if name in NUMBER_METRICS else 3)
    again = pickle.loads(pickle.dumps(metric))
    assert (again.name, again.task, again.more_is_better) == (metric.name, metric.task, metric.more_is_better)


def test_labels_frames_and_names_of_classes_are_read():
    y = pd.Series(["no", "yes", "yes", "yes"])
    assert score(FOUR, y, classes=["no", "yes"]) == 0.25
    assert score(FOUR[:, ::-1], y, "auc", classes=["yes", "no"]) == 1.0
    assert score(pd.DataFrame(FOUR), np.array([0, 1, 1, 1])) == 0.25
    assert score(["no", "no", "yes", "yes"], y) == 0.25
    assert score(["no", "no"], ["no", "no"], "balanced_error") == 0.0
    assert score([1.0, 0.0], [1, 1], "error") == 0.5


def test_a_stack_of_decisions_has_a_score_for_each():
    stack = np.stack([FOUR, FOUR[:, ::-1]])
    np.testing.assert_allclose(score(stack, [0, 1, 1, 1]), [0.25, 0.75])


def test_votes_count_as_shares_of_their_sum():
    assert score(5 * FOUR, [0, 1, 1, 1], "log_loss") == pytest.approx(score(FOUR, [0, 1, 1, 1], "log_loss"))


def test_classes_that_are_not_there_have_no_say():
    votes = np.column_stack([FOUR * 0.9, np.full(4, 0.1)])
    assert score(votes, [0, 1, 1, 1], "balanced_error") == pytest.approx(1 / 6)
    assert score(votes, [0, 1, 1, 1], "auc") == 1.0
    assert np.isnan(score(votes, [1, 1, 1, 1], "auc"))


@given(judged())
def test_a_row_of_weight_two_is_the_row_twice(case):
    decision, y, weights = case
    rows = np.repeat(np.arange(len(y)), weights)
    for metric in [*CLASS_METRICS, "accuracy"]:
        weighed = score(decision, y, metric, sample_weight=weights)
        np.testing.assert_allclose(weighed, score(decision[rows], y[rows], metric), err_msg=metric)


@given(judged(), st.permutations(range(3)))
def test_renaming_the_classes_changes_no_score_of_probabilities(case, order):
    decision, y, weights = case
    order = np.array(order)
    for metric in ("auc", "log_loss", "brier"):
        before = score(decision, y, metric, sample_weight=weights)
        after = score(decision[:, order], order.argsort()[y], metric, sample_weight=weights)
        np.testing.assert_allclose(after, before, err_msg=metric)


@given(judged(2))
def test_scores_stay_within_their_limits(case):
    decision, y, weights = case
    for metric, most in [
        ("error", 1),
        ("balanced_error", 1),
        ("auc", 1),
        ("brier", 2),
        ("calibration_error", 1),
    ]:
        value = score(decision, y, metric, sample_weight=weights)
        assert np.isnan(value) or -1e-12 <= value <= most + 1e-12, metric
    right = np.eye(2)[y]
    assert (
        score(right, y, "log_loss") == score(right, y, "brier") == score(right, y, "calibration_error") == 0
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FOUR, [0, 1, 1]), r"y must have one value for each of the 4 rows of the votes. Got \(3,\)"),
        ((FOUR, [0, 1, 1, 2]), "y must be integers from 0 to 1"),
        ((FOUR, ["a", "b", "b", "c"], "auc"), "y is text. Pass classes, the labels that votes are for"),
        ((FOUR, [0, 1, 1, 1], "acuracy"), "There is no metric 'acuracy'. Use error, balanced_error"),
        ((FOUR, [0, 1, 1, 1], "mae"), "The metric 'mae' is for regression. For classification use error"),
        ((FOUR, [0, 1, 1, 1], lambda m, X, y: m.score(X, y)), r"The metric <lambda> fails \(AttributeErr"),
        ((FOUR, [0, 1, 1, 1], 3), "metric must be a name, a scorer or a function. Got 3."),
        ((FOUR[:, :1], [0, 1, 1, 1.5], "auc"), "The metric 'auc' is for classification"),
        ((MANY, Y, "f1"), "The scorer f1 has no value here"),
        ((-FOUR, [0, 1, 1, 1]), "votes must be >= 0"),
        ((FOUR * np.inf, [0, 1, 1, 1]), "votes must be finite"),
        (
            (FOUR * np.nan, [0, 1, 1, 1]),
            "There is no decision on row 0: it is NaN, .* Judge the rows that have one",
        ),
        ((["a", "b"], ["a"]), r"y must have one value for each of the 2 rows of the votes. Got \(1,\)"),
        (([], []), "at least one row"),
        (([object()], [1]), "decision must be numbers or labels"),
        ((["a", "b"], [0, 1]), "Some labels are text and others are numbers"),
        ((3, [1]), r"votes must have the shape \(n_members, n_rows, n_outputs\)"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        score(*arguments)
    assert "\n" not in str(caught.value)


def test_bad_classes_and_weights_are_told():
    with pytest.raises(ValueError, match="classes must be 2 different labels, one for each output"):
        score(FOUR, [0, 1, 1, 1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="There is the label 'c', and the classes are"):
        score(FOUR, ["a", "b", "c", "a"], classes=["a", "b"])
    with pytest.raises(ValueError, match="Some labels are text and others are numbers"):
        score(FOUR, [0, 1, 1, 1], classes=["a", "b"])
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        score(FOUR, [0, 1, 1, 1], sample_weight=[1, 1, 1, -1])
