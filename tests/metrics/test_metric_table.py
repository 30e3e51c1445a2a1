"""Test that metrics agree with scikit-learn's metrics of the same name, and that `scoring` accepts them."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.naive_bayes import GaussianNB

import committee
from committee import rules
from committee.metrics import METRICS, metric_of, shown
from committee.metrics.metric_table import ERRORS, USUAL
from committee.metrics.scorers import decision_scorer
from committee.saving.format.old_spellings import OLD_METRICS, respelt

rng = np.random.default_rng(0)
OURS = {"neg_calibration_error"}
CLASSES = [name for name, metric in METRICS.items() if metric.task == "classification"]
NUMBERS = [name for name, metric in METRICS.items() if metric.task == "regression"]
CASES = [
    *((name, 2) for name in CLASSES),
    *((name, 3) for name in CLASSES if METRICS[name].of_many is None and "likelihood_ratio" not in name),
    *((name, 1) for name in NUMBERS),
]


def decision_on(n_outputs, n_rows=60):
    if n_outputs == 1:
        return rng.gamma(2.0, size=n_rows), rng.gamma(2.0, size=(n_rows, 1))
    y = np.concatenate([np.arange(n_outputs), rng.integers(n_outputs, size=n_rows - n_outputs)])
    decision = (rng.dirichlet(np.ones(n_outputs), n_rows) + 0.5 * np.eye(n_outputs)[y]).round(1) + 0.1
    return y, decision / decision.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", [None, "whole", "any"])
@pytest.mark.parametrize(("name", "n_outputs"), [case for case in CASES if case[0] not in OURS])
def test_a_metric_is_equal_to_that_of_scikit_learn(name, n_outputs, weights):
    y, decision = decision_on(n_outputs)
    given = {None: np.ones(60), "whole": rng.integers(1, 4, 60), "any": rng.random(60)}[weights]
    scored = decision_scorer(name, n_outputs, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = scored(y, decision, given.astype(float))
        except ValueError:
            pytest.skip("scikit-learn does not support such weights for this metric.")
        found = metric_of(name, n_outputs).prepare(y, decision)(given.astype(float))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "n_outputs"), CASES)
def test_counts_give_the_same_score(name, n_outputs):
    metric = metric_of(name, n_outputs)
    if metric.of_counts is None:
        return
    y, decision = decision_on(n_outputs)
    decided = decision.argmax(axis=1)
    counts = (np.bincount(codes, minlength=n_outputs) for codes in (y[y == decided], decided, y))
    score = metric.of_counts(*(each[None].astype(float) for each in counts))[0]
    assert score == pytest.approx(metric.prepare(y, decision)(np.ones(60)))


def test_the_table_contains_all_scorers_of_scikit_learn_except_those_for_multilabel_targets():
    expected = {name for name in get_scorer_names() if not name.endswith("_samples")}
    assert set(METRICS) == expected | OURS
    assert len({metric.plain for metric in METRICS.values()}) == len(METRICS)
    for name in expected:
        assert METRICS[name].sign == get_scorer(name)._sign


def test_reports_show_losses_as_positive_numbers_under_plain_names():
    assert shown("neg_log_loss", -0.25) == ("log loss", 0.25)
    assert shown("neg_root_mean_squared_error", -2.0) == ("RMSE", 2.0)
    assert shown("roc_auc", 0.9) == ("AUC", 0.9)
    assert shown("my own", -1.0) == ("my own", -1.0)
    assert not any(metric.plain.startswith("neg_") for metric in METRICS.values())
    for of_task in USUAL.values():
        assert all(name in METRICS for name in of_task)
    assert [metric.name for metric in ERRORS.values()] == ["error", "mean squared error"]


@pytest.mark.parametrize("name", OLD_METRICS)
def test_a_parameter_from_an_old_file_gets_the_new_name(name):
    parameters = respelt({"metric": name, "n_steps": 3}, ["scoring", "n_steps"])
    assert parameters == {"n_steps": 3, "scoring": OLD_METRICS[name]} and parameters["scoring"] in METRICS
    assert respelt({"metric": name}, ["metric"]) == {"metric": name}


X = rng.normal(size=(60, 2))
Y, AMOUNTS = (X[:, 0] + rng.normal(size=60) > 0).astype(int), X[:, 0] + 3 + 0.1 * rng.random(60)
LABELS, VOTES = np.array(["no", "yes"]), rng.dirichlet([2, 2], (2, 60))
NUMBER_VOTES = rng.gamma(2.0, size=(2, 60, 1))
# Calls of all public functions, methods and classes with a parameter `scoring`, for each task.
OF_CLASSES = {
    "score": lambda name: committee.score(Y, VOTES[0], scoring=name),
    "score_interval": lambda name: committee.score_interval(Y, VOTES[0], scoring=name, B=3),
    "error_curve": lambda name: committee.error_curve(VOTES, Y, scoring=name, n_orders=1),
    "bootstrap_error": lambda name: committee.bootstrap_error(
        GaussianNB(), X, Y, 3, kind="plain", scoring=name, random_state=0, runner="serial"
    ),
    "Study": lambda name: committee.Study({"bayes": GaussianNB()}, {"table": (X, Y)}, scoring=[name]),
    "GreedyRule": lambda name: rules.GreedyRule(scoring=name, n_steps=1).fit(VOTES, Y),
    "BestMemberRule": lambda name: rules.BestMemberRule(scoring=name).fit(VOTES, Y),
    "AdjustedRule": lambda name: rules.AdjustedRule("mean", scoring=name, time_limit=0).fit(VOTES, Y),
    "EnsembleSelectionClassifier": lambda name: committee.EnsembleSelectionClassifier(
        [("bayes", GaussianNB())], cv=2, scoring=name
    ).fit(X, Y),
    "RandomForestClassifier": lambda name: committee.RandomForestClassifier(
        9, oob_score=name, random_state=0
    ).fit(X, Y),
    "BaggingClassifier": lambda name: committee.BaggingClassifier(
        GaussianNB(), 9, oob_score=name, random_state=0
    ).fit(X, Y),
}
OF_NUMBERS = {
    "score": lambda name: committee.score(AMOUNTS, NUMBER_VOTES[0], scoring=name),
    "bootstrap_error": lambda name: committee.bootstrap_error(
        LinearRegression(), X, AMOUNTS, 3, kind="plain", scoring=name, random_state=0, runner="serial"
    ),
    "GreedyRule": lambda name: rules.GreedyRule(scoring=name, n_steps=1).fit(NUMBER_VOTES, AMOUNTS),
    "BestMemberRule": lambda name: rules.BestMemberRule(scoring=name).fit(NUMBER_VOTES, AMOUNTS),
    "EnsembleSelectionRegressor": lambda name: committee.EnsembleSelectionRegressor(
        [("line", LinearRegression())], cv=2, scoring=name
    ).fit(X, AMOUNTS),
}
ELSEWHERE = {
    "CommitteeClassifier", "CommitteeRegressor", "fit",  # Their check before the fit is tested below.
    "RegionRule", "Comparison",  # These accept only metrics of rows, or the metric of a study.
    "BootstrapError", "ErrorCurve",  # These are results.
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("where", OF_CLASSES)
def test_scoring_accepts_all_metrics_of_classification_and_refuses_old_names(where):
    for name in CLASSES:
        OF_CLASSES[where](name)
    for old in ("error", "auc", "log_loss"):
        with pytest.raises(ValueError, match=f"'{old}' is now '{OLD_METRICS[old]}'"):
            OF_CLASSES[where](old)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("where", OF_NUMBERS)
def test_scoring_accepts_all_metrics_of_regression_and_refuses_old_names(where):
    for name in NUMBERS:
        OF_NUMBERS[where](name)
    for old in ("rmse", "mae", "squared_error"):
        with pytest.raises(ValueError, match=f"'{old}' is now '{OLD_METRICS[old]}'"):
            OF_NUMBERS[where](old)


def test_no_public_parameter_is_called_metric_and_all_with_scoring_are_tested():
    with_scoring = set()
    for place in (committee, rules):
        for name in place.__all__:
            value = getattr(place, name)
            if not callable(value):
                continue
            parameters = inspect.signature(value).parameters
            assert name == "Comparison" or not {"metric", "metrics"} & parameters.keys(), name
            with_scoring |= {name} if "scoring" in parameters else set()
    assert with_scoring <= OF_CLASSES.keys() | OF_NUMBERS.keys() | ELSEWHERE


@pytest.mark.parametrize("made", [committee.CommitteeClassifier, committee.CommitteeRegressor])
def test_the_automatic_committee_refuses_old_names_before_any_fit(made):
    with pytest.raises(ValueError, match="'error' is now 'accuracy'"):
        made(["linear"], scoring="error").fit(X, Y)
