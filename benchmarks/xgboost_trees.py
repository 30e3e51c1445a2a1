"""Record the trees of XGBoost for `test_xgboost_trees.py`, which must run without XGBoost.

The cases are small tables whose numbers are exact in 32 bits, with `tree_method="exact"` and a few rounds.
The file contains, for each tree, the column, threshold and side of missing values of each node, or the value
of the leaf. Trees with many outputs need `tree_method="hist"`; they get a bin for each number. Run this
script again to record other cases:

    python benchmarks/xgboost_trees.py
"""

import json
from pathlib import Path

import numpy as np
import xgboost

OUT = Path(__file__).parents[1] / "tests" / "boosting" / "gradient" / "xgboost_trees.json"
N_ROWS, N_COLUMNS, N_ROUNDS = 60, 4, 4
COMMON = {"max_depth": 3, "learning_rate": 0.5, "reg_lambda": 1.0, "reg_alpha": 0.0, "min_split_gain": 0.0,
          "min_child_weight": 1.0}  # fmt: skip
# For each case: our loss, the objective of XGBoost, and the changes to the common parameters.
CASES = {
    "squared_error": ("squared_error", "reg:squarederror", {}),
    "no regularisation": ("squared_error", "reg:squarederror", {"reg_lambda": 0.0, "min_child_weight": 0.0}),
    "L1": ("squared_error", "reg:squarederror", {"reg_alpha": 2.0, "reg_lambda": 0.5}),
    # XGBoost prunes such splits after growing, except those above a better split. This case has none of
    # these.
    "gamma": ("squared_error", "reg:squarederror", {"min_split_gain": 2.0}),
    "large leaves": ("squared_error", "reg:squarederror", {"min_child_weight": 9.0}),
    "log_loss": ("log_loss", "binary:logistic", {}),
    "log_loss, regularised": (
        "log_loss",
        "binary:logistic",
        {"reg_alpha": 0.25, "reg_lambda": 2.0, "min_split_gain": 0.125, "min_child_weight": 2.0},
    ),
    "poisson": ("poisson", "count:poisson", {}),
    "gamma loss": ("gamma", "reg:gamma", {}),
    "tweedie": ("tweedie", "reg:tweedie", {}),
}
# One tree per class. The hessian of XGBoost is then 2 p (1 - p), twice ours.
MANY_CLASSES = {
    "many classes": {},
    "many classes, regularised": {
        "reg_alpha": 0.25,
        "reg_lambda": 2.0,
        "min_split_gain": 0.125,
        "min_child_weight": 2.0,
    },
}
# Trees with many outputs. The target is a number times this vector of length one. So all gradients are
# multiples of the vector, and the best split of the numbers is also the best for the sum over the outputs.
OUTPUTS = [0.6, 0.0, -0.8]
# In XGBoost, a leaf below min_child_weight gets no value; our trees do not have such leaves.
MULTI_OUTPUT = {
    "many outputs": {"min_child_weight": 0.0},
    "many outputs, regularised": {"min_child_weight": 0.0, "reg_lambda": 3.0},
}
KINDS = ("cases", "many_classes", "multi_output")


def main():
    X, targets, weights = table()
    recorded = {
        "about": f"XGBoost {xgboost.__version__}, tree_method=exact; written by benchmarks/xgboost_trees.py",
        "X": [[None if np.isnan(value) else value for value in row] for row in X.tolist()],
        "targets": {name: target.tolist() for name, target in targets.items()},
        "weights": weights.tolist(),
        "n_rounds": N_ROUNDS,
        "outputs": OUTPUTS,
        "cases": [],
        "many_classes": [],
        "multi_output": [],
    }
    for name, (loss, objective, changes) in CASES.items():
        for with_weights in (False, True):
            parameters = COMMON | changes
            trees = grow(X, targets[loss], weights if with_weights else None, objective, parameters)
            recorded["cases"].append(
                {
                    "name": name,
                    "loss": loss,
                    "weighted": with_weights,
                    "parameters": parameters,
                    "trees": trees,
                }
            )
    for name, changes in MANY_CLASSES.items():
        for with_weights in (False, True):
            parameters = COMMON | changes
            trees = grow_many_classes(
                X, targets["many_classes"], weights if with_weights else None, parameters
            )
            recorded["many_classes"].append(
                {"name": name, "weighted": with_weights, "parameters": parameters, "trees": trees}
            )
    for name, changes in MULTI_OUTPUT.items():
        parameters = COMMON | changes
        trees = grow_multi_output(X, targets["squared_error"], parameters)
        recorded["multi_output"].append({"name": name, "parameters": parameters, "trees": trees})
    OUT.write_text(json.dumps(recorded) + "\n", encoding="utf-8")
    print(f"{OUT.name}: {sum(len(recorded[kind]) for kind in KINDS)} cases, {OUT.stat().st_size:,} bytes")


def table():
    """Draw multiples of 1/16, some missing, and a target for each loss that depends on them."""
    rng = np.random.default_rng(7)
    X = rng.integers(-64, 64, size=(N_ROWS, N_COLUMNS)) / 16
    signal = X[:, 0] + np.where(X[:, 1] > 0, 2.0, -1.0) * (X[:, 2] > -1) + rng.normal(size=N_ROWS)
    X[rng.random(X.shape) < 0.1] = np.nan
    positive = np.round(np.exp(signal / 4) * 16) / 16 + 1 / 16
    targets = {
        "squared_error": np.round(signal * 16) / 16,
        "log_loss": (signal > np.median(signal)).astype(float),
        "poisson": rng.poisson(np.exp(signal / 4)).astype(float),
        "gamma": positive,
        "tweedie": np.where(rng.random(N_ROWS) < 0.3, 0.0, positive),
        "many_classes": np.digitize(signal, np.quantile(signal, [0.25, 0.75])).astype(float),
    }
    return X, targets, rng.integers(1, 4, N_ROWS).astype(float)


def grow(X, y, weights, objective, parameters):
    settings = common_settings(objective, parameters) | {"tree_method": "exact"}
    if objective == "count:poisson":
        settings["max_delta_step"] = 0.0
    return train(settings, xgboost.DMatrix(X, label=y, weight=weights))


def grow_many_classes(X, y, weights, parameters):
    settings = common_settings("multi:softprob", with_double_hessians(parameters))
    settings |= {"tree_method": "exact", "num_class": len(np.unique(y))}
    return train(settings, xgboost.DMatrix(X, label=y, weight=weights))


def with_double_hessians(parameters):
    """Return the parameters that give the same trees when hessians are twice as large.

    A leaf is learning_rate G / (H + reg_lambda), and the gain of a split has G^2 / (H + reg_lambda).
    """
    twice = {name: 2 * parameters[name] for name in ("learning_rate", "reg_lambda", "min_child_weight")}
    return parameters | twice | {"min_split_gain": parameters["min_split_gain"] / 2}


def grow_multi_output(X, y, parameters):
    settings = common_settings("reg:squarederror", parameters)
    settings |= {"tree_method": "hist", "max_bin": 1024, "multi_strategy": "multi_output_tree"}
    return train(settings, xgboost.DMatrix(X, label=np.outer(y, OUTPUTS)))


def common_settings(objective, parameters):
    return {
        "objective": objective,
        "max_depth": parameters["max_depth"],
        "eta": parameters["learning_rate"],
        "lambda": parameters["reg_lambda"],
        "alpha": parameters["reg_alpha"],
        "gamma": parameters["min_split_gain"],
        "min_child_weight": parameters["min_child_weight"],
        # The scores start at 0 for every link function.
        "base_score": {"reg:squarederror": 0.0, "binary:logistic": 0.5}.get(objective, 1.0),
        "nthread": 1,
    }


def train(settings, data):
    model = xgboost.train(settings, data, num_boost_round=N_ROUNDS)
    return [node_of(json.loads(tree)) for tree in model.get_dump(dump_format="json")]


def node_of(node):
    """Return a leaf as its value or values, and other nodes as a list.

    The list contains the column, the threshold, whether missing values go left, and the two children.
    """
    if "leaf" in node:
        return {"values": node["leaf"]} if isinstance(node["leaf"], list) else node["leaf"]
    children = {child["nodeid"]: child for child in node["children"]}
    return [
        int(node["split"].removeprefix("f")),
        node["split_condition"],
        node["missing"] == node["yes"],
        node_of(children[node["yes"]]),
        node_of(children[node["no"]]),
    ]


if __name__ == "__main__":
    main()
