"""bootstrap_error by scorers that are asked about models: a slow reference, and what must always hold."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    accuracy_score,
    check_scoring,
    get_scorer,
    make_scorer,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from committee import bootstrap_error
from committee.evaluating.bags import Bagged
from committee.evaluating.estimates import point_632_plus
from committee.evaluating.intervals import Draws
from committee.running import receiving
from work import right

X, CODES = make_classification(60, 4, n_informative=3, n_redundant=0, flip_y=0.3, random_state=0)
Y = np.array(["no", "yes"])[CODES]
NUMBERS_X, NUMBERS = make_regression(40, 3, noise=20, random_state=0)
NAMES = ["a", "b", "c", "d"]
PARTS = ("value", "plain", "out_of_bag", "apparent", "no_information", "point_632", "point_632_plus")


def weighed_right(model, X, y, sample_weight=None):
    return accuracy_score(y, model.predict(X), sample_weight=sample_weight)


def models_of(estimator, X, y, n_bags, seed):
    """The model on all rows, and that of each bag with the rows outside of it."""
    bagged = Bagged.of(estimator, X, y, n_bags, None, seed)
    drawn = [bagged.rows(number) for number in range(1, n_bags + 1)]
    outside = [np.setdiff1d(np.arange(len(y)), rows) for rows in drawn]
    fits = [clone(estimator).fit(X[rows], y[rows]) for rows in drawn]
    return bagged, clone(estimator).fit(X, y), list(zip(fits, outside, strict=True))


@pytest.mark.parametrize(
    ("estimator", "X", "y", "scoring"),
    [
        (DecisionTreeClassifier(max_depth=3, random_state=0), X, Y, right),
        (GaussianNB(), X, Y, lambda model, X, y: model.score(X, y) - model.predict_proba(X)[:, 0].mean()),
        (LinearRegression(), NUMBERS_X, NUMBERS, lambda model, X, y: -np.abs(model.predict(X) - y).max()),
    ],
)
def test_estimates_are_those_of_the_definitions(estimator, X, y, scoring):
    found = bootstrap_error(estimator, X, y, 12, scoring=scoring, random_state=1)
    bagged, whole, bags = models_of(estimator, X, y, 12, 1)
    assert found.apparent == pytest.approx(scoring(whole, X, y))
    assert found.plain == pytest.approx(np.mean([scoring(model, X, y) for model, _ in bags]))
    out_of_bag = np.mean([scoring(model, X[rows], y[rows]) for model, rows in bags])
    assert found.out_of_bag == pytest.approx(out_of_bag)
    rng = np.random.default_rng([bagged.seed, 0, 2])
    shares = np.full(len(y), 1 / len(y))
    no_information = np.mean([scoring(whole, X, rng.choice(y, len(y), p=shares)) for _ in range(100)])
    assert found.no_information == pytest.approx(no_information)
    assert found.point_632 == pytest.approx(0.368 * found.apparent + 0.632 * out_of_bag)
    assert found.value == found.point_632_plus
    assert found.value == pytest.approx(
        point_632_plus(found.apparent, out_of_bag, no_information, more_is_better=True)
    )


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        get_scorer("accuracy"),
        make_scorer(accuracy_score),
        check_scoring(GaussianNB()),
        right,
        lambda estimator, X, y: estimator.score(X, y),
    ],
)
def test_whatever_scikit_learn_takes_for_the_accuracy_is_the_accuracy(scoring):
    expected = bootstrap_error(GaussianNB(), X, Y, 8, metric="accuracy", random_state=0)
    found = bootstrap_error(GaussianNB(), X, Y, 8, scoring=scoring, random_state=0)
    for part in PARTS:
        assert getattr(found, part) == pytest.approx(getattr(expected, part)), part


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_scorers_of_numbers_are_those_of_decisions(scoring):
    expected = bootstrap_error(LinearRegression(), NUMBERS_X, NUMBERS, 8, metric=scoring, random_state=0)
    found = bootstrap_error(LinearRegression(), NUMBERS_X, NUMBERS, 8, scoring=scoring, random_state=0)
    assert found.value == pytest.approx(expected.value)
    assert found.metric == scoring


def test_a_model_is_asked_for_the_scores_that_its_decisions_do_not_tell():
    found = bootstrap_error(RidgeClassifier(), X, Y, 6, kind="plain", scoring="roc_auc", random_state=0)
    _, _, bags = models_of(RidgeClassifier(), X, Y, 6, 0)
    by_hand = [roc_auc_score(Y, model.decision_function(X)) for model, _ in bags]
    assert found.value == pytest.approx(np.mean(by_hand))
    of_labels = bootstrap_error(RidgeClassifier(), X, Y, 6, kind="plain", metric="roc_auc", random_state=0)
    assert found.value > of_labels.value + 0.01


def test_an_estimator_is_asked_for_a_score_of_its_own():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring="neg_log_loss", cv=2)
    own = bootstrap_error(search, X, Y, 3, scoring=check_scoring(search), random_state=0)
    expected = bootstrap_error(GaussianNB(), X, Y, 3, scoring="neg_log_loss", random_state=0)
    assert own.apparent == pytest.approx(expected.apparent) and own.apparent < 0


def test_the_label_that_is_searched_for_is_the_users():
    found = bootstrap_error(
        GaussianNB(), X, Y, 4, scoring=make_scorer(recall_score, pos_label="no"), random_state=0
    )
    assert found.apparent == pytest.approx(np.mean(GaussianNB().fit(X, Y).predict(X)[Y == "no"] == "no"))


@pytest.mark.parametrize(
    ("table", "answers", "types"),
    [
        (X, Y, (np.ndarray, np.ndarray)),
        (X.tolist(), Y.tolist(), (np.ndarray, np.ndarray)),
        (pd.DataFrame(X, columns=NAMES), Y, (pd.DataFrame, np.ndarray)),
        (pd.DataFrame(X, columns=NAMES), pd.Series(Y), (pd.DataFrame, pd.Series)),
        (pl.DataFrame(X, schema=NAMES), pl.Series(Y), (pl.DataFrame, pl.Series)),
        (pa.table(dict(zip(NAMES, X.T, strict=True))), pa.chunked_array([Y.tolist()]), (pa.Table, None)),
    ],
)
def test_functions_see_rows_and_answers_as_the_user_has_them(table, answers, types):
    seen = set()

    def looking(model, X, y):
        seen.add((type(X), type(y)))
        return right(model, X, y)

    found = bootstrap_error(GaussianNB(), table, answers, 4, scoring=looking, random_state=0)
    assert seen == {(types[0], types[1] or pa.ChunkedArray)}
    assert found.value == bootstrap_error(GaussianNB(), X, Y, 4, scoring=right, random_state=0).value


def test_rows_keep_their_index_and_drawn_answers_go_by_that_of_their_rows():
    index = [f"row {number}" for number in range(60)]
    costs = pd.Series(np.arange(60.0), index=index)
    table, answers = pd.DataFrame(X, columns=NAMES, index=index), pd.Series(Y, index=index)

    def saved(model, X, y):
        # pandas brings together what has the same index, and refuses to if rows are there twice.
        is_right = pd.Series(model.predict(X), index=X.index) == y
        return float((is_right * costs.loc[X.index]).sum())

    found = bootstrap_error(GaussianNB(), table, answers, 5, scoring=saved, random_state=0)
    _, whole, bags = models_of(GaussianNB(), X, Y, 5, 0)
    assert found.apparent == pytest.approx((whole.predict(X) == Y) @ costs.to_numpy())
    outside = [(model.predict(X[rows]) == Y[rows]) @ costs.to_numpy()[rows] for model, rows in bags]
    assert found.out_of_bag == pytest.approx(np.mean(outside))
    assert 0.3 * costs.sum() < found.no_information < 0.7 * costs.sum()
    assert found.no_information < found.apparent


def test_weights_that_are_repetitions_are_rows_and_others_are_passed_on():
    repeated = np.tile([0, 1, 2], 20)
    expected = bootstrap_error(
        GaussianNB(), X, Y, 5, metric="accuracy", sample_weight=repeated, random_state=0
    )
    found = bootstrap_error(GaussianNB(), X, Y, 5, scoring=right, sample_weight=repeated, random_state=0)
    assert found.value == pytest.approx(expected.value)
    weights = np.random.default_rng(0).random(60)
    options = {"sample_weight": weights, "random_state": 0}
    expected = bootstrap_error(GaussianNB(), X, Y, 5, metric="accuracy", **options)
    for scoring in (weighed_right, "accuracy", check_scoring(GaussianNB())):
        found = bootstrap_error(GaussianNB(), X, Y, 5, scoring=scoring, **options)
        for part in PARTS:
            assert getattr(found, part) == pytest.approx(getattr(expected, part)), part
    with pytest.raises(ValueError, match="scoring=right takes no sample_weight, and only small whole"):
        bootstrap_error(GaussianNB(), X, Y, 5, scoring=right, **options)
    with config_context(enable_metadata_routing=True):
        asking = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = bootstrap_error(GaussianNB(), X, Y, 5, scoring=asking, **options)
    assert found.value == pytest.approx(expected.value)


@pytest.mark.parametrize("kind", ["plain", "out_of_bag", ".632", ".632+"])
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_an_interval_is_that_of_decisions_on_the_same_drawings(kind, interval):
    options = {"kind": interval, "B": 15, "random_state": 3}
    of_models = bootstrap_error(GaussianNB(), X, Y, 4, kind=kind, scoring=right, random_state=0)
    of_decisions = bootstrap_error(GaussianNB(), X, Y, 4, kind=kind, metric="accuracy", random_state=0)
    one, other = of_models.interval(**options), of_decisions.interval(**options)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_an_interval_by_hand():
    found = bootstrap_error(GaussianNB(), X, Y, 4, kind="out_of_bag", scoring=right, random_state=0)
    _, _, bags = models_of(GaussianNB(), X, Y, 4, 0)
    drawn = [Draws.of(np.ones(60), 1).rows(number) for number in range(20)]
    means = []
    for rows in drawn:
        of_bags = [rows[np.isin(rows, outside)] for _, outside in bags]
        means.append(
            np.mean([right(bag[0], X[some], Y[some]) for bag, some in zip(bags, of_bags, strict=True)])
        )
    interval = found.interval(B=20, level=0.8, random_state=1)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(means, [0.1, 0.9])))


def test_the_runner_changes_nothing_and_tells_how_far_it_is():
    estimator = DecisionTreeClassifier(max_features=1)
    events = []
    with receiving(events.append):
        expected = bootstrap_error(estimator, X, Y, 4, scoring=right, random_state=0, runner="serial")
        interval = expected.interval(B=5, random_state=0, runner="serial")
    assert [event.n_done for event in events if event.what == "bags"] == 2 * [0, 1, 2, 3, 4, 5, 5]

    def closure(model, X, y, right=right):
        return right(model, X, y)

    for where in ({"n_jobs": 2}, {"runner": "processes", "n_jobs": 1}):
        found = bootstrap_error(estimator, X, Y, 4, scoring=closure, random_state=0, **where)
        assert [getattr(found, part) for part in PARTS] == [getattr(expected, part) for part in PARTS]
        assert found.interval(B=5, random_state=0, **where) == interval


def test_bags_without_a_value_are_left_out_with_a_warning():
    middle = X.mean(axis=0)

    def of_some(model, X, y):
        if len(X) == 60:
            return 0.75
        if X[:, 0].mean() > middle[0]:
            raise ValueError("Not\nthese.")
        return np.nan if X[:, 1].mean() > middle[1] else 0.25

    _, _, bags = models_of(GaussianNB(), X, Y, 20, 0)
    is_above = np.array([X[rows].mean(axis=0) > middle for _, rows in bags])
    n_without = int((is_above[:, 0] | is_above[:, 1]).sum())
    assert 0 < n_without < 20
    with pytest.warns(UserWarning, match=f"of_some has no value on {n_without} of 20 bags, which are left"):
        found = bootstrap_error(GaussianNB(), X, Y, 20, scoring=of_some, random_state=0)
    assert (found.plain, found.out_of_bag) == (0.75, 0.25)


def test_a_bag_of_one_class_is_a_model_too():
    # Logistic regression refuses one class, which most bags of three rows have.
    table, answers = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    options = {"kind": "plain", "random_state": 0}
    found = bootstrap_error(LogisticRegression(), table, answers, 10, scoring=right, **options)
    expected = bootstrap_error(LogisticRegression(), table, answers, 10, metric="accuracy", **options)
    assert found.value == pytest.approx(expected.value)


def test_point_632_plus_is_refused_where_there_is_no_no_information_rate():
    def unknown(model, X, y):
        return 0.5 if len(X) < 60 or (y == Y).all() else np.nan

    with pytest.raises(ValueError, match=r'unknown has no value for answers .* Ask for kind="\.632"\.$'):
        bootstrap_error(GaussianNB(), X, Y, 3, scoring=unknown, random_state=0)
    found = bootstrap_error(GaussianNB(), X, Y, 3, kind=".632", scoring=unknown, random_state=0)
    assert found.value == 0.5 and np.isnan(found.point_632_plus)


def test_a_scorer_without_a_value_on_any_bag_is_told():
    with (
        pytest.warns(UserWarning, match="on 3 of 3 bags"),
        pytest.raises(
            ValueError, match=r"^<lambda> has no value on any bag\. Use more rows, or another metric"
        ),
    ):
        scoring = lambda model, X, y: 1.0 if len(X) == 60 else np.nan  # noqa: E731
        bootstrap_error(GaussianNB(), X, Y, 3, scoring=scoring, random_state=0)


@pytest.mark.parametrize(
    ("scoring", "told"),
    [
        (["f1", "accuracy"], "scoring must be a name of scikit-learn's scorers, a scorer or a function of a"),
        ({"a": "f1"}, r"Got {'a': 'f1'}\. Ask for several one after the other\.$"),
        ("auc", "^scikit-learn has no scorer 'auc'. Take one of sklearn.metrics.get_scorer_names"),
        ("r2", "^The scorer 'r2' is for regression, and the estimator is for classification"),
        (accuracy_score, "^scoring=accuracy_score cannot be called with a fitted estimator, X and y"),
        (lambda estimator, X: 0.0, "^scoring=<lambda> cannot be called with a fitted estimator, X and y"),
    ],
)
def test_what_is_no_scorer_is_refused_before_any_fit(scoring, told):
    with pytest.raises(ValueError, match=told):
        bootstrap_error(GaussianNB(), X, Y, scoring=scoring)


def cannot_divide(model, X, y):
    return 1 / 0


@pytest.mark.parametrize(
    ("scoring", "kind", "told"),
    [
        (cannot_divide, ZeroDivisionError, "by cannot_divide. ZeroDivisionError: division by zero$"),
        (lambda *_: np.nan, ValueError, "NoValueError: The score is NaN.$"),
        (lambda *_: np.inf, OverflowError, "OverflowError: A scorer must give a finite number, or NaN where"),
        (lambda *_: {"f1": 1.0}, TypeError, r"TypeError: A scorer must give one number. Got {'f1': 1.0}\.$"),
        (lambda *_: np.ones(2), TypeError, "TypeError: A scorer must give one number. Got array"),
        (check_scoring(GaussianNB(), ["accuracy", "f1_macro"]), TypeError, "A scorer must give one number"),
        ("f1", ValueError, "be judged by f1. NoValueError: pos_label=1 is not a valid label"),
    ],
)
def test_a_scorer_that_fails_is_told_with_the_model_that_it_judged(scoring, kind, told):
    with pytest.raises(kind, match=told) as raised:
        bootstrap_error(GaussianNB(), X, Y, 3, scoring=scoring, runner="serial")
    assert str(raised.value).startswith("Task 0, 'bag 0', failed. GaussianNB, on all rows, cannot be judged")
    assert "\n" not in str(raised.value)


def test_a_function_that_other_processes_cannot_have_is_told():
    lock = threading.Lock()

    def locked(model, X, y):
        with lock:
            return 0.5

    assert bootstrap_error(GaussianNB(), X, Y, 2, scoring=locked, random_state=0).value == 0.5
    with pytest.raises(TypeError, match=r'^What GaussianNB needs cannot go .* or set runner="threads"\.$'):
        bootstrap_error(GaussianNB(), X, Y, 2, scoring=locked, runner="processes")


def test_decisions_and_models_are_judged_one_at_a_time():
    with pytest.raises(ValueError, match=r"^metric judges decisions, and scoring judges models\. Pass one"):
        bootstrap_error(GaussianNB(), X, Y, metric="f1", scoring="f1")
    with pytest.raises(ValueError, match=r"bootstrap_error asks any, by scoring=\.$"):
        bootstrap_error(GaussianNB(), X, Y, metric=right)


def test_a_scorer_of_decisions_that_takes_no_weights_is_refused_before_any_fit():
    weights = np.linspace(0.1, 1, 60)
    with pytest.raises(ValueError, match=r"has no value here: .*sample_weight.* Take another"):
        bootstrap_error(GaussianNB(), X, Y, metric=make_scorer(lambda y, p: 1.0), sample_weight=weights)
