"""`oob_score` accepts any metric: a name as in `committee.score`, a scorer, or a function."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import (
    check_scoring,
    f1_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB

import committee

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
CLASSIFIERS = [
    committee.RandomForestClassifier(9, random_state=0),
    committee.ExtraTreesClassifier(9, bootstrap=True, random_state=0),
    committee.RandomForestClassifier(9, rule="cawpe", random_state=0),
    committee.RotationForestClassifier(9, bootstrap=True, random_state=0),
    committee.BaggingClassifier(n_estimators=9, random_state=0),
    committee.BaggingClassifier(GaussianNB(), 9, rule="cawpe", random_state=0),
]
REGRESSORS = [
    committee.RandomForestRegressor(9, random_state=0),
    committee.RotationForestRegressor(9, bootstrap=True, random_state=0),
    committee.BaggingRegressor(n_estimators=9, rule="median", random_state=0),
]


def name_of(estimator):
    return type(estimator).__name__


def negative_log_loss(y, votes):
    return -log_loss(y, votes)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("roc_auc", lambda y, votes: roc_auc_score(y, votes[:, 1])),
        ("roc_auc", lambda y, votes: committee.score(y, votes, scoring="roc_auc")),
        ("neg_log_loss", negative_log_loss),
        ("f1", lambda y, votes: f1_score(y, votes.argmax(axis=1))),
        (make_scorer(f1_score), lambda y, votes: f1_score(y, votes.argmax(axis=1))),
    ],
)
def test_a_metric_by_name_scores_the_out_of_bag_probabilities(estimator, name, metric):
    X, y = CANCER
    fitted = clone(estimator).set_params(oob_score=name).fit(X, y)
    votes = fitted.oob_decision_function_
    is_scored = ~np.isnan(votes[:, 0])
    assert fitted.oob_score_ == pytest.approx(metric(y[is_scored], votes[is_scored]))


@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
def test_a_regression_metric_by_name_scores_the_out_of_bag_predictions(estimator):
    X, y = DIABETES
    fitted = clone(estimator).set_params(oob_score="neg_mean_absolute_error").fit(X, y)
    is_scored = ~np.isnan(fitted.oob_prediction_)
    expected = -mean_absolute_error(y[is_scored], fitted.oob_prediction_[is_scored])
    assert fitted.oob_score_ == pytest.approx(expected)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_a_name_without_a_metric_for_the_task_is_refused_before_any_work(estimator):
    for name, message in [
        ("acuracy", "There is no metric 'acuracy'"),
        ("r2", "is for regression"),
    ]:
        with pytest.raises(ValueError, match=message):
            clone(estimator).set_params(oob_score=name).fit(*CANCER)


@pytest.mark.parametrize("metric", ["neg_log_loss", "neg_brier_score"])
def test_a_metric_of_probabilities_is_refused_for_members_without_them(metric):
    bagging = committee.BaggingClassifier(RidgeClassifier(), 9, oob_score=metric, random_state=0)
    with pytest.raises(ValueError, match=f"RidgeClassifier has no predict_proba, and the metric {metric} is"):
        bagging.fit(*CANCER)
    assert bagging.set_params(oob_score="roc_auc").fit(*CANCER).oob_score_ > 0.9


def test_a_saved_forest_keeps_the_score_and_a_function_gets_labels(tmp_path):
    X, y = CANCER
    forest = committee.RandomForestClassifier(9, oob_score="neg_log_loss", random_state=0).fit(X, y)
    forest.save(tmp_path / "model")
    assert committee.load(tmp_path / "model").oob_score_ == forest.oob_score_
    by_labels = clone(forest).set_params(oob_score=f1_score).fit(X, y)
    votes = by_labels.oob_decision_function_
    is_scored = ~np.isnan(votes[:, 0])
    assert by_labels.oob_score_ == f1_score(y[is_scored], votes[is_scored].argmax(axis=1))


@pytest.mark.filterwarnings("ignore:Only one class")
def test_a_metric_without_a_value_on_one_class_is_nan():
    X, y = CANCER
    one = committee.RandomForestClassifier(9, oob_score="neg_log_loss", random_state=0).fit(
        X, np.ones(len(y))
    )
    assert one.oob_score_ == 0
    auc = clone(one).set_params(oob_score="roc_auc").fit(X, np.ones(len(y)))
    assert np.isnan(auc.oob_score_)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_a_function_of_an_estimator_is_refused_before_any_work(estimator):
    message = r"^oob_score=<lambda> cannot be called with y_true and y_pred\. .* a result of make_scorer\.$"
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(oob_score=lambda model, X, y: model.score(X, y)).fit(*CANCER)


def test_the_score_method_of_an_estimator_is_refused():
    bagging = committee.BaggingClassifier(GaussianNB(), 9, random_state=0)
    bagging.set_params(oob_score=check_scoring(bagging))
    with pytest.raises(ValueError, match="cannot be called with y_true and y_pred"):
        bagging.fit(*CANCER)


@pytest.mark.parametrize("metric", [f1_score, roc_auc_score])
def test_a_function_that_takes_no_text_gets_the_positions_of_the_classes(metric):
    X, y = CANCER
    forest = committee.RandomForestClassifier(9, oob_score=metric, random_state=0)
    by_number = clone(forest).fit(X, y).oob_score_
    assert clone(forest).fit(X, np.where(y == 1, "yes", "no")).oob_score_ == by_number


@pytest.mark.parametrize(
    "estimator", [CLASSIFIERS[0], CLASSIFIERS[2], CLASSIFIERS[4], CLASSIFIERS[5]], ids=name_of
)
def test_a_fit_that_adds_no_members_uses_the_current_metric(estimator):
    X, y = CANCER
    expected = clone(estimator).set_params(oob_score="neg_log_loss").fit(X, y).oob_score_
    fitted = clone(estimator).set_params(oob_score=True, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        fitted.set_params(oob_score="neg_log_loss").fit(X, y)
    assert fitted.oob_score_ == expected


def test_rows_in_every_bag_are_counted_in_a_warning_as_in_scikit_learn():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="Every bag contains ([0-9]+) of 150 rows") as caught:
        forest = committee.RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    n_named = int(str(caught[0].message).split()[3])
    assert n_named == np.isnan(forest.oob_decision_function_).any(axis=1).sum() > 0
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
