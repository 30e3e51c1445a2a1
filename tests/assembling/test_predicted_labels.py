"""Rules that read labels use the classes that the members' own `predict` returns."""

import re
import warnings

import numpy as np
import pytest
from edited_files import change
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import committee
from committee import BaggingClassifier, CommitteeClassifier, VotingClassifier, rules
from committee.assembling import Bank
from committee.combining.rule_registry import as_rule, rule_names
from committee.members import MidpointClassifier
from committee.members.member_votes import PREDICT_HIGHEST, has_own_labels
from committee.saving.states.committee_states import MEMBERS as NAME_OF_MEMBERS

pytestmark = pytest.mark.filterwarnings("ignore:Members without predict_proba")

WINE, KIND = load_wine(return_X_y=True)
WINE = WINE + np.random.default_rng(0).normal(0, WINE.std(axis=0), WINE.shape)
KIND = np.array(["first", "second", "third"])[KIND]
IS_FIRST = (KIND == "first").astype(int)


class Cautious(ClassifierMixin, BaseEstimator):
    """Predicts the last class unless another one is almost sure."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        shares = self.predict_proba(X)
        return self.classes_[
            np.where(shares.max(axis=1) > 0.98, shares.argmax(axis=1), len(self.classes_) - 1)
        ]


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """Another classifier without its probabilities, so that its votes are its labels."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y):
        self.model_ = self.estimator.fit(X, y)
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        return self

    def predict(self, X):
        return self.model_.predict(X)


def probable():
    return make_pipeline(StandardScaler(), LogisticRegression())


MEMBERS = {
    "centroid": (NearestCentroid, KIND),
    "custom": (Cautious, KIND),
    "fixed": (lambda: FixedThresholdClassifier(probable(), threshold=0.9), IS_FIRST),
    "tuned": (
        lambda: TunedThresholdClassifierCV(probable(), cv=2, thresholds=[0.9, 0.97], random_state=0),
        IS_FIRST,
    ),
}
RULES = [as_rule(name) for name in rule_names() if as_rule(name)._reads_labels()] + [
    rules.StackingRule(votes="labels"),
    rules.DynamicRule(voting="hard"),
    rules.AdjustedRule("majority"),
    rules.CostRule("weighted_majority", costs=None),
]


SMALL = slice(None, None, 3)
OTHERS = slice(1, None, 3)
TRUSTED = ["sklearn.neighbors._nearest_centroid.NearestCentroid"]


def pairs(make, wrap=lambda member: member):
    tree = DecisionTreeClassifier(max_depth=2, random_state=1)
    return [("odd", wrap(make())), ("tree", tree), ("bayes", GaussianNB())]


def voting(estimators, y, **settings):
    parameters = {"cv": 3, "random_state": 0, "runner": "serial"} | settings
    return VotingClassifier(estimators, **parameters).fit(WINE[SMALL], y[SMALL])


def check_same(ours, theirs, X=None):
    for rule in RULES:
        made = [each.recombine(rule, X) for each in (ours, theirs)]
        decisions = [each.predict_proba(WINE[OTHERS]) for each in made]
        np.testing.assert_array_equal(*decisions, err_msg=repr(rule))


@pytest.fixture(params=MEMBERS)
def member(request):
    return MEMBERS[request.param]


def test_the_members_predict_otherwise_than_their_highest_probability(member):
    make, y = member
    model = make().fit(WINE[SMALL], y[SMALL])
    assert (model.predict(WINE) != model.classes_[model.predict_proba(WINE).argmax(axis=1)]).any()
    wrapped = [make_pipeline(StandardScaler(), make()), GridSearchCV(make(), {}), FrozenEstimator(model)]
    assert all(map(has_own_labels, [make(), model, *wrapped]))


def test_the_loop_covers_the_rules_that_read_labels():
    names = [name for name in rule_names() if as_rule(name)._reads_labels()]
    assert names == ["majority", "plurality", "weighted_majority", "naive_bayes", "behaviour_knowledge"]


@pytest.mark.parametrize("rule", ["majority", "plurality"])
def test_hard_voting_equals_that_of_scikit_learn(rule, member):
    make, y = member
    for estimators in (pairs(make)[:1], pairs(make)):
        theirs = ensemble.VotingClassifier(estimators).fit(WINE[SMALL], y[SMALL])
        ours = voting(estimators, y, rule=rule, cv=None)
        np.testing.assert_array_equal(ours.predict(WINE), theirs.predict(WINE))


def test_every_rule_sees_a_member_as_if_it_had_no_probabilities(member):
    make, y = member
    for settings in ({"rule": "naive_bayes"}, {"refit": False}):
        ours, crisp = (voting(pairs(make, wrap), y, **settings) for wrap in (lambda each: each, OnlyLabels))
        if "rule" in settings:
            decisions = [each.predict_proba(WINE) for each in (ours, crisp)]
            np.testing.assert_array_equal(*decisions)
        check_same(ours, crisp, WINE[SMALL])


def test_fitted_members_are_asked_too(member):
    make, y = member
    fitted = [(name, each.fit(WINE[OTHERS], y[OTHERS])) for name, each in pairs(make)]
    crisp = [("odd", OnlyLabels(make()).fit(WINE[OTHERS], y[OTHERS])), *fitted[1:]]
    check_same(*(voting(each, y, cv="prefit") for each in (fitted, crisp)), WINE[SMALL])


def test_banks_keep_the_labels_of_members(member, tmp_path):
    make, y = member

    def decisions(wrap, folder=None):
        bank = Bank(WINE[SMALL], y[SMALL], cv=3, X_test=WINE[OTHERS], folder=folder)
        bank.collect(pairs(make, wrap), runner="serial")
        return [bank.combine(rule) for rule in RULES]

    crisp = decisions(OnlyLabels)
    np.testing.assert_array_equal(decisions(lambda each: each), crisp)
    for _ in range(2):  # The second bank reads the files of the first.
        np.testing.assert_array_equal(decisions(lambda each: each, tmp_path), crisp)


def test_a_bank_takes_the_labels_of_a_committee_and_of_the_caller():
    X, y, X_test = WINE[SMALL], KIND[SMALL], WINE[OTHERS]
    bank = Bank(X, y, cv=3, X_test=X_test)
    fitted = voting(pairs(NearestCentroid), KIND, cv=bank.folds)
    bank.add_committee(fitted)
    expected = fitted.recombine("naive_bayes").predict_proba(X_test)
    np.testing.assert_array_equal(bank.combine("naive_bayes", names=["odd", "tree", "bayes"]), expected)
    test_votes = np.tile([0.6, 0.4, 0.0], (len(X_test), 1))
    for fold, (_, rows) in enumerate(bank.folds):
        votes = np.tile([0.6, 0.4, 0.0], (len(rows), 1))
        labels = {"labels": np.full(len(rows), 2), "test_labels": np.ones(len(X_test), dtype=int)}
        bank.add("mine", fold, votes, test_votes=test_votes, **labels)
    assert (bank.combine("plurality", ["mine"]).argmax(axis=1) == 1).all()
    assert (bank.combine("mean", ["mine"]).argmax(axis=1) == 0).all()
    assert set(bank.honest(["mine"]).labels[0].tolist()) == {2}
    with pytest.raises(ValueError, match="codes of classes, from 0 to 2"):
        bank.add("other", 0, votes, labels=np.full(len(votes), 3))


def test_bagging_asks_its_members(member):
    make, y = member

    def fitted(wrap, **settings):
        parameters = {"n_estimators": 4, "random_state": 0, "runner": "serial"} | settings
        return BaggingClassifier(wrap(make()), **parameters).fit(WINE[SMALL], y[SMALL])

    check_same(*(fitted(wrap, keep_votes=True) for wrap in (lambda each: each, OnlyLabels)), WINE[SMALL])
    for rule in ("majority", "plurality", "naive_bayes"):
        settings = {"rule": rule, "oob_score": True}
        ours, crisp = (fitted(wrap, **settings) for wrap in (lambda each: each, OnlyLabels))
        np.testing.assert_array_equal(ours.predict_proba(WINE), crisp.predict_proba(WINE))
        np.testing.assert_array_equal(ours.oob_decision_function_, crisp.oob_decision_function_)
    votes = [each.predict(WINE) for each in fitted(lambda each: each).estimators_]
    counts = np.array([[(of_row == label).sum() for label in np.unique(y)] for of_row in np.array(votes).T])
    np.testing.assert_allclose(fitted(lambda each: each, rule="majority").predict_proba(WINE), counts / 4)


def test_more_members_of_bagging_keep_the_labels_of_the_first():
    settings = {"rule": "naive_bayes", "random_state": 0, "runner": "serial"}
    whole = BaggingClassifier(NearestCentroid(), n_estimators=5, **settings).fit(WINE[SMALL], KIND[SMALL])
    more = BaggingClassifier(NearestCentroid(), n_estimators=3, warm_start=True, **settings)
    more = more.fit(WINE[SMALL], KIND[SMALL]).set_params(n_estimators=5).fit(WINE[SMALL], KIND[SMALL])
    np.testing.assert_array_equal(more.predict_proba(WINE), whole.predict_proba(WINE))


@pytest.mark.parametrize("name", ["centroid", "fixed"])
def test_automatic_committees_ask_their_members(name, tmp_path):
    make, y = MEMBERS[name]

    def fitted(wrap, **settings):
        parameters = {"rule": "naive_bayes", "random_state": 0, "keep": "all", "runner": "serial"} | settings
        members = [("odd", wrap(make())), ("own", committee.DecisionTreeClassifier(max_depth=2))]
        return CommitteeClassifier(members, **parameters).fit(WINE[SMALL], y[SMALL])

    crisp = fitted(OnlyLabels)
    # A run cannot load a model of skops without trust, but it reads the votes and labels in its folder.
    with pytest.warns(RuntimeWarning, match="A resumed run will fit member 'odd' again"):
        ours = fitted(lambda each: each, run_folder=tmp_path)
        resumed = fitted(lambda each: each, run_folder=tmp_path)
    check_same(ours, crisp, WINE[SMALL])
    np.testing.assert_array_equal(resumed.predict_proba(WINE), ours.predict_proba(WINE))
    refitted = [each.refit_full(WINE[SMALL], y[SMALL]).predict_proba(WINE) for each in (ours, crisp)]
    np.testing.assert_array_equal(*refitted)


def test_files_keep_the_labels(tmp_path):
    path = tmp_path / "model.committee"
    estimators = pairs(NearestCentroid)
    estimators[1] = ("tree", committee.DecisionTreeClassifier(max_depth=2))
    bagging = BaggingClassifier(NearestCentroid(), n_estimators=4, keep_votes=True, random_state=0)
    made = [voting(estimators, KIND, keep="all"), bagging.fit(WINE[SMALL], KIND[SMALL])]
    for each in made:
        each.save(path)
        check_same(committee.load(path, trusted=TRUSTED), each, WINE[SMALL])
        hard = each.recombine("majority")
        hard.save(path)
        found = committee.load(path, trusted=TRUSTED).predict_proba(WINE)
        np.testing.assert_array_equal(found, hard.predict_proba(WINE))


def test_calibrated_members_and_their_predictors_vote_for_what_they_predict(tmp_path):
    path = tmp_path / "calibrated.committee"
    estimators = [("line", LinearSVC(random_state=0)), ("svm", SVC()), ("bayes", GaussianNB())]
    ours = voting(estimators, KIND, calibrate="isotonic")
    crisp = voting(estimators, KIND)
    check_same(ours, crisp, WINE[SMALL])
    for rule in ("majority", "weighted_majority", "naive_bayes"):
        made = ours.recombine(rule)
        made.save(path)
        expected = crisp.recombine(rule).predict_proba(WINE)
        for each in (made.predictor(), committee.predictor(path)):
            np.testing.assert_allclose(each.predict_proba(WINE), expected, atol=1e-12)


def test_files_without_the_mark_of_labels_decide_by_the_highest_votes(tmp_path):
    path = tmp_path / "old.committee"
    estimators = [("line", LinearSVC(random_state=0)), ("svm", SVC())]
    made = voting(estimators, KIND, rule="majority", calibrate="isotonic")
    made.save(path)

    def forget(description, arrays):
        parts = [each["dict"] for each in description["model"]["fitted"][NAME_OF_MEMBERS]]
        for part in parts:
            part.remove(["own_labels", True])

    change(path, forget)
    expected = rules.majority(made.votes(WINE))
    assert (expected != made.predict_proba(WINE)).any()
    for old in (committee.load(path), committee.predictor(path)):
        np.testing.assert_array_equal(old.predict_proba(WINE), expected)


@pytest.mark.filterwarnings("ignore:lbfgs failed", "ignore:Stochastic Optimizer", "ignore::FutureWarning")
def test_the_listed_classifiers_predict_the_highest_probability():
    rng = np.random.default_rng(1)
    same = rng.integers(0, 3, (40, 3)).astype(float)
    listed = [
        (module, cls)
        for _, cls in all_estimators(type_filter="classifier")
        for module in [cls.__module__.split(".")[1]]
        if cls.__name__ in PREDICT_HIGHEST.get(module, ())
    ]
    assert len(listed) == sum(map(len, PREDICT_HIGHEST.values()))
    tables = [
        (np.abs(WINE), KIND),
        (np.vstack([same, same[:30]]), np.repeat([0, 1], [40, 30])),
        (rng.integers(0, 3, (90, 3)).astype(float), rng.integers(0, 2, 90)),
    ]
    for _, cls in listed:
        for X, y in tables:
            if cls.__name__ == "CategoricalNB":
                X = X.round().astype(int)
            model = cls().fit(X, y)
            highest = model.classes_[model.predict_proba(X).astype(np.float32).argmax(axis=1)]
            np.testing.assert_array_equal(model.predict(X), highest, err_msg=cls.__name__)


def test_members_that_predict_the_highest_probability_need_no_labels():
    agreeing = [
        ("trees", ExtraTreesClassifier(5)),
        ("own", committee.C45Classifier()),
        ("bayes", GaussianNB()),
    ]
    assert voting(agreeing, KIND)._honest.labels == {}
    labels = voting([*agreeing, ("odd", NearestCentroid())], KIND)._honest.labels
    assert {place: codes.dtype for place, codes in labels.items()} == {3: np.uint8}


@pytest.mark.parametrize(
    ("rule", "settings", "names"),
    [
        ("mean", {}, "'ridge' .RidgeClassifier.*calibrate=\"sigmoid\""),
        ("borda", {}, "'ridge'"),
        ("mean", {"calibrate": "sigmoid"}, None),
        ("majority", {}, None),
        ("naive_bayes", {}, None),
    ],
)
def test_soft_voting_warns_of_members_without_probabilities(rule, settings, names):
    members = [("ridge", RidgeClassifier()), ("bayes", GaussianNB())]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        voting(members, KIND, rule=rule, **settings)
    assert len(caught) == (names is not None)
    assert not caught or re.search(names, str(caught[0].message))


def test_soft_voting_names_a_wrapper_for_members_without_scores():
    with pytest.warns(UserWarning, match="'odd' .OnlyLabels.*CalibratedClassifierCV"):
        voting([("odd", OnlyLabels(GaussianNB()))], KIND)


def test_diversity_of_a_fitted_committee_is_that_of_its_labels():
    fitted = voting(pairs(NearestCentroid), KIND)
    honest = fitted._honest.crisp().votes
    codes = np.searchsorted(fitted.classes_, KIND[SMALL])
    expected = committee.diversity.summary(honest, codes)
    assert committee.diversity.summary(fitted, KIND[SMALL]) == expected
    assert expected != committee.diversity.summary(fitted.honest_votes_, codes)
    np.testing.assert_array_equal(committee.diversity.kappa(fitted), committee.diversity.kappa(honest))


def test_a_regressor_votes_on_two_classes_by_the_side_of_the_midpoint(tmp_path):
    labels = np.where(KIND == "first", "yes", "no")
    members = [
        ("line", LinearRegression()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=2)),
    ]
    fitted = voting(members, labels, rule="majority")
    table = np.column_stack([np.ones(len(WINE)), WINE])
    numbers = np.linalg.lstsq(table[SMALL], (labels[SMALL] == "yes").astype(float), rcond=None)[0]
    is_yes = table @ numbers > 0.5
    np.testing.assert_array_equal(fitted.named_estimators_["line"].predict(WINE) == "yes", is_yes)
    np.testing.assert_array_equal(fitted.votes(WINE)[0, :, 1], is_yes)
    calibrated = voting(members[:2], labels, calibrate="sigmoid")
    assert 0 < calibrated.votes(WINE)[0, 0, 0] < 1
    calibrated.save(tmp_path / "line.committee")
    loaded = committee.load(tmp_path / "line.committee")
    np.testing.assert_array_equal(loaded.predict_proba(WINE), calibrated.predict_proba(WINE))
    bank = Bank(WINE[SMALL], labels[SMALL], cv=3, X_test=WINE[SMALL])
    bank.collect(members[:1])
    assert (bank.combine("majority").argmax(axis=1) == (labels[SMALL] == "yes")).mean() > 0.8


def test_a_regressor_on_three_classes_names_a_classifier():
    with pytest.raises(ValueError, match=r"Got LinearRegression\. Use a classifier such as RidgeClassifier"):
        voting([("line", LinearRegression())], KIND)
    with pytest.raises(ValueError, match="votes on two classes, and y has 3"):
        MidpointClassifier(LinearRegression()).fit(WINE, KIND)
