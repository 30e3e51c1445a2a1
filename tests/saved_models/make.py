"""Make the golden files: one small saved model for each public estimator, and its predictions.

Later versions of committee must load these files and predict the same bits. Run the script only for a new
estimator or a new format version. It does not change existing files.

    python tests/saved_models/make.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

sys.path.append(str(Path(__file__).parents[1] / "support"))

from every_estimator import ALL_ESTIMATORS, COMMITTEES, EXPERTS, make, name_of

from committee import (
    AdaBoostClassifier,
    DecisionStumpClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from committee.saving.format.container import VERSION

FOLDER = Path(__file__).parent
OWN = [("tree", DecisionTreeClassifier(max_depth=3)), ("stump", DecisionStumpClassifier())]
SPECIAL = {
    "dynamic_selection": make(DynamicSelectionClassifier, estimators=OWN, n_neighbours=3),
    "scored_forest": make(RandomForestClassifier, oob_score=True, oob_importances=True, rule="majority"),
    "quantile_forest": make(RandomForestRegressor, n_estimators=2, keep_leaf_rows=True),
    "statistics": make(GradientBoostingClassifier, n_estimators=2, max_native_categories=2),
    "warm_adaboost": make(AdaBoostClassifier, warm_start=True, store_weights=True),
}
# The last step of these models is computed by numpy or scikit-learn, which can round differently on another
# machine.
ROUNDED = {name_of(each) for each in COMMITTEES + EXPERTS}


def with_trees(estimator):
    """Set two small trees as the members, because models of other libraries may change."""
    kind = DecisionTreeClassifier if is_classifier(estimator) else DecisionTreeRegressor
    members = [("stump", kind(max_depth=1, random_state=0)), ("tree", kind(max_depth=2, random_state=0))]
    parameters = {"estimators": members, "cv": 2}
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{name: value for name, value in parameters.items() if name in known})


MODELS = {
    name_of(each): with_trees(clone(each)) if each in COMMITTEES else each for each in ALL_ESTIMATORS
} | SPECIAL


def table(n_rows=24):
    """Return numbers with missing values, booleans, categories and dates, without a random generator."""
    i = np.arange(n_rows)
    return pd.DataFrame(
        {
            "size": np.where(i % 7 == 3, np.nan, (i * 37 % 24) / 4),
            "is_new": i * 5 % 3 == 0,
            "city": pd.Categorical(np.array(["Bonn", "Oslo", "Rome"])[i * 11 % 3]),
            "day": pd.Timestamp("2024-02-28") + pd.to_timedelta(i * 13 % 5, unit="D"),
        }
    )


def target(estimator, frame):
    """Return classes or numbers that depend on the columns."""
    number = frame["size"].fillna(3.0) + 2 * (frame["city"] == "Oslo") + frame["is_new"]
    classes = pd.cut(number, [-1, 2.5, 4, 99], labels=["high", "low", "medium"]).astype(str)
    return classes.to_numpy(dtype=object) if is_classifier(estimator) else number.to_numpy()


def decisions(model, frame):
    """Return the predictions of a model as text that contains every bit."""
    votes = model.predict_proba(frame) if is_classifier(model) else model.predict(frame)
    return [[float(each).hex() for each in np.atleast_1d(row)] for row in votes]


def main():
    """Make the missing files."""
    folder = FOLDER / f"version_{VERSION}"
    folder.mkdir(exist_ok=True)
    for name, estimator in MODELS.items():
        path = folder / f"{name}.committee"
        if path.exists():
            continue
        frame = table()
        model = estimator.fit(frame, target(estimator, frame))
        model.save(path)
        path.with_suffix(".json").write_text(json.dumps(decisions(model, frame)) + "\n")
        print(f"made {path.name}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
