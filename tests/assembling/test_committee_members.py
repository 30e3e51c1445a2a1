"""Members of other libraries: encoded labels, and sample weights that pass through pipelines."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import committee
from committee import CAWPEClassifier, StackingClassifier, VotingClassifier
from committee.assembling.named_members import default_members, encoded
from committee.members import NumberedLabels, TableEncoder
from committee.members.member_view import voting_model
from committee.members.member_votes import votes_of
from committee.table.source import open_source
from committee.task import Classification, Regression

X, CODES = load_iris(return_X_y=True)
WORDS = np.array(["no", "perhaps", "yes"])[CODES]
WEIGHTS = np.random.default_rng(0).integers(1, 4, len(CODES)).astype(float)


class ConsecutiveLabelsBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes that accepts only the classes 0, 1, 2, ... without a gap, like XGBoost's classifier."""

    def fit(self, X, y, sample_weight=None):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError("Invalid classes.")
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


@pytest.mark.parametrize("labels", [WORDS, CODES * 2 + 5, CODES - 1.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_a_member_that_accepts_only_numbers_gets_encoded_labels(labels, weights):
    picky, easy = (
        CAWPEClassifier([("bayes", each)], cv=3).fit(X, labels, sample_weight=weights)
        for each in (ConsecutiveLabelsBayes(), GaussianNB())
    )
    np.testing.assert_array_equal(picky.honest_votes_, easy.honest_votes_)
    np.testing.assert_array_equal(picky.predict(X), easy.predict(X))
    assert isinstance(picky.estimators_[0], NumberedLabels)
    assert isinstance(easy.estimators_[0], GaussianNB)


def test_a_fold_without_a_class_gets_labels_without_a_gap():
    folds = [
        (np.flatnonzero(CODES != 1), np.flatnonzero(CODES == 1)),
        (np.arange(0, 150, 2), np.arange(1, 150, 2)),
    ]
    voting = VotingClassifier([("picky", ConsecutiveLabelsBayes())], cv=folds).fit(X, CODES)
    alone = voting.honest_votes_[0][np.searchsorted(voting.honest_rows_, np.arange(50, 100, 2))]
    assert (alone[:, 1] == 0).all()
    np.testing.assert_allclose(alone.sum(axis=1), 1, atol=1e-6)
    assert isinstance(voting.estimators_[0], ConsecutiveLabelsBayes)


def test_a_failure_unrelated_to_labels_is_reported_unchanged():
    with pytest.raises(ValueError, match=r"member 'bayes', fold \d.*Number of priors must match"):
        CAWPEClassifier([("bayes", GaussianNB(priors=[1.0]))]).fit(X, WORDS)


def test_xgboost_votes_on_text_labels():
    xgboost = pytest.importorskip("xgboost")
    member = xgboost.XGBClassifier(n_estimators=5, random_state=0)
    voting = VotingClassifier([("xgb", member)], cv=3).fit(X, WORDS)
    expected = clone(member).fit(X, CODES)
    np.testing.assert_allclose(voting.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(voting.predict(X), WORDS[[0, 50, 100]][expected.predict(X)])


def test_encoded_labels_are_saved(tmp_path):
    voting = VotingClassifier([("bayes", NumberedLabels(GaussianNB()))], cv=3).fit(X, WORDS)
    voting.save(tmp_path / "m.committee")
    committee.verify(tmp_path / "m.committee")
    loaded = committee.load(tmp_path / "m.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), voting.predict_proba(X))
    assert loaded.estimators_[0].n_features_in_ == 4
    with pytest.raises(ValueError, match=r"estimator must be a classifier. Got 3"):
        NumberedLabels(3).fit(X, WORDS)


@parametrize_with_checks([NumberedLabels(LogisticRegression()), TableEncoder()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scaled(model):
    return make_pipeline(StandardScaler(), FunctionTransformer(), model)


def weighted_votes(member, **fit):
    return CAWPEClassifier([("member", member)], cv=3).fit(X, WORDS, **fit).honest_votes_


def test_weights_reach_the_steps_of_a_pipeline_with_and_without_metadata_routing():
    plain, nested = scaled(LogisticRegression()), make_pipeline(scaled(LogisticRegression()))
    by_name = weighted_votes(plain, sample_weight=WEIGHTS)
    assert (by_name != weighted_votes(plain)).any()
    np.testing.assert_array_equal(weighted_votes(nested, sample_weight=WEIGHTS), by_name)
    with sklearn.config_context(enable_metadata_routing=True):
        for member in (plain, nested):
            np.testing.assert_array_equal(weighted_votes(member, sample_weight=WEIGHTS), by_name)
        np.testing.assert_array_equal(
            weighted_votes(scaled(ConsecutiveLabelsBayes()), sample_weight=WEIGHTS),
            weighted_votes(scaled(GaussianNB()), sample_weight=WEIGHTS),
        )


def test_a_step_that_does_not_request_weights_gets_none(routing):
    not_requested = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        LogisticRegression().set_fit_request(sample_weight=False),
    )
    without = weighted_votes(make_pipeline(StandardScaler(), LogisticRegression()))
    np.testing.assert_array_equal(weighted_votes(not_requested, sample_weight=WEIGHTS), without)


def test_metadata_routing_does_not_change_the_members_of_the_cawpe_paper(routing):
    members = [(name, member) for name, member in default_members(True) if name != "perceptron"]
    routed = StackingClassifier(members, cv=2, random_state=0).fit(X, WORDS, sample_weight=WEIGHTS)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = StackingClassifier(members, cv=2, random_state=0).fit(X, WORDS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(routed.predict_proba(X), plain.predict_proba(X))


def test_a_committee_receives_routed_weights_and_groups(routing):
    groups = np.arange(len(CODES)) % 5
    inner = VotingClassifier([("bayes", GaussianNB())], cv=3).set_fit_request(sample_weight=True, groups=True)
    outer = make_pipeline(StandardScaler(), inner)
    outer[0].set_fit_request(sample_weight=False)
    outer.fit(X, WORDS, sample_weight=WEIGHTS, groups=groups)
    direct = VotingClassifier([("bayes", GaussianNB())], cv=3)
    direct.fit(StandardScaler().fit_transform(X), WORDS, sample_weight=WEIGHTS, groups=groups)
    np.testing.assert_array_equal(outer[-1].honest_votes_, direct.honest_votes_)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    ("search", "given"),
    [
        (GridSearchCV, {}),
        (RandomizedSearchCV, {"n_iter": 1, "random_state": 0}),
        (HalvingGridSearchCV, {"random_state": 0}),
        (HalvingRandomSearchCV, {"n_candidates": 1, "random_state": 0}),
    ],
)
def test_weights_reach_the_estimator_inside_a_search(search, given, routing):
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    with sklearn.config_context(enable_metadata_routing=routing):
        searching = search(pipeline, {"gaussiannb__var_smoothing": [1e-9]}, cv=2, **given)
        weighted = VotingClassifier([("search", searching)]).fit(X, CODES, sample_weight=WEIGHTS)
        model = weighted.named_estimators_["search"].best_estimator_[-1]
    expected = np.bincount(CODES, WEIGHTS) / WEIGHTS.sum()
    np.testing.assert_allclose(model.class_prior_, expected)


@pytest.mark.parametrize("n_rows", [1, 5, 150])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        LogisticRegression(fit_intercept=False),
        OneVsRestClassifier(LogisticRegression(solver="liblinear")),
        LinearDiscriminantAnalysis(),
        GaussianNB(),
    ],
)
def test_an_encoded_member_votes_as_its_pipeline_does(n_rows, n_classes, last):
    X, y = load_iris(return_X_y=True)
    y = np.minimum(y, n_classes - 1)
    model = encoded(clone(last)).fit(X, y)
    task, _ = Classification.of(y)
    votes = votes_of(*voting_model(model, open_source(X[:n_rows])), task)
    np.testing.assert_allclose(votes, model.predict_proba(X[:n_rows]), rtol=0, atol=1e-9)


def test_an_encoded_regressor_votes_as_its_pipeline_does():
    X, y = load_diabetes(return_X_y=True)
    for last in (RidgeCV(), LinearRegression(fit_intercept=False), KNeighborsRegressor()):
        model = encoded(last).fit(X, y)
        votes = votes_of(*voting_model(model, open_source(X[:1])), Regression())
        np.testing.assert_allclose(votes[:, 0], model.predict(X[:1]), rtol=1e-9)
