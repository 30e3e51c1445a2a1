"""Measure exact attributions: TreeSHAP of committee, LightGBM, XGBoost and shap.

python benchmarks/explaining.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import statistics
import time

import numpy as np

import tables
from harness import Case, Question, main
from measure import seconds
from peers import THREADS, Peer
from verdicts import at_most, ratio

BOOSTER, FOREST = "booster, 200 x 31 leaves", "forest, 100 full trees"
ROW_OF_FOREST, ROW_OF_BOOSTER = "one row, forest of depth 8", "one row, booster of depth 8"
N_ROWS = 50


def committee_booster(X, y, n_trees):
    from committee import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_trees, learning_rate=0.1, max_leaf_nodes=31, n_jobs=THREADS, random_state=0
    ).fit(X, y)


def committee_forest(X, y, n_trees, **parameters):
    from committee import RandomForestClassifier

    return RandomForestClassifier(n_trees, n_jobs=THREADS, random_state=0, **parameters).fit(X, y)


def lightgbm_explainer(X, y, n_trees):
    import lightgbm

    model = lightgbm.LGBMClassifier(n_estimators=n_trees, num_leaves=31, n_jobs=THREADS, verbose=-1).fit(X, y)
    return lambda rows: model.booster_.predict(rows, pred_contrib=True, num_threads=THREADS)


def xgboost_explainer(X, y, n_trees):
    import xgboost

    model = xgboost.XGBClassifier(
        n_estimators=n_trees, max_leaves=31, max_depth=0, grow_policy="lossguide", n_jobs=THREADS
    ).fit(X, y)
    return lambda rows: model.get_booster().predict(
        xgboost.DMatrix(rows, nthread=THREADS), pred_contribs=True
    )


def shap_explainer(X, y, n_trees):
    import shap
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_trees, n_jobs=THREADS, random_state=0).fit(X, y)
    explainer = shap.TreeExplainer(forest)
    return lambda rows: explainer.shap_values(rows, check_additivity=False)


EXPLAINERS = {"LightGBM": lightgbm_explainer, "XGBoost": xgboost_explainer, "shap": shap_explainer}


def difference_to_shap(model, rows):
    """Return the largest difference to shap's values for the trees of a model of committee."""
    import shap

    from committee import _engine

    forest = model._forest
    share = 1 if model.explain(rows[:1]).scale == "log_odds" else 1 / forest.n_trees
    trees = []
    for number in range(forest.n_trees):
        nodes = _engine.describe_tree(forest, number)
        inner = nodes.left >= 0
        trees.append(
            {
                "children_left": np.where(inner, nodes.left, -1).astype(np.int32),
                "children_right": np.where(inner, nodes.left + 1, -1).astype(np.int32),
                "children_default": np.where(inner, nodes.left, -1).astype(np.int32),
                "features": np.where(inner, nodes.column, -2).astype(np.int32),
                "thresholds": np.where(inner, nodes.threshold, -2.0),
                "values": np.nan_to_num(nodes.value) * share,
                "node_sample_weight": forest.node_weights(number),
            }
        )
    described = {"trees": trees, "base_offset": 0.0, "input_dtype": np.float64, "internal_dtype": np.float64}
    theirs = shap.TreeExplainer(described).shap_values(rows, check_additivity=False)
    ours = model.explain(rows).attributions
    return float(np.abs(np.reshape(theirs, ours.shape) - ours).max())


def measure_booster(peer, *, seed, quick):
    split = tables.two_classes(n_rows=2_000 if quick else 20_000, n_test=1_000 if quick else 10_000)
    n_trees = 20 if quick else 200
    if peer.name == "committee":
        model = committee_booster(split.X_train, split.y_train, n_trees)
        model.explain(split.X_test[:100])
        return {
            "explain": seconds(model.explain, split.X_test),
            "difference": difference_to_shap(model, split.X_test[:N_ROWS]),
        }
    explain = EXPLAINERS[peer.name](split.X_train, split.y_train, n_trees)
    explain(split.X_test[:100])
    return {"explain": seconds(explain, split.X_test)}


def measure_forest(peer, *, seed, quick):
    split = tables.two_classes(n_rows=500 if quick else 5_000, n_test=100 if quick else 1_000)
    n_trees = 10 if quick else 100
    if peer.name == "committee":
        model = committee_forest(split.X_train, split.y_train, n_trees)
        model.explain(split.X_test[:10])
        return {
            "explain": seconds(model.explain, split.X_test),
            "difference": difference_to_shap(model, split.X_test[:10]),
        }
    explain = EXPLAINERS[peer.name](split.X_train, split.y_train, n_trees)
    explain(split.X_test[:1])
    return {"explain": seconds(explain, split.X_test)}


def microseconds_per_row(model, rows):
    times = []
    for number in range(len(rows)):
        before = time.perf_counter_ns()
        model.explain(rows[number : number + 1])
        times.append(time.perf_counter_ns() - before)
    return {"one_row": statistics.median(times) / 1000}


def measure_row_of_forest(peer, *, seed, quick):
    split = tables.two_classes(n_rows=500 if quick else 10_000, n_test=200)
    return microseconds_per_row(
        committee_forest(split.X_train, split.y_train, 100, max_depth=8), split.X_test
    )


def measure_row_of_booster(peer, *, seed, quick):
    from committee import GradientBoostingClassifier

    split = tables.two_classes(n_rows=500 if quick else 10_000, n_test=200)
    booster = GradientBoostingClassifier(100, max_depth=8, max_leaf_nodes=None, random_state=0)
    return microseconds_per_row(booster.fit(split.X_train, split.y_train), split.X_test)


def check_targets(readings):
    return [
        ratio(readings, "time, booster of 200 trees, 10,000 rows", BOOSTER, "explain", times=3),
        at_most(readings, "difference to shap, booster", BOOSTER, "difference", limit=1e-6, unit=""),
        ratio(
            readings, "time, forest of 100 full trees, 1,000 rows", FOREST, "explain", times=10, peer="shap"
        ),
        at_most(readings, "difference to shap, forest", FOREST, "difference", limit=1e-6, unit=""),
        at_most(
            readings,
            "one row, forest of 100 trees of depth 8",
            ROW_OF_FOREST,
            "one_row",
            limit=1000,
            unit="us",
        ),
        at_most(
            readings,
            "one row, booster of 100 trees of depth 8",
            ROW_OF_BOOSTER,
            "one_row",
            limit=1000,
            unit="us",
        ),
    ]


def peer_of(name, distribution, settings):
    return Peer(name, distribution, settings, (), EXPLAINERS.get(name))


OURS = ("committee",)
QUESTION = Question(
    name="explaining",
    title="How fast are exact attributions?",
    about=(
        "Path-dependent TreeSHAP on two overlapping classes of 28 columns. Every library fits its own model "
        f"of the same size and explains the same rows on {THREADS} threads; *explain* is the time of one "
        "call after a warm-up. *one row* is the median of 200 calls of `explain` with one row. *difference "
        "to shap* is the largest difference to shap's values for committee's own trees."
    ),
    cases=(
        Case(
            BOOSTER,
            "20,000 training rows; 10,000 explained.",
            ("committee", "LightGBM", "XGBoost"),
            measure_booster,
        ),
        Case(FOREST, "5,000 training rows; 1,000 explained.", ("committee", "shap"), measure_forest),
        Case(ROW_OF_FOREST, "10,000 training rows.", OURS, measure_row_of_forest),
        Case(ROW_OF_BOOSTER, "10,000 training rows.", OURS, measure_row_of_booster),
    ),
    check_targets=check_targets,
    registry={
        "committee": peer_of("committee", "committee", "explain(X)"),
        "LightGBM": peer_of("LightGBM", "lightgbm", "predict(pred_contrib=True)"),
        "XGBoost": peer_of("XGBoost", "xgboost", "predict(pred_contribs=True), with its DMatrix"),
        "shap": peer_of("shap", "shap", "TreeExplainer of scikit-learn's forest; it has one thread"),
    },
)

if __name__ == "__main__":
    main(QUESTION)
