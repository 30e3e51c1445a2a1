"""Test that weights reach estimators and the estimators inside them, with and without metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.ensemble import VotingClassifier as PlainVotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from committee import MixtureOfExpertsClassifier, VotingClassifier, VotingRegressor
from committee.combining.metadata_routing import arguments, reaches, request
from committee.rules import StackingRule

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + RNG.normal(size=60)
Y = (NUMBERS > 0).astype(int)
WEIGHTS = RNG.uniform(0.1, 3, 60)


@pytest.fixture(params=[False, True], ids=["plain", "routed"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def voting(*members):
    return PlainVotingClassifier([(str(i), each) for i, each in enumerate(members)], voting="soft")


@pytest.mark.parametrize(
    "member",
    [
        voting(LogisticRegression(), GaussianNB()),
        voting(voting(LogisticRegression())),
        StackingClassifier([("linear", LogisticRegression())], cv=2),
        StackingClassifier([("bayes", GaussianNB())], final_estimator=LogisticRegression(C=0.1), cv=2),
        CalibratedClassifierCV(LinearSVC(), cv=2),
    ],
    ids=lambda member: type(member).__name__,
)
def test_weights_reach_the_members_of_scikit_learns_ensembles(member, routing):
    votes = VotingClassifier([("member", member)]).fit(X, Y, sample_weight=WEIGHTS).predict_proba(X)
    requesting = clone(member)
    request(requesting, "sample_weight")
    weighted = requesting.fit(X, Y, sample_weight=WEIGHTS).predict_proba(X)
    np.testing.assert_allclose(votes, weighted, atol=1e-6)
    assert np.abs(votes - clone(member).fit(X, Y).predict_proba(X)).max() > 1e-3


@pytest.mark.parametrize(
    "member",
    [
        TransformedTargetRegressor(),
        TransformedTargetRegressor(Ridge()),
        StackingRegressor([("linear", LinearRegression())], cv=2),
    ],
    ids=str,
)
def test_weights_reach_a_regressor_inside_another(member, routing):
    weighted = VotingRegressor([("member", member)]).fit(X, NUMBERS, sample_weight=WEIGHTS).predict(X)
    plain = VotingRegressor([("member", member)]).fit(X, NUMBERS).predict(X)
    assert np.abs(weighted - plain).max() > 1e-3
    requesting = clone(member)
    request(requesting, "sample_weight")
    assert reaches(requesting, "sample_weight")


def test_an_ensemble_gets_no_weights_if_one_of_its_members_does_not_accept_them():
    assert arguments(voting(GaussianNB(), KNeighborsClassifier()), "sample_weight", WEIGHTS) == {}
    stacking = StackingClassifier([("bayes", GaussianNB())], final_estimator=KNeighborsClassifier(), cv=2)
    assert arguments(stacking, "sample_weight", WEIGHTS) == {}


def test_an_ensemble_can_be_a_meta_learner_or_an_expert_with_weights(routing):
    ensemble = voting(LogisticRegression())
    votes = RNG.dirichlet([1, 1], size=(2, 60))
    rule = StackingRule(ensemble).fit(votes, Y, sample_weight=WEIGHTS)
    alone = StackingRule(LogisticRegression()).fit(votes, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(rule.combine(votes), alone.combine(votes))
    experts = MixtureOfExpertsClassifier(ensemble, n_experts=2, max_iter=2, n_init=1, random_state=0)
    assert len(experts.fit(X, Y, sample_weight=WEIGHTS).estimators_) == 2


@pytest.mark.parametrize("name", ["logistic", LogisticRegression()], ids=str)
def test_weights_reach_a_meta_learner_with_metadata_routing(name):
    votes = RNG.dirichlet([1, 1], size=(2, 60))
    plain = StackingRule(name).fit(votes, Y, sample_weight=WEIGHTS).combine(votes)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = StackingRule(name).fit(votes, Y, sample_weight=WEIGHTS).combine(votes)
    np.testing.assert_array_equal(routed, plain)


def test_a_member_that_requests_no_weights_gets_none():
    unweighted = VotingClassifier([("linear", LogisticRegression())]).fit(X, Y).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        member = LogisticRegression().set_fit_request(sample_weight=False)
        voted = VotingClassifier([("linear", member)]).fit(X, Y, sample_weight=WEIGHTS).predict_proba(X)
        with pytest.raises(ValueError, match="LogisticRegression takes no sample_weight"):
            StackingRule(member).fit(RNG.dirichlet([1, 1], size=(2, 60)), Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(voted, unweighted)
