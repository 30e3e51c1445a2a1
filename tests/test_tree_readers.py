"""Libraries that read trees of scikit-learn read ours after `to_sklearn`. Missing libraries are skipped."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import export_graphviz, export_text, plot_tree

import committee

NUMBERS = load_diabetes(return_X_y=True)
CLASSES = load_breast_cancer(return_X_y=True)


def fitted(name):
    """Return a small fitted model and its rows, as many as float32 represents exactly."""
    X, y = CLASSES if name.endswith("Classifier") else NUMBERS
    X = X.astype(np.float32).astype(np.float64)
    parameters = {} if "DecisionTree" in name else {"n_estimators": 5}
    return getattr(committee, name)(max_depth=3, random_state=0, **parameters).fit(X, y), X


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_scikit_learn_draws_and_writes_a_tree(name):
    model, _ = fitted(name)
    copy = model.to_sklearn()
    assert len(plot_tree_texts(copy)) == model.tree_.node_count
    assert export_text(copy).count("value" if "Regressor" in name else "class") == model.get_n_leaves()
    assert export_graphviz(copy).count("->") == model.tree_.node_count - 1


def plot_tree_texts(tree):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    texts = [each for each in plot_tree(tree, ax=axes) if "\n" in each.get_text()]
    pyplot.close(figure)
    return texts


@pytest.mark.parametrize(
    "name",
    [
        "DecisionTreeRegressor",
        "RandomForestRegressor",
        "ExtraTreesRegressor",
        "GradientBoostingRegressor",
        "GradientBoostingClassifier",
    ],
)
def test_shap_values_sum_to_the_prediction(name):
    shap = pytest.importorskip("shap")
    model, X = fitted(name)
    explainer = shap.TreeExplainer(model.to_sklearn())
    values = explainer.shap_values(X[:20])
    is_booster = name.startswith("Gradient")
    expected = model._scores(X[:20])[:, 0] if is_booster else model.predict(X[:20])
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "name", ["RandomForestClassifier", "ExtraTreesRegressor", "GradientBoostingClassifier"]
)
def test_treelite_predicts_the_same(name):
    treelite = pytest.importorskip("treelite")
    model, X = fitted(name)
    imported = treelite.sklearn.import_model(model.to_sklearn())
    found = treelite.gtil.predict(imported, X).reshape(len(X), -1)
    if name == "GradientBoostingClassifier":
        expected = model.predict_proba(X)[:, 1:]
    else:
        expected = model.predict_proba(X) if "Classifier" in name else model.predict(X)[:, np.newaxis]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "name",
    ["DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor"],
)
def test_onnx_predicts_the_same(name):
    skl2onnx, onnxruntime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    model, X = fitted(name)
    # ONNX stores thresholds as float32, so a value next to a threshold may go to the other side.
    rows = X[:50].astype(np.float32)
    written = skl2onnx.to_onnx(
        model.to_sklearn(), rows[:1], options={"zipmap": False} if "Class" in name else None
    )
    session = onnxruntime.InferenceSession(written.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: rows})[-1]
    expected = model.predict_proba(rows) if "Classifier" in name else model.predict(rows)[:, np.newaxis]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_dtreeviz_reads_a_tree():
    dtreeviz = pytest.importorskip("dtreeviz")
    model, X = fitted("DecisionTreeClassifier")
    names = [f"x{place}" for place in range(X.shape[1])]
    view = dtreeviz.model(model.to_sklearn(), X, CLASSES[1], feature_names=names, class_names=["no", "yes"])
    assert len(view.shadow_tree.leaves) == model.get_n_leaves()
