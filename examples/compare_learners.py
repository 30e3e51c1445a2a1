"""Compare learners
================

Compare a forest, two boosters, a C4.5 tree and a stump on four small tables.

The error of the forest is its out-of-bag error, which needs no further fits. The errors of the others are
estimated by cross-validation.
"""

import time

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score

from committee import (
    AdaBoostClassifier,
    C45Classifier,
    DecisionStumpClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

TABLES = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
LEARNERS = {
    "forest of 100 trees": RandomForestClassifier(n_estimators=100, oob_score=True, random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
    "AdaBoost": AdaBoostClassifier(random_state=0),
    "C4.5 tree": C45Classifier(),
    "stump": DecisionStumpClassifier(),
}
FOLDS = StratifiedKFold(n_splits=10, shuffle=True, random_state=0)


def main():
    print(f"{'table':<14}{'rows':>6}{'columns':>9}  {'learner':<20}{'fit':>11}{'error':>8}  measured by")
    for table, load in TABLES.items():
        X, y = load(return_X_y=True)
        for learner, model in LEARNERS.items():
            start = time.perf_counter()
            model.fit(X, y)
            milliseconds = 1000 * (time.perf_counter() - start)
            error, measure = estimate_error(model, X, y)
            about = f"{table:<14}{X.shape[0]:>6}{X.shape[1]:>9}  {learner:<20}"
            print(f"{about}{milliseconds:>8.1f} ms{error:>8.1%}  {measure}")


def estimate_error(model, X, y):
    """Return an estimate of the generalisation error, and the name of the method."""
    if isinstance(model, RandomForestClassifier):
        return 1 - model.oob_score_, "out-of-bag rows"
    return 1 - cross_val_score(model, X, y, cv=FOLDS).mean(), f"{FOLDS.n_splits}-fold cross-validation"


if __name__ == "__main__":
    main()
