"""Test that boosting C4.5 trees in the engine gives the same ensemble as fitting them one by one."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    C45Classifier,
    DecisionTreeClassifier,
    _engine,
)
from committee.running import receiving
from committee.table import bin_table

BOOSTERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.6 * RNG.normal(size=240)
Y = np.digitize(SCORE, [-0.5, 0.7])
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(
    {
        "number": GAPS[:, 0],
        "city": pd.Categorical.from_codes(RNG.integers(-1, 4, 240), ["Bonn", "Oslo", "Riga", "Rome"]),
        "size": pd.Categorical(np.where(X[:, 1] > 0, "large", "small")),
        "other": X[:, 2],
    }
)
TABLES = {"numbers": X, "with gaps": GAPS, "with categories": FRAME}


@parametrize_with_checks(
    [
        AdaBoostM2Classifier(C45Classifier(), n_estimators=4, random_state=0),
        AdaBoostM2Classifier(C45Classifier(), n_estimators=4, weighting="resample", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class OneByOne(C45Classifier):
    """The same tree, which is not boosted in the engine because it is a subclass."""


def boosted(booster, member, table=X, y=Y, weights=None, **options):
    return booster(member, **{"n_estimators": 6, "random_state": 0} | options).fit(table, y, weights)


def check_same(made, other, table):
    assert isinstance(made._members, _engine.C45Forest)
    assert isinstance(other._members, list)
    assert len(made.estimators_) == len(other.estimators_)
    np.testing.assert_allclose(made.estimator_errors_, other.estimator_errors_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made.estimator_weights_, other.estimator_weights_, rtol=1e-9)
    for one, another in zip(made.estimators_, other.estimators_, strict=True):
        assert one.export_text() == another.export_text()
    np.testing.assert_allclose(made.predict_proba(table), other.predict_proba(table), atol=1e-9)
    np.testing.assert_allclose(made.feature_importances_, other.feature_importances_, atol=1e-9)
    for stage, another in zip(
        made.staged_predict_proba(table), other.staged_predict_proba(table), strict=True
    ):
        np.testing.assert_allclose(stage, another, atol=1e-9)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("table", TABLES)
def test_the_ensemble_equals_that_of_trees_fitted_one_by_one(booster, weighting, table):
    options = {"table": TABLES[table], "weighting": weighting}
    made = boosted(booster, C45Classifier(), **options)
    check_same(made, boosted(booster, OneByOne(), **options), TABLES[table])
    assert len(made.estimators_) > 1


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "settings",
    [
        {"pruning": None, "min_samples_leaf": 5},
        {"confidence_factor": 0.05, "subtree_raising": False},
        {"min_samples_leaf": 30},
    ],
    ids=str,
)
def test_the_parameters_of_the_tree_are_used(booster, settings):
    made = boosted(booster, C45Classifier(**settings))
    check_same(made, boosted(booster, OneByOne(**settings)), X)
    assert made.estimators_[0].get_params() == C45Classifier(**settings).get_params()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_row_weights_have_the_same_effect_as_for_trees_fitted_one_by_one(booster):
    weights = np.random.default_rng(1).random(len(X)) * (np.arange(len(X)) % 7 > 0)
    made = boosted(booster, C45Classifier(), weights=weights)
    check_same(made, boosted(booster, OneByOne(), weights=weights), X)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error"])
def test_any_number_of_threads_gives_the_same_bits(booster, weighting, pruning):
    options = {"table": FRAME, "weighting": weighting}
    votes = [
        boosted(booster, C45Classifier(pruning=pruning), n_jobs=n_jobs, **options).predict_proba(FRAME)
        for n_jobs in (1, 2, 3)
    ]
    np.testing.assert_array_equal(votes[0], votes[1])
    np.testing.assert_array_equal(votes[0], votes[2])


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_row_order_changes_nothing(booster, weighting):
    order = np.random.default_rng(1).permutation(len(X))
    made = boosted(booster, C45Classifier(), weighting=weighting)
    again = boosted(booster, C45Classifier(), table=X[order], y=Y[order], weighting=weighting)
    np.testing.assert_array_equal(made.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_weight_two_equals_the_row_twice(booster, weighting):
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    made = boosted(booster, C45Classifier(), weights=weights, weighting=weighting)
    twice = boosted(
        booster, C45Classifier(), X.repeat(weights, axis=0), Y.repeat(weights), weighting=weighting
    )
    np.testing.assert_array_equal(made.predict_proba(X), twice.predict_proba(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("table", TABLES)
def test_saved_pickled_and_prepared_ensembles_predict_the_same(booster, table, tmp_path):
    made = boosted(booster, C45Classifier(), table=TABLES[table])
    expected = made.predict_proba(TABLES[table])
    path = tmp_path / "boosted.committee"
    made.save(path)
    loaded = committee.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(TABLES[table]), expected)
    np.testing.assert_array_equal(loaded.votes(TABLES[table]), made.votes(TABLES[table]))
    np.testing.assert_array_equal(loaded.feature_importances_, made.feature_importances_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).predict_proba(TABLES[table]), expected)
    rows = TABLES[table] if table != "with categories" else FRAME.astype(object).to_dict("records")
    for predictor in (made.predictor(), committee.predictor(path)):
        np.testing.assert_array_equal(predictor.predict_proba(rows), expected)


def test_older_files_contain_trees_one_by_one(tmp_path):
    path = tmp_path / "one_by_one.committee"
    made = boosted(AdaBoostM1Classifier, C45Classifier(class_weight="balanced"))
    made.estimator_ = C45Classifier()
    made.save(path)
    loaded = committee.load(path)
    assert isinstance(loaded._members, list)
    np.testing.assert_array_equal(loaded.predict_proba(X), made.predict_proba(X))


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_a_warm_start_continues_with_the_same_trees(weighting):
    options = {"weighting": weighting, "warm_start": True, "store_weights": True}
    made = boosted(AdaBoostM2Classifier, C45Classifier(), n_estimators=3, **options)
    made.set_params(n_estimators=6).fit(X, Y)
    whole = boosted(AdaBoostM2Classifier, C45Classifier(), **options)
    np.testing.assert_array_equal(made.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(made.row_weights_, whole.row_weights_)


def test_a_warm_start_with_members_of_another_kind_is_an_error():
    made = boosted(AdaBoostM1Classifier, C45Classifier(), warm_start=True)
    made.set_params(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=8)
    with pytest.raises(ValueError, match=r"needs members of the same kind\. Set it to False\."):
        made.fit(X, Y)


@pytest.mark.parametrize("stopping", [True, "out_of_fold"])
def test_boosting_may_stop_early(stopping):
    options = {"early_stopping": stopping, "n_estimators": 12}
    made = boosted(AdaBoostClassifier, C45Classifier(), **options)
    other = boosted(AdaBoostClassifier, OneByOne(), **options)
    np.testing.assert_allclose(made.validation_errors_, other.validation_errors_)
    check_same(made, other, X)


def test_a_binned_table_is_an_error():
    with pytest.raises(TypeError, match="X is a BinnedTable, and C45Classifier learns from values"):
        AdaBoostM1Classifier(C45Classifier()).fit(bin_table(X), Y)


def test_ctrl_c_keeps_the_finished_trees():
    def stop_after_three(event):
        if event.n_done == 3 and not event.is_over:
            raise KeyboardInterrupt

    made = AdaBoostM2Classifier(C45Classifier(), n_estimators=6, random_state=0, warm_start=True)
    with pytest.raises(KeyboardInterrupt), receiving(stop_after_three):
        made.fit(X, Y)
    assert len(made.estimators_) == 3
    whole = boosted(AdaBoostM2Classifier, C45Classifier())
    np.testing.assert_array_equal(made.fit(X, Y).predict_proba(X), whole.predict_proba(X))
