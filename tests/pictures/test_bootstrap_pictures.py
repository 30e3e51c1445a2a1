"""Tables of bootstrap samples and out-of-bag votes show the bags."""

import numpy as np
import pytest
from chart_data import title_of, values_of, words_of
from sklearn.datasets import load_iris

from committee import GradientBoostingClassifier, RandomForestClassifier, pictures

X, Y = load_iris(return_X_y=True)


def test_counts_of_each_bag_sum_to_its_size():
    chart = pictures.bootstrap_samples([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 5, size=4, random_state=0)
    counts = [int(word[:-2]) for word in words_of(chart) if word.endswith(" ×")]
    assert sum(counts) == 5 * 4
    assert "4 draws of 6 rows contain 51.8%" in title_of(chart)[1]  # 1 - (5/6)^4
    empty = [each for each in values_of(chart, "rect") if each["about"] == "outside of the bag"]
    assert len(empty) + len(counts) == 5 * 6


def test_the_expected_share_of_many_rows_is_63_percent():
    chart = pictures.bootstrap_samples(1000, 1, random_state=0)
    assert "contain 63.2% of them" in title_of(chart)[1]
    share = next(int(word[:-1]) for word in words_of(chart) if word.endswith("%"))
    assert share == pytest.approx(63, abs=4)


def test_the_table_shows_the_votes_of_members_whose_bag_does_not_contain_the_row():
    forest = RandomForestClassifier(n_estimators=30, random_state=0, rule="majority", oob_score=True).fit(
        X, Y
    )
    chart = pictures.out_of_bag_table(forest, X, Y, max_rows=20, max_members=6)
    about = {each["about"] for each in values_of(chart, "rect")}
    for member in range(6):
        bag = set(forest.estimators_samples_[member].tolist())
        labels = forest.estimators_[member].predict(X)
        for row in np.linspace(0, 149, 20).astype(int).tolist():
            shown = "in bag" if row in bag else str(int(labels[row]))
            assert f"row {row + 1}, {member + 1}: {shown}" in about
    decided = forest.oob_decision_function_.argmax(axis=1)
    assert f"out-of-bag error {np.mean(decided != Y):.1%}" in title_of(chart)[0]


def test_models_without_bags_are_errors():
    with pytest.raises(ValueError, match=r"a fitted classifier with bags\. Got GradientBoostingClassifier\."):
        pictures.out_of_bag_table(GradientBoostingClassifier(), X, Y)
    forest = RandomForestClassifier(n_estimators=2, bootstrap=False).fit(X, Y)
    with pytest.raises(ValueError, match="bag"):
        pictures.out_of_bag_table(forest, X, Y)
