"""Exact attributions are Shapley values, and sum to the decisions of every model that claims them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from every_estimator import ALL_ESTIMATORS, make, mixed_frame, name_of, target_for, votes_of
from shapley_oracle import c45_path_dependent, interventional, path_dependent
from sklearn.base import clone, is_classifier

import committee

# The scale of the estimators with exact attributions, by the beginning of their names.
SCALES = {
    **dict.fromkeys(("Bagging", "RandomSubspace", "RandomForest", "ExtraTree", "C45"), "votes"),
    **dict.fromkeys(("DecisionStump", "DecisionTree", "RandomTree"), "votes"),
    **dict.fromkeys(("GradientBoosting", "HistGradientBoosting", "LogitBoost"), "log_odds"),
    **dict.fromkeys(("AdaBoostC", "AdaBoostM"), "decision"),
}
EXACT = [each for each in ALL_ESTIMATORS if name_of(each).startswith(tuple(SCALES))]
OTHERS = [each for each in ALL_ESTIMATORS if each not in EXACT]


def on_scale(model, scale, X):
    """Return the decision of a model on the scale of its explanation, in float64."""
    if scale in ("log_odds", "decision"):
        return model.decision_function(X)
    return votes_of(model, X)


def fitted(estimator, n_rows=120, seed=0):
    frame, signal = mixed_frame(n_rows, seed)
    return clone(estimator).fit(frame, target_for(estimator, signal)), frame


@pytest.mark.parametrize("estimator", EXACT, ids=name_of)
def test_attributions_and_the_base_sum_to_the_decision(estimator):
    model, frame = fitted(estimator)
    for background in (None, frame[40:50]):
        explanation = model.explain(frame[:40], background)
        assert explanation.is_exact and explanation.columns == tuple(frame.columns)
        np.testing.assert_allclose(
            explanation.sums, on_scale(model, explanation.scale, frame[:40]), rtol=0, atol=1e-9
        )
    kind = next(scale for name, scale in SCALES.items() if name_of(estimator).startswith(name))
    of_votes = "probability" if is_classifier(estimator) else "target"
    assert explanation.scale == (kind if is_classifier(estimator) and kind != "votes" else of_votes)


@pytest.mark.parametrize("estimator", EXACT, ids=name_of)
def test_background_rows_give_interventional_shapley_values(estimator):
    model, frame = fitted(estimator)
    background = frame[60:64].reset_index(drop=True)
    explanation = model.explain(frame[:3], background)
    for number in range(3):
        expected = interventional(
            lambda X: on_scale(model, explanation.scale, X), frame[number : number + 1], background
        )
        np.testing.assert_allclose(
            explanation.attributions[number],
            expected.reshape(explanation.attributions[number].shape),
            atol=1e-9,
        )


@pytest.mark.parametrize("estimator", EXACT, ids=name_of)
def test_a_loaded_model_gives_the_same_explanation(estimator, tmp_path):
    model, frame = fitted(estimator)
    committee.save(model, tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert np.array_equal(loaded.explain(frame).attributions, model.explain(frame).attributions)


def test_training_weights_give_path_dependent_shapley_values():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 2]) + rng.normal(size=200)
    models = (
        committee.RandomForestClassifier(3, random_state=0).fit(X, y > 0),
        committee.DecisionTreeRegressor().fit(X, y),
    )
    for model in models:
        found = model.explain(X[:4]).attributions.reshape(4, 5, -1)
        for number in range(4):
            expected = path_dependent(model._forest, X[number]) / model._forest.n_trees
            np.testing.assert_allclose(found[number], expected, atol=1e-12)


def test_branches_and_fractions_of_c45_are_exact():
    model, frame = fitted(committee.C45Classifier(min_samples_leaf=1, pruning=None), 300)
    table = model._read(frame)
    found = model.explain(frame)
    has_missing = frame.isna().any(axis=1).to_numpy()
    assert {"number", "city"} & {
        frame.columns[place] for place in model.tree_.arrays()["column"] if place >= 0
    }
    for number in [*np.flatnonzero(has_missing)[:6], *np.flatnonzero(~has_missing)[:3]]:
        row = np.array([float(column[number]) for column in table.columns])
        expected = c45_path_dependent(model.tree_, row, np.nan_to_num(row).astype(int))
        np.testing.assert_allclose(found.attributions[number], expected, atol=1e-12)


def test_columns_that_a_booster_encodes_are_attributed_to_the_column_of_the_user():
    rng = np.random.default_rng(0)
    towns = pd.Categorical(rng.choice([f"town {i}" for i in range(80)], 600))
    frame = pd.DataFrame({"town": towns, "age": rng.normal(size=600)})
    y = (towns.codes % 3) + (frame["age"] > 0)
    model = committee.GradientBoostingClassifier(20, random_state=0).fit(frame, y)
    assert model._boosted.statistics is not None
    for background in (None, frame[:5]):
        explanation = model.explain(frame[:50], background)
        assert explanation.attributions.shape == (50, 2, 4) and explanation.importances.min() > 0
        np.testing.assert_allclose(explanation.sums, model.decision_function(frame[:50]), atol=1e-9)


@pytest.mark.parametrize(("loss", "scale"), [("poisson", "log_target"), ("absolute_error", "target")])
def test_the_scale_of_a_regressor_is_that_of_its_trees(loss, scale):
    frame, signal = mixed_frame(100)
    model = committee.GradientBoostingRegressor(5, loss=loss, random_state=0).fit(frame, np.exp(signal))
    explanation = model.explain(frame)
    inverse = np.exp if scale == "log_target" else np.asarray
    assert explanation.scale == scale
    np.testing.assert_allclose(inverse(explanation.sums), model.predict(frame), rtol=1e-9)


def test_log_odds_of_many_classes_are_scores_of_a_softmax_or_logistic_function():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 3, 150)
    for model in (
        committee.GradientBoostingClassifier(6, random_state=0),
        committee.GradientBoostingClassifier(6, multi_strategy="multi_output_tree", random_state=0),
        committee.LogitBoostClassifier(6, one_versus_all=True, random_state=0),
    ):
        sums = model.fit(X, y).explain(X).sums
        one_each = getattr(model, "one_versus_all", False)
        shares = 1 / (1 + np.exp(-sums)) if one_each else np.exp(sums)
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-9)


def test_threads_and_other_rows_do_not_change_a_bit():
    frame, signal = mixed_frame(300)
    model = committee.RandomForestRegressor(10, random_state=0, n_jobs=1).fit(frame, signal)
    attributions = model.explain(frame).attributions
    assert np.array_equal(attributions[7:8], model.explain(frame[7:8]).attributions)
    model.n_jobs = 3
    assert np.array_equal(attributions, model.explain(frame).attributions)


@pytest.mark.parametrize("rule", ["majority", "weighted_mean", "cawpe", "greedy"])
def test_forests_and_bagging_are_exact_with_linear_rules(rule):
    frame, signal = mixed_frame(150)
    y = np.where(signal > 0.5, "high", "low")
    for ensemble in (
        committee.RandomForestClassifier(8, rule=rule, random_state=0),
        committee.BaggingClassifier(
            committee.DecisionTreeClassifier(max_depth=3), 5, rule=rule, random_state=0
        ),
    ):
        model = ensemble.fit(frame, y)
        np.testing.assert_allclose(model.explain(frame).sums, model.predict_proba(frame), atol=1e-9)


@pytest.mark.parametrize("rule", ["mean", "cawpe", "greedy", "convex", "majority"])
def test_classifying_committees_are_exact_if_their_rule_is_a_weighted_sum(rule):
    frame, signal = mixed_frame(150)
    members = [
        ("forest", committee.RandomForestClassifier(5, random_state=0)),
        ("tree", committee.C45Classifier()),
        (
            "bags",
            committee.BaggingClassifier(committee.DecisionTreeClassifier(max_depth=2), 3, random_state=0),
        ),
    ]
    rule = committee.rules.StackingRule(rule) if rule == "convex" else rule
    model = committee.VotingClassifier(
        members, rule=rule, cv=3, columns={"tree": ["city", "number"]}, random_state=0
    ).fit(frame, np.where(signal > 0.5, "high", "low"))
    if rule == "majority":
        with pytest.raises(ValueError, match="the rule majority is not a weighted sum of the votes"):
            model.explain(frame)
        return
    for background in (None, frame[:4]):
        explanation = model.explain(frame, background)
        assert explanation.scale == "probability"
        np.testing.assert_allclose(explanation.sums, model.predict_proba(frame), atol=1e-6)


@pytest.mark.parametrize("learner", ["nnls", "convex", "shrunken"])
def test_regression_committees_are_exact_with_boosters_and_fold_models(learner):
    frame, signal = mixed_frame(150)
    members = [
        ("forest", committee.RandomForestRegressor(5, random_state=0)),
        ("booster", committee.GradientBoostingRegressor(5, random_state=0)),
    ]
    model = committee.StackingRegressor(members, final_estimator=learner, refit=False, random_state=0).fit(
        frame, signal
    )
    np.testing.assert_allclose(model.explain(frame).sums, model.predict(frame), atol=1e-9)


def test_a_booster_in_a_committee_of_probabilities_is_no_sum_of_trees():
    frame, signal = mixed_frame(100)
    members = [("booster", committee.GradientBoostingClassifier(5)), ("tree", committee.C45Classifier())]
    model = committee.VotingClassifier(members).fit(frame, signal > 0)
    with pytest.raises(ValueError, match="GradientBoostingClassifier is only a sum of trees in log_odds"):
        model.explain(frame)


@pytest.mark.parametrize("estimator", OTHERS, ids=name_of)
def test_other_models_say_why_they_have_no_exact_attributions(estimator):
    model, frame = fitted(estimator)
    with pytest.raises(ValueError, match=r"There are no exact attributions for this .*: .+ Pass background"):
        model.explain(frame[:2])


def test_crisp_votes_of_c45_are_exact_only_without_missing_values():
    frame, signal = mixed_frame(150)
    model = committee.AdaBoostClassifier(
        n_estimators=4, estimator=committee.C45Classifier(), random_state=0
    ).fit(frame, signal > 0)
    full = frame.dropna()
    np.testing.assert_allclose(model.explain(full).sums, model.decision_function(full), atol=1e-9)
    with pytest.raises(ValueError, match="a value is missing"):
        model.explain(frame)


def test_a_single_class_has_no_attributions():
    model = make(committee.RandomForestClassifier).fit([[1.0], [2.0]], ["a", "a"])
    explanation = model.explain([[1.0]])
    assert explanation.base_value.tolist() == [1.0] and not explanation.attributions.any()


def test_files_without_training_weights_need_background_rows():
    folder = Path(__file__).parents[1] / "saved_models" / "version_1"
    model = committee.load(folder / "RandomForestClassifier.committee")
    i = np.arange(8)
    frame = pd.DataFrame(
        {
            "size": i / 2,
            "is_new": i % 2 == 0,
            "city": pd.Categorical(np.array(["Bonn", "Oslo"])[i % 2]),
            "day": pd.Timestamp("2024-02-28") + pd.to_timedelta(i % 5, unit="D"),
        }
    )
    with pytest.raises(ValueError, match="This tree has no training weights"):
        model.explain(frame)
    np.testing.assert_allclose(model.explain(frame, frame[:3]).sums, model.predict_proba(frame), atol=1e-9)
