"""A loaded rule decides as the saved one, and a file of an inconsistent rule is refused."""

import numpy as np
import pytest
from edited_files import change
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import committee
from committee import rules
from committee.combining import MODULES
from committee.combining.selection.competence import METHODS
from committee.rules import (
    AccuracyWeightedRule,
    AdjustedRule,
    BehaviourKnowledgeRule,
    CAWPERule,
    DecisionTemplateRule,
    DynamicRule,
    FixedRule,
    GreedyRule,
    RegionRule,
    StackingRule,
    one_hot,
    rule_named,
    rule_names,
)
from committee.saving import DamagedFile
from committee.saving.saved_estimators import class_named

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = RNG.integers(0, 3, 40)
VOTES = RNG.dirichlet([1, 1, 1], size=(4, 40))
NUMBERS = RNG.normal(size=40)
NUMBER_VOTES = (NUMBERS + RNG.normal(size=(4, 40)))[:, :, np.newaxis]

# A tree of two regions, which has three nodes.
TREE = RegionRule(partition="tree", min_rows=15)

WITH_STATE = [name for name in rule_names() if rule_named(name).kept is not None]
every_rule = pytest.mark.parametrize("name", WITH_STATE)


def saved(rule, folder):
    rule.save(folder / "rule.committee")
    return committee.load(folder / "rule.committee")


def test_every_public_rule_can_be_saved():
    public = {name for name in rules.__all__ if name.endswith("Rule") and name != "Rule"}
    assert public == MODULES.keys()
    assert all(class_named(name) is getattr(rules, name) for name in public)


@every_rule
def test_a_loaded_rule_decides_the_same(name, tmp_path):
    rule = rule_named(name).fit(VOTES, Y, X)
    loaded = saved(rule, tmp_path)
    assert repr(loaded) == repr(rule)
    np.testing.assert_array_equal(loaded.combine(VOTES, X), rule.combine(VOTES, X))
    assert vars(loaded).keys() - {"_data"} == vars(rule).keys()


@every_rule
def test_an_unfitted_rule_is_loaded_as_an_unfitted_rule(name, tmp_path):
    loaded = saved(rule_named(name), tmp_path)
    assert repr(loaded) == repr(clone(loaded)) == repr(rule_named(name))
    assert not hasattr(loaded, "n_members_")


def test_rules_of_regression_and_weights_for_each_class_are_saved(tmp_path):
    for rule in (AccuracyWeightedRule(), rule_named("bayesian_averaging"), FixedRule(weights=[1, 2, 3, 4])):
        loaded = saved(rule.fit(NUMBER_VOTES, NUMBERS), tmp_path)
        np.testing.assert_array_equal(loaded.combine(NUMBER_VOTES), rule.combine(NUMBER_VOTES))
    rule = AccuracyWeightedRule(per_class=True).fit(VOTES, Y)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(VOTES), rule.combine(VOTES))


@pytest.mark.parametrize("learner", [None, "nnls", "convex", "mlr", LogisticRegression(C=0.1), LinearSVC()])
def test_a_loaded_stacking_rule_decides_the_same(learner, tmp_path):
    rule = StackingRule(learner).fit(VOTES, Y)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(VOTES), rule.combine(VOTES))
    rule = StackingRule(passthrough=True).fit(VOTES, Y, X)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(VOTES, X), rule.combine(VOTES, X))
    rule = StackingRule().fit(NUMBER_VOTES, NUMBERS)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(NUMBER_VOTES), rule.combine(NUMBER_VOTES))


def test_a_meta_learner_of_other_columns_or_classes_is_refused(tmp_path):
    table = RNG.normal(size=(40, 8))
    meta_learners = {
        "other columns": LogisticRegression().fit(table[:, :5], Y),
        "other classes": LogisticRegression().fit(table, Y + 1),
        "not a fitted estimator": LinearRegression().fit(table, NUMBERS),
        "either an estimator or weights": None,
    }
    for message, learner in meta_learners.items():
        rule = StackingRule().fit(VOTES, Y)
        rule.final_estimator_ = learner
        rule.save(tmp_path / "rule.committee")
        with pytest.raises(DamagedFile, match=message):
            committee.load(tmp_path / "rule.committee")


@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_dynamic_rule_decides_the_same(method, tmp_path):
    rule = DynamicRule(method=method).fit(VOTES, Y, X)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(VOTES, X), rule.combine(VOTES, X))
    if METHODS[method].regression is not None:
        rule = DynamicRule(method=method).fit(NUMBER_VOTES, NUMBERS, X)
        np.testing.assert_array_equal(
            saved(rule, tmp_path).combine(NUMBER_VOTES, X), rule.combine(NUMBER_VOTES, X)
        )


@pytest.mark.parametrize("partition", ["clusters", "tree"])
def test_a_loaded_region_rule_decides_the_same(partition, tmp_path):
    rule = RegionRule(partition=partition, min_rows=3, random_state=0).fit(VOTES, Y, X)
    np.testing.assert_array_equal(saved(rule, tmp_path).combine(VOTES, X), rule.combine(VOTES, X))


@pytest.mark.parametrize(
    ("rule", "name", "value", "message"),
    [
        (DynamicRule(), "points_", np.zeros((39, 2)), "points_ has shape"),
        (DynamicRule(), "labels_", np.full((40, 4), 3), "labels_ holds 3"),
        (DynamicRule(), "n_neighbours_", 41, "does not fit together"),
        (DynamicRule(), "y_", np.zeros(40), "does not fit together"),
        (DynamicRule(), "spread_", np.zeros(2), "spread_ holds 0"),
        (DynamicRule(method="des_kl"), "source_", np.zeros((40, 3)), "source_ has shape"),
        (DynamicRule(method="knop"), "profiles_", np.zeros((40, 4)), "profiles_ has shape"),
        (DynamicRule(method="meta_des"), "meta_coefficients_", np.zeros(20), "meta_coefficients_ has shape"),
        (RegionRule(random_state=0), "centroids_", np.zeros((2, 2)), "regions of a RegionRule do not fit"),
        (RegionRule(random_state=0), "members_", np.full(8, 4), "members_ holds 4"),
        (TREE, "children_", np.array([[1, 2], [2, 2], [0, 0]]), "regions of a RegionRule do not fit"),
        (TREE, "children_", np.array([[2, 3], [0, 0], [0, 0]]), "regions of a RegionRule do not fit"),
        (TREE, "columns_", np.full(3, 2), "regions of a RegionRule do not fit"),
    ],
)
def test_inconsistent_attributes_of_rows_are_refused(rule, name, value, message, tmp_path):
    rule = clone(rule).fit(VOTES, Y, X)
    setattr(rule, name, value)
    rule.save(tmp_path / "rule.committee")
    with pytest.raises(DamagedFile, match=message) as error:
        committee.load(tmp_path / "rule.committee")
    assert "\n" not in str(error.value)


def test_a_user_defined_function_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="rule"):
        FixedRule(rule=lambda votes: votes[0]).save(tmp_path / "rule.committee")


@pytest.mark.parametrize(
    ("rule", "name", "value", "message"),
    [
        (CAWPERule(), "weights_", np.ones(3) / 3, "weights_ has shape"),
        (CAWPERule(), "weights_", np.array([0.5, 0.5, 0.5, np.nan]), "weights_ holds nan"),
        (CAWPERule(), "weights_", -np.ones(4), "weights_ has shape|weights_ holds -1"),
        (CAWPERule(), "n_members_", 5, "has shape"),
        (CAWPERule(), "n_outputs_", 1, "a CAWPERule does not support regression"),
        (GreedyRule(), "weights_", np.zeros(4), "No member has a weight"),
        (GreedyRule(), "chosen_", [np.array([4])], "holds 4"),
        (BehaviourKnowledgeRule(), "cells_", np.full((2, 4), 7, dtype=np.uint32), "cells_ holds 7"),
        (DecisionTemplateRule(), "templates_", np.zeros((3, 4, 3)), "votes of a template do not sum to one"),
        (
            DecisionTemplateRule(),
            "has_rows_",
            np.zeros(3, dtype=bool),
            "votes of a template do not sum to one",
        ),
    ],
)
def test_inconsistent_attributes_are_refused(rule, name, value, message, tmp_path):
    rule.fit(VOTES, Y)
    setattr(rule, name, value)
    rule.save(tmp_path / "rule.committee")
    with pytest.raises(DamagedFile, match=message) as error:
        committee.load(tmp_path / "rule.committee")
    assert "\n" not in str(error.value)


def test_missing_and_unknown_attributes_are_refused(tmp_path):
    path = tmp_path / "rule.committee"
    rule = CAWPERule().fit(one_hot([[0, 1]], 2), [0, 1])
    rule.save(path)
    change(path, lambda description, arrays: description["model"]["fitted"].pop("n_members_"))
    with pytest.raises(DamagedFile, match="n_members_ is missing"):
        committee.load(path)
    rule.save(path)
    change(path, lambda description, arrays: description["model"]["fitted"].update(alpha_=3))
    with pytest.raises(DamagedFile, match=r"unknown fields \['alpha_'\]"):
        committee.load(path)


MEMBERS = [("linear", LogisticRegression()), ("machine", LinearSVC())]


def share_of_errors(y, decision, weights):
    return float((decision.argmax(axis=1) != y).mean())


def assert_not_saved(model, path, name, way):
    with pytest.raises(TypeError, match=rf"^{name} is a function .* to something else with {way} before"):
        model.save(path)


def test_a_model_is_saved_after_its_metric_is_set_as_the_error_suggests(tmp_path):
    path = tmp_path / "model.committee"
    rule = AdjustedRule(GreedyRule(scoring=share_of_errors))
    model = committee.VotingClassifier(MEMBERS, rule=rule, cv=2).fit(X, Y)
    assert_not_saved(model, path, "rule__rule__scoring", "set_params")
    model.set_params(rule__rule__scoring=None)
    assert_not_saved(model, path, r"rule_\.rule__scoring", r"rule_\.set_params")
    model.rule_.set_params(rule__scoring=None)
    assert_not_saved(model, path, r"rule_\.rule_\.scoring", r"rule_\.rule_\.set_params")
    model.rule_.rule_.set_params(scoring=None)
    model.save(path)
    np.testing.assert_array_equal(committee.load(path).predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore:Members without predict_proba")
def test_a_model_is_saved_after_its_rule_is_set_as_the_error_suggests(tmp_path):
    path = tmp_path / "model.committee"
    model = committee.VotingClassifier(MEMBERS, rule=lambda votes: votes[0], cv=2).fit(X, Y)
    assert_not_saved(model, path, "rule", "set_params")
    model.set_params(rule="mean")
    assert_not_saved(model, path, r"rule_\.rule", r"rule_\.set_params")
    model.rule_.set_params(rule="mean")
    model.save(path)
    np.testing.assert_array_equal(committee.load(path).predict(X), model.predict(X))
