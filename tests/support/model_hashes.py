"""Record hashes of the fitted arrays and predictions of every public estimator, and compare them later.

In: nothing, or a file of recorded hashes. Out: a JSON file of hashes, or the differences. A hash covers one
fitted array or the predictions for one of six small tables, without limits of time or memory. Parameters are
not hashed, so a renamed parameter makes no difference.

    python tests/support/model_hashes.py record before.json
    python tests/support/model_hashes.py compare before.json
"""

import hashlib
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from every_estimator import ALL_ESTIMATORS, make, mixed_frame, name_of
from safetensors.numpy import load_file
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris

import committee

# Settings that run code which the defaults do not run.
VARIANTS = {
    "RandomForestClassifier": [
        {"oob_score": True, "oob_importances": True, "rule": "majority"},
        {"rule": "greedy", "oob_score": True},
        {"rule": "stacking"},
        {"class_weight": "balanced_subsample", "max_samples": 0.5},
        {"bootstrap": False, "max_leaf_nodes": 6, "ccp_alpha": 0.01},
        {"n_estimators": "auto", "max_depth": 2},
    ],
    "RandomForestRegressor": [
        {"oob_score": True, "oob_importances": True, "keep_leaf_rows": True},
        {"rule": "greedy"},
        {"rule": "median"},
    ],
    "ExtraTreesClassifier": [{"bootstrap": True, "oob_score": True, "rule": "log_pool"}],
    "BaggingClassifier": [
        {"oob_score": True, "rule": "weighted_majority", "max_features": 0.5},
        {"estimator": committee.C45Classifier(), "oob_score": True},
    ],
    "BaggingRegressor": [{"oob_score": True, "rule": "greedy", "bootstrap_features": True}],
    "RotationForestClassifier": [{"bootstrap": True, "rule": "greedy", "oob_score": True}],
    "GradientBoostingClassifier": [
        {"early_stopping": True, "subsample": 0.7},
        {"n_estimators": "auto"},
        {"max_native_categories": 2},
    ],
    "GradientBoostingRegressor": [{"loss": "huber"}, {"early_stopping": True}, {"n_estimators": "auto"}],
    "AdaBoostClassifier": [
        {"estimator": committee.RandomTreeClassifier(max_depth=2, random_state=0)},
        {"early_stopping": True},
    ],
    "AdaBoostM2Classifier": [{"early_stopping": True}],
    "StackingClassifier": [{"passthrough": True}],
    "VotingClassifier": [{"rule": "majority"}, {"calibrate": "sigmoid"}],
}


def tables():
    """Return six tables by name, each as X, y for classes, y for numbers, and weights or None."""
    rng = np.random.default_rng(7)
    iris, cancer = load_iris(), load_breast_cancer()
    digits, diabetes = load_digits(), load_diabetes(as_frame=True)
    frame, signal = mixed_frame(150, seed=3)
    thirds = np.array(["high", "low", "medium"])[np.digitize(signal, np.quantile(signal, [0.3, 0.6]))]
    wide = diabetes.data.iloc[:120].assign(
        day=pd.Timestamp("2024-01-31") + pd.to_timedelta(np.arange(120) % 9, unit="D"),
        code=pd.Categorical(rng.integers(0, 40, 120).astype(str)),
    )
    sugar = diabetes.target[:120].to_numpy()
    iris_rows, cancer_rows, digit_rows = np.arange(0, 150, 2), np.arange(0, 569, 5), np.arange(0, 600, 6)
    return {
        "iris": (iris.data[iris_rows], iris.target[iris_rows], iris.data[iris_rows, 3], None),
        "cancer": (
            cancer.data[cancer_rows],
            cancer.target[cancer_rows],
            cancer.data[cancer_rows, 0],
            rng.integers(0, 3, len(cancer_rows)).astype(float),
        ),
        "digits": (digits.data[digit_rows], digits.target[digit_rows] % 4, digits.data[digit_rows, 20], None),
        "mixed": (frame, thirds, signal, None),
        "weighted": (frame, np.where(signal > 0, "yes", "no"), signal, rng.random(150).round(3)),
        "wide": (wide, np.where(sugar > 130, "much", "little"), sugar, None),
    }


def cases():
    """Yield the name, the estimator and the data of each case."""
    data = tables()
    for estimator in ALL_ESTIMATORS:
        for settings in ({}, *VARIANTS.get(name_of(estimator), ())):
            made = make(type(estimator), **settings)
            for table, (X, classes, numbers, weights) in data.items():
                y = classes if is_classifier(made) else numbers
                changes = "".join(f" {name}={value!r}" for name, value in settings.items())
                yield f"{name_of(made)}{changes} on {table}", clone(made), (X, y, weights)


def hashes_of(estimator, X, y, weights):
    """Return the hash of the predictions, and the hashes of the arrays in the saved model."""
    fitted = estimator.fit(X, y) if weights is None else estimator.fit(X, y, sample_weight=weights)
    predictions = fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.predict(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.committee")
        fitted.save(path)
        arrays = sorted(hash_of(array) for array in load_file(path).values())
    return {"predictions": hash_of(predictions), "arrays": arrays}


def hash_of(array):
    """Return a short hash of an array's type, shape and values."""
    array = np.ascontiguousarray(array)
    header = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(header + array.tobytes()).hexdigest()[:12]


def recorded():
    """Return the hashes of all cases, or the type of the error if a fit fails."""
    found = {}
    for name, estimator, (X, y, weights) in cases():
        try:
            found[name] = hashes_of(estimator, X, y, weights)
        except (TypeError, ValueError) as error:
            found[name] = {"error": type(error).__name__}
    return found


def differences(before, after):
    """Yield one line for each case that changed."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is None or new is None:
            yield f"{name}: {'new' if old is None else 'gone'}"
        elif old.get("predictions") != new.get("predictions"):
            yield f"{name}: other predictions ({old.get('error', '')} {new.get('error', '')})"
        else:
            gone, come = Counter(old["arrays"]) - Counter(new["arrays"]), Counter(new["arrays"])
            come -= Counter(old["arrays"])
            yield f"{name}: {sum(gone.values())} arrays gone, {sum(come.values())} new"


def main(action, path):
    """Record hashes, or compare them with recorded ones. The exit code is 1 if predictions differ."""
    warnings.simplefilter("ignore")
    after = recorded()
    if action == "record":
        Path(path).write_text(json.dumps(after, indent=1) + "\n")
        print(f"{len(after)} cases, {sum('error' in each for each in after.values())} of them errors")
        return 0
    lines = list(differences(json.loads(Path(path).read_text()), after))
    print("\n".join(lines) or "No difference.")
    return any("other predictions" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
