"""Members and tables for tests of AdaBoost."""

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification, make_regression

from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

CLASSIFIERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]


# The engine does not boost subclasses, so these members are fitted one by one in Python.
class PythonStump(DecisionStumpClassifier):
    pass


class PythonTree(DecisionTreeClassifier):
    pass


class PythonRegressionStump(DecisionStumpRegressor):
    pass


class PythonRegressionTree(DecisionTreeRegressor):
    pass


def noisy_classes(n_rows=120, n_classes=2, seed=0):
    """Make a table that small members cannot classify without error."""
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip
    return X.round(2), y


def noisy_numbers(n_rows=120, seed=0):
    X, y = make_regression(n_rows, 5, n_informative=3, noise=20, random_state=seed)
    return X.round(2), y


def with_missing_values_and_categories(X, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"number {j}" for j in range(X.shape[1])])
    frame["number 0"] = frame["number 0"].where(rng.random(len(X)) > 0.1)
    frame["city"] = pd.Categorical(np.where(frame["number 1"] > 0.3, "Oslo", "Rome"))
    frame.loc[rng.random(len(X)) < 0.2, "city"] = None
    return frame
