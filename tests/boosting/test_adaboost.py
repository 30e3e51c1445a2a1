"""AdaBoost: the algorithms of the notes and their properties, the engine against Python and scikit-learn."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification, make_regression

import adaboost_oracle as oracle
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    rules,
)
from committee.table import bin_table

CLASSIFIERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]


# Not among the types that the engine knows, so these are fitted one by one in Python.
class PythonStump(DecisionStumpClassifier):
    pass


class PythonTree(DecisionTreeClassifier):
    pass


class PythonRegressionStump(DecisionStumpRegressor):
    pass


class PythonRegressionTree(DecisionTreeRegressor):
    pass


def noisy_classes(n_rows=120, n_classes=2, seed=0):
    """A table that no small member classifies without error."""
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip
    return X.round(2), y


def noisy_numbers(n_rows=120, seed=0):
    X, y = make_regression(n_rows, 5, n_informative=3, noise=20, random_state=seed)
    return X.round(2), y


def with_holes_and_categories(X, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"number {j}" for j in range(X.shape[1])])
    frame["number 0"] = frame["number 0"].where(rng.random(len(X)) > 0.1)
    frame["city"] = pd.Categorical(np.where(frame["number 1"] > 0.3, "Oslo", "Rome"))
    frame.loc[rng.random(len(X)) < 0.2, "city"] = None
    return frame


# The lecture notes.


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_three_weightings_of_the_notes_are_one(n_classes):
    X, y = noisy_classes(n_classes=n_classes)
    make = DecisionStumpClassifier if n_classes == 2 else lambda: DecisionTreeClassifier(max_depth=3)
    booster = AdaBoostM1Classifier(make(), n_estimators=8, store_weights=True).fit(X, y)
    for weighting, factor in (
        (oracle.beta_weighting, 1),
        (oracle.exp_alpha_weighting, 1),
        (oracle.half_log_weighting, 2),
    ):
        members, votes, errors, seen = oracle.m1(make, X, y, 8, weighting)
        assert len(members) == 8
        np.testing.assert_allclose(booster.estimator_errors_, errors, rtol=1e-9)
        np.testing.assert_allclose(booster.estimator_weights_, factor * votes, rtol=1e-9)
        np.testing.assert_allclose(booster.row_weights_, seen, rtol=1e-9)
        np.testing.assert_array_equal(
            booster.predict(X), oracle.decide_by_labels(members, votes, X, n_classes)
        )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_m2_is_the_algorithm_of_the_notes(n_classes):
    X, y = noisy_classes(80, n_classes)

    def make():
        return DecisionTreeClassifier(max_depth=2)

    booster = AdaBoostM2Classifier(make(), n_estimators=6, store_weights=True).fit(X, y)
    members, votes, losses, seen = oracle.m2(make, X, y, 6)
    assert len(members) == 6
    np.testing.assert_allclose(booster.estimator_errors_, losses, rtol=1e-9)
    np.testing.assert_allclose(booster.estimator_weights_, votes, rtol=1e-9)
    np.testing.assert_array_equal(booster.predict(X), oracle.decide_by_plausibilities(members, votes, X))
    for weights, distribution in zip(booster.row_weights_, seen, strict=True):
        by_row = [sum(w for (i, _), w in distribution.items() if i == row) for row in range(len(y))]
        np.testing.assert_allclose(weights, by_row, rtol=1e-9)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_is_druckers_algorithm(loss):
    X, y = noisy_numbers(60)

    def make():
        return DecisionTreeRegressor(max_depth=2)

    booster = AdaBoostRegressor(make(), n_estimators=6, weighting="reweight", loss=loss).fit(X, y)
    members, votes, losses = oracle.r2(make, X, y, 6, loss)
    assert len(members) == 6
    np.testing.assert_allclose(booster.estimator_errors_, losses, rtol=1e-6)
    np.testing.assert_allclose(booster.estimator_weights_, votes, rtol=1e-6)
    np.testing.assert_allclose(booster.predict(X), oracle.weighted_median(members, votes, X), rtol=1e-6)


def test_the_learning_rate_multiplies_the_votes():
    X, y = noisy_classes()
    slow = AdaBoostClassifier(n_estimators=5, learning_rate=0.25).fit(X, y)
    errors = slow.estimator_errors_
    np.testing.assert_allclose(slow.estimator_weights_, 0.25 * np.log((1 - errors) / errors), rtol=1e-12)


@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_after_an_update_the_error_of_the_last_member_is_one_half(n_classes, weighting):
    X, y = noisy_classes(n_classes=n_classes)
    booster = AdaBoostM1Classifier(
        n_estimators=10, weighting=weighting, store_weights=True, random_state=0
    ).fit(X, y)
    assert len(booster.estimators_) > 5
    for member, weights in zip(booster.estimators_[:-1], booster.row_weights_[1:], strict=True):
        assert weights.sum() == pytest.approx(1, abs=1e-14)
        assert weights[member.predict(X) != y].sum() == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
def test_the_training_error_never_exceeds_the_product_bound(booster_type, weighting):
    for seed, n_classes in itertools.product(range(4), (2, 3)):
        X, y = noisy_classes(n_classes=n_classes, seed=seed)
        rates = (
            [{"learning_rate": rate} for rate in (0.3, 1.0)] if booster_type is AdaBoostClassifier else [{}]
        )
        for rate in rates:
            booster = booster_type(n_estimators=20, weighting=weighting, random_state=seed, **rate).fit(X, y)
            errors = [1 - score for score in booster.staged_score(X, y)]
            assert len(errors) == len(booster.error_bounds_)
            assert (errors <= booster.error_bounds_ * (1 + 1e-12)).all()


def test_the_bound_of_m1_is_a_product_of_roots():
    booster = AdaBoostM1Classifier(n_estimators=9).fit(*noisy_classes())
    errors = booster.estimator_errors_
    np.testing.assert_allclose(booster.error_bounds_, np.cumprod(2 * np.sqrt(errors * (1 - errors))))


def test_full_trees_end_boosting_at_once_unless_rows_are_drawn():
    X, y = noisy_classes()
    full = DecisionTreeClassifier()
    assert len(AdaBoostM1Classifier(full).fit(X, y).estimators_) == 1
    drawn = AdaBoostM1Classifier(full, n_estimators=20, weighting="resample", random_state=0).fit(X, y)
    assert len(drawn.estimators_) == 20
    assert (drawn.estimator_errors_ > 0).all()
    assert drawn.score(X, y) == 1


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_a_perfect_member_ends_the_run_with_a_finite_vote(booster_type):
    X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    booster = booster_type().fit(X, y)
    assert list(booster.estimator_errors_) == [0]
    expected = 1.0 if booster_type is AdaBoostClassifier else np.log(2 * 4 + 1)
    np.testing.assert_allclose(booster.estimator_weights_, [expected])
    assert list(booster.predict([[0.0], [10.0]])) == ["low", "high"]


def test_a_later_perfect_member_does_not_silence_the_others():
    X, y = load_wine(return_X_y=True)
    booster = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=4)).fit(X, y)
    assert booster.estimator_errors_[-1] == 0
    assert 1 < len(booster.estimator_weights_) < 50
    assert booster.estimator_weights_[-1] == pytest.approx(np.log(2 * len(y) + 1))


def test_an_error_above_one_half_ends_m1_and_keeps_what_came_before():
    X, y = noisy_classes(n_classes=4)
    stump = DecisionTreeClassifier(max_depth=2)
    booster = AdaBoostM1Classifier(stump).fit(X, y)
    assert 1 < len(booster.estimators_) < 50
    assert (booster.estimator_errors_ <= 0.5).all()
    longer = AdaBoostM1Classifier(stump, n_estimators=len(booster.estimators_)).fit(X, y)
    np.testing.assert_array_equal(longer.predict_proba(X), booster.predict_proba(X))


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("stump", [DecisionTreeClassifier(max_depth=1), PythonTree(max_depth=1)])
def test_a_first_member_that_is_no_better_than_chance_stays_alone_with_a_warning(booster_type, stump):
    X, y = np.zeros((9, 1)), [0, 1, 2] * 3
    if booster_type is AdaBoostM2Classifier:
        # All plausibilities are one third: a pseudo-loss of exactly 1/2 has a vote of 0, and goes on.
        booster = booster_type(stump, n_estimators=3).fit(X, y)
        np.testing.assert_array_equal(booster.estimator_weights_, 0)
    else:
        with pytest.warns(UserWarning, match=r"no better than chance \(error 0.667\)"):
            booster = booster_type(stump).fit(X, y)
        np.testing.assert_array_equal(booster.estimator_weights_, [1])
    assert list(booster.predict([[0.0]])) == [0]


def test_a_first_regressor_of_mean_loss_above_one_half_stays_alone_with_a_warning():
    with pytest.warns(UserWarning, match="no better than chance"):
        booster = AdaBoostRegressor().fit([[1.0]] * 4, [0.0, 1.0, 0.0, 1.0])
    assert len(booster.estimators_) == 1


# The engine and Python.


def assert_agree(engine, python, X, atol=0.0):
    """Two boosters have the same members and say the same."""
    np.testing.assert_allclose(engine.estimator_errors_, python.estimator_errors_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.estimator_weights_, python.estimator_weights_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.row_weights_, python.row_weights_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(engine.votes(X).shape, python.votes(X).shape)
    for ours, theirs in zip(engine.staged_predict(X), python.staged_predict(X), strict=True):
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "members", [(DecisionStumpClassifier, PythonStump), (DecisionTreeClassifier, PythonTree)]
)
def test_rounds_of_the_engine_are_rounds_in_python(booster_type, n_classes, members):
    X, y = noisy_classes(n_classes=n_classes)
    frame = with_holes_and_categories(X)
    labels = np.array(["a", "b", "c"])[y]
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    if n_classes == 3 and members[0] is DecisionStumpClassifier and booster_type is AdaBoostM1Classifier:
        pytest.skip("Stumps of three classes have errors above 1/2.")
    parameters = {} if members[0] is DecisionStumpClassifier else {"max_depth": 3, "min_samples_leaf": 2}
    engine, python = (
        booster_type(member(**parameters), n_estimators=6, store_weights=True).fit(
            frame, labels, sample_weight=weights
        )
        for member in members
    )
    assert len(engine.estimators_) == 6
    assert_agree(engine, python, frame)
    np.testing.assert_allclose(engine.predict_proba(frame), python.predict_proba(frame), rtol=1e-9)
    np.testing.assert_allclose(engine.decision_function(frame), python.decision_function(frame), atol=1e-12)
    for ours, theirs in zip(engine.estimators_, python.estimators_, strict=True):
        np.testing.assert_allclose(ours.predict_proba(frame), theirs.predict_proba(frame), rtol=1e-6)
        assert ours.export_text() == re.sub(r" \([^)]*\)$", "", theirs.export_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize(
    "members",
    [(DecisionStumpRegressor, PythonRegressionStump), (DecisionTreeRegressor, PythonRegressionTree)],
)
def test_rounds_of_the_engine_are_rounds_in_python_for_numbers(loss, members):
    X, y = noisy_numbers()
    frame = with_holes_and_categories(X)
    parameters = {"max_depth": 3} if members[0] is DecisionTreeRegressor else {}
    engine, python = (
        AdaBoostRegressor(
            member(**parameters), n_estimators=5, weighting="reweight", loss=loss, learning_rate=0.7,
            store_weights=True,
        ).fit(frame, y)
        for member in members
    )  # fmt: skip
    assert len(engine.estimators_) >= 2
    assert_agree(engine, python, frame)


def test_the_members_of_the_engine_are_fitted_estimators():
    X, y = load_iris(return_X_y=True, as_frame=True)
    booster = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0).fit(
        X, y
    )
    member = booster.estimators_[0]
    assert type(member) is DecisionTreeClassifier
    assert list(member.feature_names_in_) == list(X.columns)
    alone = DecisionTreeClassifier(max_depth=2).fit(X, y)
    np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_allclose(member.feature_importances_, alone.feature_importances_)
    assert member.get_depth() == 2
    assert len(booster.estimators_[1:3]) == 2
    assert repr(booster.estimators_) == "<4 members of AdaBoostClassifier>"


def test_votes_and_a_rule_make_the_decision():
    X, y = load_iris(return_X_y=True)
    m1 = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    np.testing.assert_allclose(
        m1.predict_proba(X), rules.majority(m1.votes(X), m1.estimator_weights_), atol=1e-12
    )
    m2 = AdaBoostM2Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    np.testing.assert_allclose(
        m2.predict_proba(X), rules.mean(m2.votes(X), m2.estimator_weights_), atol=1e-12
    )


@pytest.mark.parametrize("booster_type", CLASSIFIERS)
def test_the_last_stage_is_the_prediction(booster_type):
    X, y = load_iris(return_X_y=True)
    booster = booster_type(n_estimators=5).fit(X, y)
    *_, probabilities = booster.staged_predict_proba(X)
    *_, leaning = booster.staged_decision_function(X)
    *_, score = booster.staged_score(X, y)
    np.testing.assert_array_equal(probabilities, booster.predict_proba(X))
    np.testing.assert_array_equal(leaning, booster.decision_function(X))
    assert score == booster.score(X, y)


def test_margins_are_positive_where_the_decision_is_right():
    X, y = load_iris(return_X_y=True)
    booster = AdaBoostM1Classifier(DecisionTreeClassifier(max_depth=2), n_estimators=5).fit(X, y)
    margins = booster.margins(X, y)
    assert ((margins > 0) <= (booster.predict(X) == y)).all()
    assert (np.abs(margins) <= 1).all()
    with pytest.raises(ValueError, match=r"y has the classes \[7\]"):
        booster.margins(X[:2], [0, 7])


def test_boosting_widens_the_smallest_margins():
    X, y = load_breast_cancer(return_X_y=True)
    few, many = (AdaBoostM1Classifier(n_estimators=n).fit(X, y).margins(X, y) for n in (10, 300))
    assert few.min() < 0 < many.min()


# scikit-learn.


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_samme_is_scikit_learns(depth, n_classes, rate):
    X, y = noisy_classes(n_classes=n_classes)
    # Leaves of many rows: where splits are equally good, the two libraries may take different ones.
    shape = {"max_depth": depth, "min_samples_leaf": 12}
    member = sklearn.tree.DecisionTreeClassifier(**shape)
    settings = {"n_estimators": 12, "learning_rate": rate, "random_state": 0}
    theirs = sklearn.ensemble.AdaBoostClassifier(member, **settings).fit(X, y)
    n_members = len(theirs.estimators_)
    for own_member in (member, DecisionTreeClassifier(**shape)):
        ours = AdaBoostClassifier(own_member, **settings).fit(X, y)
        assert len(ours.estimators_) == n_members
        np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n_members], rtol=1e-6)
        np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n_members], rtol=1e-6)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
        for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
            for a, b in zip(getattr(ours, name)(X), getattr(theirs, name)(X), strict=True):
                np.testing.assert_allclose(a, b, atol=1e-6)
        np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


class ColumnByColumn(RegressorMixin, BaseEstimator):
    """A member that learns nothing: the first says the first column, the next the next."""

    n_fits = 0

    def fit(self, X, y):
        self.column_ = ColumnByColumn.n_fits % X.shape[1]
        ColumnByColumn.n_fits += 1
        return self

    def predict(self, X):
        return X[:, self.column_]


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_is_scikit_learns_where_drawn_rows_do_not_matter(loss):
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    X = y[:, np.newaxis] + rng.normal(size=(50, 4))
    boosters = []
    for booster_type in (AdaBoostRegressor, sklearn.ensemble.AdaBoostRegressor):
        ColumnByColumn.n_fits = 0
        boosters.append(
            booster_type(ColumnByColumn(), n_estimators=8, loss=loss, learning_rate=0.8).fit(X, y)
        )
    ours, theirs = boosters
    n_members = len(ours.estimators_)
    assert n_members == 8
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    for a, b in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


# Going on, and what is kept.


@pytest.mark.parametrize("booster_type", [*CLASSIFIERS, AdaBoostRegressor])
@pytest.mark.parametrize("weighting", ["reweight", "resample"])
@pytest.mark.parametrize("in_python", [False, True])
def test_a_warm_start_goes_on_as_if_it_had_never_stopped(booster_type, weighting, in_python):
    X, y = noisy_classes(n_classes=3) if booster_type in CLASSIFIERS else noisy_numbers()
    tree, python = (
        (DecisionTreeClassifier, PythonTree)
        if booster_type in CLASSIFIERS
        else (DecisionTreeRegressor, PythonRegressionTree)
    )
    member = (python if in_python else tree)(max_depth=3)
    settings = {"weighting": weighting, "store_weights": True, "random_state": 3}
    whole = booster_type(member, n_estimators=7, **settings).fit(X, y)
    parts = booster_type(member, n_estimators=3, warm_start=True, **settings).fit(X, y)
    parts.set_params(n_estimators=7).fit(X, y)
    assert len(parts.estimators_) == len(whole.estimators_) == 7
    np.testing.assert_allclose(parts.estimator_weights_, whole.estimator_weights_, rtol=1e-12)
    np.testing.assert_allclose(parts.row_weights_, whole.row_weights_, rtol=1e-12)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_a_warm_start_checks_what_it_goes_on_with():
    X, y = noisy_classes()
    booster = AdaBoostM1Classifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        booster.fit(X, y)
    booster.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="pass the same rows"):
        booster.fit(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="classes of the fit before"):
        booster.fit(X, y + 1)
    with pytest.raises(ValueError, match="store_weights must be True from the first fit on"):
        booster.set_params(store_weights=True).fit(X, y)
    with pytest.raises(ValueError, match="members of the same kind"):
        booster.set_params(store_weights=False, estimator=PythonStump()).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be >= 3"):
        booster.set_params(estimator=None, n_estimators=2).fit(X, y)
    easy = AdaBoostM1Classifier(n_estimators=3, warm_start=True).fit([[1], [2]], [0, 1])
    with pytest.warns(UserWarning, match="A member has ended the run"):
        easy.set_params(n_estimators=9).fit([[1], [2]], [0, 1])


def test_stored_weights_are_distributions_and_the_first_is_that_of_the_user():
    X, y = noisy_classes()
    weights = np.arange(len(y)) % 3
    booster = AdaBoostM2Classifier(n_estimators=4, store_weights=True).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(booster.row_weights_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(booster.row_weights_[0], weights / weights.sum(), rtol=1e-12)
    assert (booster.row_weights_[:, weights == 0] == 0).all()
    assert AdaBoostM2Classifier(n_estimators=4).fit(X, y).row_weights_ is None


def test_threads_change_no_bit_of_a_large_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 20)).astype(np.float32)
    y = ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int)
    for booster in (
        AdaBoostM1Classifier(n_estimators=5),
        AdaBoostM2Classifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=3, weighting="resample", random_state=0
        ),
    ):
        answers = {booster.set_params(n_jobs=n).fit(X, y).predict_proba(X).tobytes() for n in (1, 2, 3, 7)}
        assert len(answers) == 1


def test_few_bins_are_coarse_and_many_are_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = (X[:, 0] > np.sort(X[:, 0])[700]).astype(int)
    assert AdaBoostM1Classifier(max_bins=2000).fit(X, y).score(X, y) == 1
    assert AdaBoostM1Classifier(max_bins=4).fit(X, y).score(X, y) < 1


def test_a_binned_table_is_the_table():
    X, y = noisy_classes()
    binned = bin_table(X)
    np.testing.assert_array_equal(
        AdaBoostClassifier(n_estimators=5).fit(binned, y).predict_proba(X),
        AdaBoostClassifier(n_estimators=5).fit(X, y).predict_proba(X),
    )
    with pytest.raises(TypeError, match="only members of the engine take"):
        AdaBoostClassifier(PythonStump()).fit(binned, y)
    with pytest.raises(ValueError, match="a BinnedTable has none to give"):
        AdaBoostClassifier(early_stopping=True).fit(binned, y)


def test_parameters_of_the_trees_reach_the_engine():
    X, y = noisy_classes()
    for parameters in (
        {"max_leaf_nodes": 3},
        {"min_samples_leaf": 20},
        {"ccp_alpha": 0.05},
        {"splitter": "random", "max_depth": 2},
        {"max_features": 1, "max_depth": 2},
        {"monotonic_cst": [1, 0, 0, 0, 0, -1]},
        {"criterion": "entropy", "max_depth": 2},
    ):
        member = DecisionTreeClassifier(**parameters)
        engine = AdaBoostClassifier(member, n_estimators=4, random_state=0).fit(X, y)
        assert isinstance(engine.estimators_[0], DecisionTreeClassifier)
        if "splitter" in parameters or "max_features" in parameters:
            again = AdaBoostClassifier(member, n_estimators=4, random_state=1).fit(X, y)
            assert (again.votes(X) != engine.votes(X)).any()
            continue
        python = AdaBoostClassifier(PythonTree(**parameters), n_estimators=4, random_state=0).fit(X, y)
        np.testing.assert_allclose(engine.predict_proba(X), python.predict_proba(X), rtol=1e-6)


def test_importances_are_those_of_the_members_by_their_votes():
    X, y = noisy_classes()
    booster = AdaBoostM1Classifier(n_estimators=6).fit(X, y)
    by_member = np.array([member.feature_importances_ for member in booster.estimators_])
    expected = np.average(by_member, axis=0, weights=booster.estimator_weights_)
    np.testing.assert_allclose(booster.feature_importances_, expected)
    assert booster.feature_importances_.sum() == pytest.approx(1)


def test_survey_weights_count_by_their_ratios():
    X, y = noisy_classes()
    weights = np.random.default_rng(0).integers(1, 5, len(y)).astype(float)
    small, large = (
        AdaBoostM1Classifier(n_estimators=5).fit(X, y, sample_weight=w).estimator_errors_
        for w in (weights, weights * 123_456.7)
    )
    np.testing.assert_allclose(small, large, rtol=1e-9)


def test_no_warning_is_given_for_ordinary_tables():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for booster_type in CLASSIFIERS:
            booster_type().fit(*load_iris(return_X_y=True))
