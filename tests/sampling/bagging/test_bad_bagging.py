"""Errors of bagging, failing members, and interrupted fits."""

import re

import numpy as np
import pytest
from runner_tasks import Failing
from sklearn import config_context
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from committee import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    RandomSubspaceClassifier,
    load,
)
from committee.table import bin_table

X = np.arange(24.0).reshape(12, 2)
Y = np.array([0, 1, 2] * 4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_samples": 0}, r"max_samples must be an integer >= 1 or a float in \(0, 1\]. Got 0."),
        ({"max_samples": 1.5}, r"max_samples must be .* Got 1.5."),
        ({"max_samples": 13}, "max_samples=13 is more than the 12 rows"),
        ({"max_features": 0.0}, r"max_features must be .* Got 0.0."),
        ({"max_features": 3}, "max_features=3 is more than the 2 columns of X"),
        ({"n_estimators": 0}, 'n_estimators must be an integer >= 1 or "auto". Got 0.'),
        ({"estimator": LinearRegression()}, r"estimator must be a classifier. Got LinearRegression\(\)."),
        ({"estimator": GaussianNB}, "estimator must be an estimator with fit and predict, or None"),
        ({"sampling": "even"}, 'sampling must be "plain", "stratified" or "balanced". Got \'even\'.'),
        ({"sampling": "stratified", "max_samples": 2}, "draws 2 rows, and there are 3 classes"),
        ({"max_samples": 2}, r"max_samples=2 draws 2 rows, and there are 3 classes. Raise it."),
        ({"max_samples": 0.2, "bootstrap": False}, "draws 2 rows, and there are 3 classes"),
        ({"rule": "best"}, "There is no rule 'best'"),
        ({"rule": 3}, "rule must be the name of a rule, a function of votes or a rule. Got 3."),
        ({"bootstrap": False, "oob_score": True}, "Out of bag estimation only available if bootstrap=True"),
        ({"bootstrap": False, "n_estimators": "auto"}, "Out of bag estimation only available"),
        ({"bootstrap": False, "rule": "stacking"}, "'stacking' learns from out-of-bag votes"),
        (
            {"estimator": LinearSVC(), "rule": "product"},
            "has no predict_proba, and the rule 'product'",
        ),
        ({"class_weight": {7: 2}}, "class_weight has the labels"),
        (
            {"class_weight": "balanced", "sampling": "stratified"},
            "class_weight and sampling='stratified' both set how often classes are drawn",
        ),
        ({"estimator": DecisionTreeClassifier(max_depth=0)}, "max_depth must be an integer >= 1 or None"),
        ({"estimator": DecisionTreeClassifier(categorical_features=[0])}, "of the ensemble, not of its"),
        ({"runner": "cluster"}, 'runner must be "serial", "threads", "processes" or a Runner'),
    ],
)
def test_bad_parameters_are_refused_in_one_line(parameters, message):
    with pytest.raises(ValueError, match=message) as raised:
        BaggingClassifier(**parameters).fit(X, Y)
    assert "\n" not in str(raised.value)


def test_groups_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match=r"groups must have one value for each of the 12 rows. Got \(3,\)."):
        BaggingClassifier().fit(X, Y, groups=[1, 2, 3])


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_groups_are_refused(missing):
    with pytest.raises(ValueError, match=r"groups has missing values. Give every row a group"):
        BaggingClassifier().fit(X, Y, groups=[missing, *range(11)])


def test_a_member_that_cannot_vote_is_named():
    bagging = BaggingClassifier(GaussianNB(), 2, bootstrap=False).fit([[1.0]] * 4, ["a", "b"] * 2)
    with pytest.raises(
        ValueError, match=r"^Member 0, GaussianNB, cannot vote. ValueError: It votes with NaN"
    ):
        bagging.predict([[1.0]])


def test_a_rule_for_classification_is_refused_in_regression():
    with pytest.raises(ValueError, match="NaiveBayesRule is a rule for classification"):
        BaggingRegressor(rule="naive_bayes").fit(X, Y.astype(float))


@pytest.mark.parametrize("arguments", [{"bootstrap": False}, {"groups": np.arange(12) // 2}], ids=str)
def test_weights_are_refused_if_members_take_none(arguments):
    groups = arguments.pop("groups", None)
    near = KNeighborsClassifier(1)
    for member in (near, make_pipeline(StandardScaler(), near), GridSearchCV(near, {"n_neighbors": [1]})):
        bagging = BaggingClassifier(member, **arguments)
        with pytest.raises(ValueError, match=f"{type(member).__name__} takes no sample_weight"):
            bagging.fit(X, Y, np.linspace(0.5, 1, 12), groups=groups)
        with pytest.raises(ValueError, match="rows or classes have weights"):
            bagging.set_params(class_weight="balanced").fit(X, Y, groups=groups)


@pytest.mark.parametrize("routes", [True, False])
def test_weights_reach_the_last_step_of_a_pipeline(routes):
    weights = np.linspace(0.5, 3, 12)
    bagging = BaggingClassifier(make_pipeline(StandardScaler(), GaussianNB()), 2, bootstrap=False)
    with config_context(enable_metadata_routing=routes):
        votes = bagging.fit(X, Y, weights).predict_proba(X)
    spread = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    scaled = (X - np.average(X, axis=0, weights=weights)) / np.sqrt(spread)
    np.testing.assert_allclose(votes, GaussianNB().fit(scaled, Y, weights).predict_proba(scaled), atol=1e-6)


@pytest.mark.parametrize("runner", ["serial", "threads", "processes"])
def test_the_error_of_a_member_has_its_index_and_the_cause(runner):
    bagging = BaggingClassifier(Failing(), 8, bootstrap=True, runner=runner, n_jobs=None, random_state=0)
    with pytest.raises(RuntimeError) as raised:
        bagging.fit(X, Y)
    # The traceback of its process is in a note.
    message = r"Member \d, Failing, cannot be fitted\. RuntimeError: out of luck"
    assert re.fullmatch(message, str(raised.value))
    assert isinstance(raised.value.__cause__, RuntimeError)
    assert not hasattr(bagging, "rule_")


class Refusing(GaussianNB):
    """A member that refuses fewer than three classes."""

    def fit(self, X, y):
        if len(np.unique(y)) < 3:
            raise ValueError("too few classes")
        return super().fit(X, y)


def test_the_error_for_a_bag_without_all_classes_has_advice():
    bagging = BaggingClassifier(Refusing(), 10, max_samples=5, random_state=0)
    with pytest.raises(ValueError, match="Its bag does not contain all classes: set a larger max_samples"):
        bagging.fit(X, Y)
    assert bagging.set_params(sampling="stratified").fit(X, Y).predict(X).shape == (12,)


def test_a_constant_replaces_a_member_that_refuses_one_class(tmp_path):
    y = np.array(["often"] * 11 + ["once"])
    bagging = BaggingClassifier(LogisticRegression(), 10, random_state=0).fit(X, y)
    seen = [np.unique(y[rows]) for rows in bagging.estimators_samples_]
    assert {len(classes) for classes in seen} == {1, 2}
    for votes, classes in zip(bagging.votes(X), seen, strict=True):
        assert len(classes) == 2 or (votes == [1, 0]).all()
    bagging.save(tmp_path / "bagging")
    np.testing.assert_array_equal(load(tmp_path / "bagging").predict_proba(X), bagging.predict_proba(X))


def test_a_row_of_each_class_is_enough():
    # Naive Bayes votes with NaN if it is fitted on a single row.
    bagging = BaggingClassifier(GaussianNB(), 20, random_state=0).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert min(len(np.unique(rows)) for rows in bagging.estimators_samples_) == 1
    np.testing.assert_allclose(bagging.predict_proba([[0.0], [5.0]]).sum(axis=1), 1)


def test_a_binned_table_is_only_for_members_that_the_engine_grows():
    with pytest.raises(TypeError, match="and GaussianNB learns from values"):
        BaggingClassifier(GaussianNB()).fit(bin_table(X), Y)
    with pytest.raises(ValueError, match="the votes on its rows need the values"):
        BaggingClassifier(keep_votes=True).fit(bin_table(X), Y)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({"n_estimators": 2}, (X, Y), "n_estimators=2 must be larger or equal to the 3 members"),
        ({"estimator": GaussianNB()}, (X, Y), "needs members of the same kind"),
        ({}, (X[:9], Y[:9]), "X has 9 rows, and the previous fit had 12"),
        ({}, (X, Y % 2), "needs the classes of the previous fit"),
        ({"oob_score": True}, (X, Y), "computed no out-of-bag votes"),
        ({"keep_votes": True}, (X, Y), "The votes of the previous fit were not kept"),
        ({"max_samples": 0.5}, (X, Y), "needs the bags of the previous fit"),
        ({"bootstrap": False}, (X, Y), "needs the bags of the previous fit"),
        ({"sampling": "stratified"}, (X, Y), "needs the bags of the previous fit"),
        ({}, (X, Y, np.arange(12)), "needs the bags of the previous fit"),
        ({}, (X[::-1], Y[::-1]), "needs the bags of the previous fit"),
    ],
)
def test_a_fit_that_cannot_be_resumed_is_refused(change, arguments, message):
    bagging = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    bagging.set_params(**{"n_estimators": 5, **change})
    with pytest.raises(ValueError, match=message):
        bagging.fit(*arguments)
    assert len(bagging.estimators_) == 3


@pytest.mark.parametrize("rules", [("mean", "majority"), ("majority", "mean"), ("majority", "median")])
def test_counts_of_a_majority_are_not_added_to_means_of_votes(rules):
    bagging = BaggingClassifier(
        n_estimators=3, oob_score=True, warm_start=True, keep_votes=True, rule=rules[0]
    )
    bagging.fit(X, Y).set_params(n_estimators=5, rule=rules[1])
    with pytest.raises(ValueError, match="counts out-of-bag votes by majority"):
        bagging.fit(X, Y)
    assert len(bagging.oob_curve_) == 3


def test_values_that_were_not_kept_are_reported():
    bagging = RandomSubspaceClassifier(n_estimators=3).fit(X, Y)
    with pytest.raises(AttributeError, match="only after a fit with oob_score=True"):
        bagging.oob_decision_function_  # noqa: B018
    with pytest.raises(AttributeError, match="Only a fit with keep_votes=True stores the votes"):
        bagging.oob_votes_  # noqa: B018
    with pytest.raises(ValueError, match="learns from out-of-bag votes, and none were kept"):
        bagging.recombine("stacking")
    assert bagging.recombine("majority").predict(X).shape == (12,)
    with pytest.raises(ValueError, match="X has 5 rows, and the members were fitted on 12"):
        BaggingClassifier(n_estimators=3, keep_votes=True).fit(X, Y).recombine("region", X[:5])
    with pytest.raises(ValueError, match="has no predict_proba, and the rule 'product'"):
        BaggingClassifier(LinearSVC(), 3).fit(X, Y).recombine("product")


def test_bags_of_all_rows_are_reported():
    bagging = BaggingClassifier(n_estimators=1, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="Every bag contains every row"):
        bagging.fit([[1.0]], [0])
    assert np.isnan(bagging.oob_score_)


class Interrupting(GaussianNB):
    """A member whose fourth fit is interrupted."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Interrupting.n_fits += 1
        if Interrupting.n_fits == 4:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("warm_start", [True, False])
def test_an_interrupted_fit_keeps_complete_members_or_changes_nothing(warm_start):
    Interrupting.n_fits = 0
    settings = {"oob_score": True, "sampling": "stratified", "random_state": 0, "runner": "serial"}
    bagging = BaggingClassifier(Interrupting(), 6, warm_start=warm_start, **settings)
    with pytest.raises(KeyboardInterrupt):
        bagging.fit(X, Y)
    if not warm_start:
        assert not hasattr(bagging, "rule_")
        return
    assert 0 < len(bagging.estimators_) == len(bagging.oob_curve_) < 6
    whole = BaggingClassifier(GaussianNB(), 6, **settings).fit(X, Y)
    np.testing.assert_array_equal(bagging.fit(X, Y).predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(bagging.oob_decision_function_, whole.oob_decision_function_)
