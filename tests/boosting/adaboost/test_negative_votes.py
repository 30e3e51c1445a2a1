"""Test negative votes of members that are worse than chance: round by round, in files, and at the limits."""

import numpy as np
import pytest
from every_estimator import name_of
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import committee
from committee import AdaBoostClassifier, C45Classifier, DecisionStumpClassifier, RandomTreeClassifier

RNG = np.random.default_rng(5)
N_ROWS = 60
X = RNG.integers(2, size=(N_ROWS, 6)).astype(float)
# Labels without any signal, so that members fitted to drawn rows are often worse than chance.
NOISE = {2: RNG.integers(2, size=N_ROWS), 3: RNG.integers(3, size=N_ROWS)}
MEMBERS = {
    "random tree": RandomTreeClassifier(max_depth=2),
    "stump": DecisionStumpClassifier(),
    "c45": C45Classifier(min_samples_leaf=8),
    "scikit-learn's tree": SklearnTree(max_depth=1),
    "naive Bayes": GaussianNB(),
}


class Contrary(ClassifierMixin, BaseEstimator):
    """A member of two classes that predicts the opposite of a stump."""

    def fit(self, X, y, sample_weight=None):
        self.stump_ = DecisionStumpClassifier().fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        return self

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, self.stump_.predict(X))]


def boosted(member, n_classes, **parameters):
    parameters = {"weighting": "resample", "random_state": 3, "store_weights": True} | parameters
    booster = AdaBoostClassifier(member, n_estimators=40, negative_votes=True, **parameters)
    return booster.fit(X, NOISE[n_classes])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)
def test_every_round_follows_the_formula(member, learning_rate, n_classes):
    booster, y = boosted(member, n_classes, learning_rate=learning_rate), NOISE[n_classes]
    weights, sums = np.full(N_ROWS, 1 / N_ROWS), np.zeros((N_ROWS, n_classes))
    for number, fitted in enumerate(booster.estimators_):
        labels = fitted.predict(X)
        wrong = labels != y
        error = weights[wrong].sum()
        vote = learning_rate * (np.log((1 - error) / error) + np.log(n_classes - 1))
        np.testing.assert_allclose(booster.row_weights_[number], weights, rtol=1e-9)
        assert booster.estimator_errors_[number] == pytest.approx(error, rel=1e-9)
        assert booster.estimator_weights_[number] == pytest.approx(vote, rel=1e-7, abs=1e-9)
        weights = weights * np.exp(vote * wrong)
        weights /= weights.sum()
        sums[np.arange(N_ROWS), labels] += vote
    assert (booster.estimator_weights_ < 0).any()
    np.testing.assert_array_equal(booster.predict(X), sums.argmax(axis=1))
    np.testing.assert_allclose(booster.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(booster.predict_proba(X).argmax(axis=1), booster.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("member", [*[*MEMBERS.values()][:3], GaussianNB()], ids=name_of)
def test_a_file_keeps_negative_votes(member, n_classes, tmp_path):
    booster = boosted(member, n_classes)
    booster.save(tmp_path / "booster.committee")
    loaded = committee.load(tmp_path / "booster.committee")
    predictor = committee.predictor(tmp_path / "booster.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), booster.predict_proba(X))
    np.testing.assert_allclose(predictor.predict_proba(X), booster.predict_proba(X), rtol=0, atol=1e-12)
    *_, last = booster.staged_predict_proba(X)
    np.testing.assert_allclose(last, booster.predict_proba(X), rtol=0, atol=1e-12)


def test_contrary_members_give_the_booster_of_the_members_they_contradict():
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1).astype(int)
    plain = AdaBoostClassifier(SklearnTree(max_depth=1, random_state=0), n_estimators=10).fit(X, y)
    contrary = AdaBoostClassifier(Contrary(), n_estimators=10, negative_votes=True).fit(X, y)
    np.testing.assert_allclose(contrary.estimator_weights_, -plain.estimator_weights_, rtol=1e-6)
    np.testing.assert_allclose(contrary.predict_proba(X), plain.predict_proba(X), rtol=1e-6)


def test_a_member_that_is_always_wrong_ends_the_run_with_a_vote_of_minus_one():
    y = X[:, 0].astype(int)
    booster = AdaBoostClassifier(Contrary(), negative_votes=True).fit(X, y)
    assert booster.estimator_weights_.tolist() == [-1.0]
    assert booster.score(X, y) == 1


def test_a_member_at_chance_ends_the_run():
    constant = np.zeros((4, 1))
    with pytest.warns(UserWarning, match="no better than chance"):
        booster = AdaBoostClassifier(negative_votes=True).fit(constant, [0, 0, 1, 1])
    assert booster.estimator_weights_.tolist() == [1.0]


def test_members_better_than_chance_do_not_depend_on_the_parameter():
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1).astype(int)
    one, other = (AdaBoostClassifier(negative_votes=each, random_state=0).fit(X, y) for each in (False, True))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_attributions_of_negative_votes_sum_to_the_decision():
    for member in (RandomTreeClassifier(max_depth=2), C45Classifier(min_samples_leaf=8)):
        booster = boosted(member, 2)
        assert (booster.estimator_weights_ < 0).any()
        np.testing.assert_allclose(booster.explain(X).sums, booster.decision_function(X), atol=1e-9)
