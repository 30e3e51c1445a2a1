"""Pictures of trees show every node once, and do not overlap."""

import itertools

import pytest
from chart_data import title_of, values_of, words_of
from sklearn.datasets import load_iris

from committee import C45Classifier, DecisionTreeClassifier, RandomForestClassifier, pictures

X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3), C45Classifier()])
def test_a_tree_shows_its_leaves_with_their_classes_and_weights(model):
    model.fit(X, Y)
    chart = pictures.tree(model)
    text = model.export_text()
    leaves = [line.split(": ")[1] for line in text.splitlines() if ": " in line]
    words = words_of(chart)
    assert all(words.count(leaf) >= leaves.count(leaf) for leaf in leaves)
    assert title_of(chart)[0] == f"A tree of {len(leaves)} leaves"
    # Every split has one condition on each branch, in two lines.
    assert words.count("<= 2.45") == 2 * text.count("<= 2.45")  # With its white edge.


def test_nodes_of_a_tree_do_not_overlap():
    boxes = values_of(pictures.tree(DecisionTreeClassifier(max_depth=4).fit(X, Y)), "rect")
    assert len(boxes) > 8
    for first, second in itertools.combinations(boxes, 2):
        is_apart = first["x2"] <= second["x"] or second["x2"] <= first["x"]
        assert is_apart or first["y2"] <= second["y"] or second["y2"] <= first["y"]


def test_bootstrap_trees_begin_with_the_tree_of_all_rows():
    shown = pictures.bootstrap_trees(X, Y, n_trees=2, random_state=0).to_dict()["concat"]
    assert [panel["title"]["text"] for panel in shown][1:] == [
        "tree of bootstrap sample 1",
        "tree of bootstrap sample 2",
    ]
    alone = words_of(pictures.tree(DecisionTreeClassifier(max_leaf_nodes=4).fit(X, Y)))
    assert words_of(shown[0]) == alone
    assert words_of(shown[1]) != alone
    again, other = (
        pictures.bootstrap_trees(X, Y, n_trees=2, random_state=seed).to_dict()["concat"] for seed in (0, 1)
    )
    assert [words_of(each) for each in again] == [words_of(each) for each in shown]
    assert [words_of(each) for each in other] != [words_of(each) for each in shown]


def test_large_trees_and_other_models_are_errors():
    with pytest.raises(ValueError, match=r"a fitted tree of committee\. Got RandomForestClassifier\."):
        pictures.tree(RandomForestClassifier())
    deep = DecisionTreeClassifier().fit([[value] for value in range(80)], [value % 2 for value in range(80)])
    with pytest.raises(ValueError, match=r"at most 64 leaves\. Got 80\. Limit max_depth"):
        pictures.tree(deep)
