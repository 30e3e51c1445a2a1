"""Test stacking against the lecture notes and scikit-learn, and its meta-learners against other solvers."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee.combining.stacking import likely_weights
from committee.rules import StackingRule, one_hot

# The votes of three members on seven rows in the lecture notes.
RANDOM_FOREST = [[0.166, 0.834], [0.802, 0.198], [0.638, 0.362], [0.54, 0.46], [0.096, 0.904], [0.852, 0.148],
                 [0.574, 0.426]]  # fmt: skip
MLP = [[0.021619, 0.978381], [0.995253, 0.004747], [0.778656, 0.221344], [0.073482, 0.926518],
       [0.036168, 0.963832], [0.990263, 0.009737], [0.971657, 0.028343]]  # fmt: skip
C45 = [[0, 1], [0.666667, 0.333333], [0.25, 0.75], [0.25, 0.75], [0.666667, 0.333333], [1, 0], [1, 0]]
NOTES = np.array([RANDOM_FOREST, MLP, C45])
NOTES_Y = np.array([0, 0, 0, 0, 1, 1, 1])
NEW_CASE = np.array([[[0.11, 0.89]], [[0.44, 0.56]], [[0.76, 0.24]]])
READY = ["logistic", "nnls", "convex", "mlr"]


def some_votes(n_members=3, n_rows=40, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    scores = 1.5 * one_hot(y, n_classes) + rng.normal(size=(n_members, n_rows, n_classes))
    return np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True), y


def some_numbers(n_members=3, n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows)
    return y[None, :, None] + rng.normal(size=(n_members, n_rows, 1)) * [[[0.5]], [[1.0]], [[2.0]]], y


def test_the_level_one_table_agrees_with_the_lecture_notes():
    table = StackingRule(drop_redundant=False).level_one(NOTES)
    assert table.shape == (7, 6)
    np.testing.assert_allclose(table[0], [0.166, 0.834, 0.022, 0.978, 0, 1], atol=5e-4)
    np.testing.assert_allclose(table[3], [0.54, 0.46, 0.073, 0.927, 0.25, 0.75], atol=5e-4)
    np.testing.assert_allclose(
        StackingRule(drop_redundant=False).level_one(NEW_CASE), [[0.11, 0.89, 0.44, 0.56, 0.76, 0.24]]
    )


def test_the_meta_learner_of_the_lecture_notes_decides_on_a_new_case():
    rule = StackingRule(drop_redundant=False).fit(NOTES, NOTES_Y)
    plain = LogisticRegression().fit(np.hstack(NOTES), NOTES_Y)
    np.testing.assert_allclose(rule.combine(NEW_CASE), plain.predict_proba(np.hstack(NEW_CASE)))


def test_the_redundant_columns_are_those_of_the_first_class():
    np.testing.assert_allclose(StackingRule().level_one(NEW_CASE), [[0.89, 0.56, 0.24]])


def test_the_level_one_table_can_contain_log_odds_or_labels():
    log_odds = StackingRule(votes="log_odds").level_one(NEW_CASE)
    np.testing.assert_allclose(log_odds, np.log([[0.89 / 0.11, 0.56 / 0.44, 0.24 / 0.76]]))
    np.testing.assert_array_equal(StackingRule(votes="labels").level_one(NEW_CASE), [[1, 1, 0]])
    assert np.isfinite(StackingRule(votes="log_odds").level_one([[[0.0, 1.0]]])).all()


@pytest.mark.parametrize(("load", "drop_redundant"), [(load_breast_cancer, True), (load_wine, False)])
def test_decisions_agree_with_scikit_learn_on_the_same_votes(load, drop_redundant):
    X, y = load(return_X_y=True)
    members = [GaussianNB(), KNeighborsClassifier(), DecisionTreeClassifier(max_depth=3, random_state=0)]
    named = [(str(number), member) for number, member in enumerate(members)]
    final = LogisticRegression(max_iter=1000)
    stacked = StackingClassifier(named, final_estimator=final, cv=3).fit(X, y)
    honest = [cross_val_predict(member, X, y, cv=3, method="predict_proba") for member in members]
    rule = StackingRule(final, drop_redundant=drop_redundant).fit(honest, y)
    votes = [member.fit(X, y).predict_proba(X) for member in members]
    np.testing.assert_allclose(rule.combine(votes), stacked.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("passthrough", [False, True])
def test_regression_agrees_with_scikit_learn(passthrough):
    X, y = load_diabetes(return_X_y=True)
    y /= y.std()  # The rule fits ridge regression in this unit.
    members = [Ridge(), KNeighborsRegressor(), DecisionTreeRegressor(max_depth=3, random_state=0)]
    named = [(str(number), member) for number, member in enumerate(members)]
    stacked = StackingRegressor(named, cv=3, passthrough=passthrough).fit(X, y)
    honest = [cross_val_predict(member, X, y, cv=3)[:, None] for member in members]
    rule = StackingRule(passthrough=passthrough).fit(honest, y, X)
    votes = [member.fit(X, y).predict(X)[:, None] for member in members]
    np.testing.assert_allclose(rule.combine(votes, X)[:, 0], stacked.predict(X))


def test_convex_weights_minimise_the_log_loss():
    votes, y = some_votes()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    rule = StackingRule("convex").fit(votes, y, sample_weight=weights)
    right = votes[:, np.arange(len(y)), y]

    def loss(w):
        return -(weights @ np.log(w @ right))

    sums_to_one = {"type": "eq", "fun": lambda w: w.sum() - 1}
    slow = minimize(loss, [1 / 3] * 3, bounds=[(0, 1)] * 3, constraints=sums_to_one, options={"ftol": 1e-14})
    assert loss(rule.weights_) <= loss(slow.x) + 1e-9
    np.testing.assert_allclose(rule.weights_, slow.x, atol=1e-4)
    np.testing.assert_allclose(rule.weights_.sum(), 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 30))
def test_more_weight_for_any_member_does_not_lower_the_log_loss(seed, n_members, n_rows):
    votes = np.random.default_rng(seed).uniform(size=(n_rows, n_members)) ** 3
    weights = likely_weights(votes, np.ones(n_rows))
    pull = (votes / (votes @ weights)[:, None]).mean(axis=0)
    assert pull.max() <= 1 + 1e-8
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(), 1)


def test_convex_weights_exist_for_members_with_equal_votes():
    votes, y = some_votes(n_members=1)
    rule = StackingRule("convex").fit(np.repeat(votes, 4, axis=0), y)
    np.testing.assert_allclose(rule.combine(np.repeat(votes, 4, axis=0)), votes[0])


@pytest.mark.parametrize("name", ["nnls", "convex"])
def test_weights_minimise_the_squared_error(name):
    votes, y = some_numbers()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    rule = StackingRule(name).fit(votes, y, sample_weight=weights)

    def loss(w):
        return weights @ (y - w @ votes[:, :, 0]) ** 2

    constraint = [{"type": "eq", "fun": lambda w: w.sum() - 1}] if name == "convex" else []
    options = {"ftol": 1e-14, "maxiter": 500}
    slow = minimize(
        loss, [1 / 3] * 3, bounds=[(0, 10)] * 3, constraints=constraint, method="SLSQP", options=options
    )
    np.testing.assert_allclose(rule.weights_, slow.x, atol=1e-5)


def test_multi_response_regression_fits_each_class_on_the_votes_for_it():
    votes, y = some_votes(seed=3)
    rule = StackingRule("mlr").fit(votes, y)
    for code in range(3):
        plain = LinearRegression(fit_intercept=False, positive=True).fit(votes[:, :, code].T, y == code)
        np.testing.assert_allclose(rule.weights_[:, code], plain.coef_, atol=1e-10)
    support = np.einsum("mj,mrj->rj", rule.weights_, votes)
    np.testing.assert_allclose(rule.combine(votes), support / support.sum(axis=1, keepdims=True))


def test_linear_is_least_squares():
    votes, y = some_numbers()
    plain = LinearRegression().fit(votes[:, :, 0].T, y)
    np.testing.assert_allclose(
        StackingRule("linear").fit(votes, y).combine(votes)[:, 0], plain.predict(votes[:, :, 0].T)
    )


@pytest.mark.parametrize("name", READY)
def test_decisions_sum_to_one_and_integer_weights_are_repetitions(name):
    votes, y = some_votes()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    rule = StackingRule(name).fit(votes, y, sample_weight=weights)
    twice = StackingRule(name).fit(np.repeat(votes, weights, axis=1), np.repeat(y, weights))
    decision = rule.combine(votes)
    np.testing.assert_allclose(decision.sum(axis=1), 1)
    assert (decision >= 0).all()
    np.testing.assert_allclose(decision, twice.combine(votes), atol=1e-3)


@pytest.mark.parametrize("name", READY)
def test_a_class_without_rows_one_row_and_one_member_are_supported(name):
    votes, y = some_votes()
    absent = StackingRule(name).fit(votes[:, y < 2], y[y < 2])
    assert absent.combine(votes).shape == (40, 3)
    one_row = StackingRule(name).fit(votes[:, :1], y[:1]).combine(votes)
    np.testing.assert_allclose(one_row.sum(axis=1), 1)
    alone = StackingRule(name).fit(votes[:1], y).combine(votes[:1])
    np.testing.assert_allclose(alone.sum(axis=1), 1)


@pytest.mark.parametrize("name", ["ridge", "linear", "nnls", "convex"])
def test_regression_supports_one_row_and_one_member(name):
    votes, y = some_numbers()
    assert StackingRule(name).fit(votes[:1], y).combine(votes[:1]).shape == (40, 1)
    assert np.isfinite(StackingRule(name).fit(votes[:, :1], y[:1]).combine(votes)).all()


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("passthrough", [False, True])
def test_decisions_of_ridge_regression_do_not_depend_on_the_unit_of_y(unit, passthrough):
    votes, y = some_numbers()
    X = np.random.default_rng(1).normal(size=(len(y), 2))
    rule = StackingRule("ridge", passthrough=passthrough)
    decision = rule.fit(votes, y, X).combine(votes, X)
    scaled = rule.fit(unit * votes, unit * y, X).combine(unit * votes, X)
    np.testing.assert_allclose(scaled, unit * decision, rtol=1e-8)


@pytest.mark.parametrize("name", ["linear", "nnls", "convex", "shrunken"])
def test_a_row_of_weight_three_is_equal_to_three_rows_in_regression(name):
    votes, y = some_numbers(n_rows=14)
    weights = np.where(np.arange(14) % 2, 3, 1)
    rows = np.repeat(np.arange(14), weights)
    weighted = StackingRule(name).fit(votes, y, sample_weight=weights).combine(votes)
    repeated = StackingRule(name).fit(votes[:, rows], y[rows]).combine(votes)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_a_perfect_member_gets_all_the_weight():
    votes, y = some_votes()
    votes = np.concatenate([votes, one_hot(y, 3)[None]])
    for name in ("nnls", "convex"):
        np.testing.assert_allclose(StackingRule(name).fit(votes, y).weights_, [0, 0, 0, 1], atol=1e-6)


def test_a_classifier_without_probabilities_makes_crisp_decisions():
    votes, y = some_votes()
    decision = StackingRule(Perceptron()).fit(votes, y).combine(votes)
    assert set(np.unique(decision)) == {0.0, 1.0}


class TakesNoWeights(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    ("rule", "arguments", "message"),
    [
        (
            StackingRule("ridge"),
            {},
            "final_estimator for classes must be one of logistic, nnls, convex, mlr. Got 'r",
        ),
        (StackingRule(Ridge()), {}, "final_estimator must be a classifier or one of logistic"),
        (StackingRule(LogisticRegression), {}, "final_estimator must be a classifier or one of logistic"),
        (StackingRule("nnls", votes="log_odds"), {}, "'nnls' weighs votes and cannot use votes='log_odds'"),
        (StackingRule("mlr", passthrough=True), {"X": np.zeros((40, 1))}, "cannot use passthrough=True"),
        (StackingRule(passthrough=True), {}, "StackingRule uses the columns of X. Pass X"),
        (
            StackingRule(passthrough=True),
            {"X": np.full((40, 1), np.nan)},
            "^X must be finite: the meta-learner uses its columns. Fill in missing values first.$",
        ),
        (
            StackingRule(TakesNoWeights()),
            {"sample_weight": np.arange(1, 41)},
            "TakesNoWeights takes no sample_weight",
        ),
    ],
)
def test_invalid_parameters_and_arguments_are_refused_in_one_line(rule, arguments, message):
    votes, y = some_votes()
    with pytest.raises(ValueError, match=message) as caught:
        rule.fit(votes, y, **arguments)
    assert "\n" not in str(caught.value)


def test_shrunken_weights_sum_to_one_and_are_better_than_convex_ones():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    shared = rng.normal(size=300)
    votes = (y + [[1.0], [0.6], [0.2]] * shared + 0.2 * rng.normal(size=(3, 300)))[:, :, None]
    learnt = StackingRule("shrunken").fit(votes[:, :200], y[:200])
    convex = StackingRule("convex").fit(votes[:, :200], y[:200])
    assert learnt.weights_.sum() == pytest.approx(1)
    # A negative weight cancels the error that the members share.
    assert learnt.weights_.min() < 0 <= convex.weights_.min()
    shrunken, mixed = (
        np.mean((rule.combine(votes[:, 200:])[:, 0] - y[200:]) ** 2) for rule in (learnt, convex)
    )
    assert shrunken < mixed
    same = StackingRule("shrunken").fit(np.repeat(votes[:1], 2, axis=0), y)
    np.testing.assert_allclose(same.combine(np.repeat(votes[:1], 2, axis=0)), votes[0])


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    "around",
    [
        lambda model: make_pipeline(FunctionTransformer(), model),
        lambda model: GridSearchCV(model, {"C": [1.0]}, cv=2),
        lambda model: make_pipeline(
            FunctionTransformer(), GridSearchCV(model, {"C": [1.0]}, cv=GroupKFold(2))
        ),
    ],
)
def test_weights_and_groups_reach_a_meta_learner_inside_another_estimator(around, routing):
    votes, y = some_votes()
    weights, groups = np.random.default_rng(1).uniform(0, 3, 40), np.arange(40) // 4
    alone = StackingRule(LogisticRegression()).fit(votes, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=routing):
        rule = StackingRule(around(LogisticRegression()))
        within = rule.fit(votes, y, sample_weight=weights, groups=groups)
        np.testing.assert_allclose(within.combine(votes), alone.combine(votes), rtol=1e-12)
        without = within.combine(votes) - rule.fit(votes, y, groups=groups).combine(votes)
        assert np.abs(without).max() > 0.01


def test_equal_weights_are_accepted_for_a_meta_learner_without_weights():
    votes, y = some_votes()
    rule = StackingRule(KNeighborsClassifier())
    equal = rule.fit(votes, y, sample_weight=np.full(len(y), 0.1)).combine(votes)
    np.testing.assert_array_equal(equal, rule.fit(votes, y).combine(votes))


@pytest.mark.parametrize("routing", [False, True])
def test_a_meta_learner_that_does_not_get_the_weights_is_refused(routing):
    votes, y = some_votes()
    learner = make_pipeline(StandardScaler(), KNeighborsClassifier())
    with sklearn.config_context(enable_metadata_routing=routing):
        assert StackingRule(learner).fit(votes, y).combine(votes).shape == (40, 3)
        with pytest.raises(ValueError, match=r"Pipeline takes no sample_weight. Fit without weights, or use"):
            StackingRule(learner).fit(votes, y, sample_weight=np.arange(1, 41))
