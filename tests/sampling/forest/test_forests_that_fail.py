"""A failed fit does not change the forest, and a resumed fit needs the same rows and the same rule."""

import numpy as np
import pytest

import committee
from committee import RandomForestClassifier, RandomForestRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
CLASSES, NUMBERS = (X[:, 0] + RNG.normal(size=120) > 0).astype(int), X[:, 0] ** 3
USUAL = {"random_state": 0, "n_jobs": 1}


def failing(truth, answer):
    return 1 / 0


def test_a_metric_that_fails_changes_nothing():
    forest = RandomForestClassifier(5, warm_start=True, **USUAL).fit(X, CLASSES)
    samples = forest.estimators_samples_
    forest.set_params(oob_score=failing, random_state=5, warm_start=False)
    with pytest.raises(ZeroDivisionError):
        forest.fit(X[:60], CLASSES[:60])
    for before, after in zip(samples, forest.estimators_samples_, strict=True):
        np.testing.assert_array_equal(before, after)
    forest.set_params(oob_score=False, warm_start=True, n_estimators=10).fit(X, CLASSES)
    expected = RandomForestClassifier(10, **USUAL).fit(X, CLASSES)
    np.testing.assert_array_equal(forest.predict_proba(X), expected.predict_proba(X))


def test_trees_are_all_pruned_or_none(tmp_path):
    forest = RandomForestRegressor(3, warm_start=True, **USUAL).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="all trees must be pruned, or none"):
        forest.set_params(n_estimators=6, ccp_alpha=0.001).fit(X[:100], NUMBERS[:100])
    forest.set_params(ccp_alpha=0.0).fit(X, NUMBERS).save(tmp_path / "forest.committee")
    loaded = committee.load(tmp_path / "forest.committee")
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))


def test_counts_of_a_majority_are_not_added_to_means_of_votes():
    forest = RandomForestClassifier(10, oob_score=True, warm_start=True, **USUAL).fit(X, CLASSES)
    with pytest.raises(ValueError, match="counts out-of-bag votes by majority"):
        forest.set_params(n_estimators=20, rule="majority").fit(X, CLASSES)


@pytest.mark.parametrize("n_more", [0, 5])
@pytest.mark.parametrize("rule", ["mean", "weighted_mean"])
def test_a_resumed_fit_with_out_of_bag_scores_needs_the_same_rows(n_more, rule):
    forest = RandomForestClassifier(10, rule=rule, oob_score=True, warm_start=True, **USUAL).fit(X, CLASSES)
    order = np.lexsort((X[:, 0], CLASSES))
    score = forest.oob_score_
    with pytest.raises(ValueError, match="other rows"):
        forest.set_params(n_estimators=10 + n_more).fit(X[order], CLASSES[order])
    assert forest.oob_score_ == score


def test_a_resumed_fit_with_a_rule_that_learns_needs_the_same_rows():
    forest = RandomForestClassifier(5, rule="weighted_mean", warm_start=True, **USUAL).fit(X, CLASSES)
    with pytest.raises(ValueError, match="on other rows"):
        forest.set_params(n_estimators=10).fit(X[:, ::-1], CLASSES)


def test_members_have_no_class_weight():
    forest = RandomForestClassifier(2, class_weight="balanced_subsample", **USUAL).fit(X, CLASSES)
    assert forest.estimators_[0].class_weight is None
