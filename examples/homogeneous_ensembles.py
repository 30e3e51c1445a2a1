"""Ensembles of one kind of member
===============================

Compare ensembles of one kind of member with a committee of different members.

Samplers (bagging, forests, rotation forest) and boosters get a hundred members each. CAWPE has five simple
members of different kinds, weighted by their cross-validated accuracy.
"""

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    CAWPEClassifier,
    GradientBoostingClassifier,
    LogitBoostClassifier,
    RandomForestClassifier,
    RotationForestClassifier,
    Study,
)
from committee.printing import aligned

TABLES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
    "digits": tuple(each[:500] for each in load_digits(return_X_y=True)),
}
LEARNERS = {
    "bagging": BaggingClassifier(n_estimators=100),
    "random forest": RandomForestClassifier(100),
    "rotation forest": RotationForestClassifier(100),
    "AdaBoost": AdaBoostClassifier(n_estimators=100),
    "LogitBoost": LogitBoostClassifier(100),
    "gradient boosting": GradientBoostingClassifier(),
    "CAWPE": CAWPEClassifier(),
}


def main():
    study = Study(LEARNERS, TABLES, resamples=3, cv=None).run(runner="processes")
    by_error, by_balanced = (study.compare(name) for name in ("accuracy", "balanced_accuracy"))
    rows = [
        [
            name,
            f"{by_error.mean_ranks[place]:.2f}",
            f"{1 - by_error.scores[:, place].mean():.4f}",
            f"{by_balanced.mean_ranks[place]:.2f}",
            f"{1 - by_balanced.scores[:, place].mean():.4f}",
        ]
        for place, name in enumerate(by_error.learners)
    ]
    header = ["learner", "rank", "error", "rank", "balanced error"]
    print(aligned(header, sorted(rows, key=lambda row: row[1]), right=range(1, 5)))


if __name__ == "__main__":
    main()
