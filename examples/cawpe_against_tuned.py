"""CAWPE against tuned classifiers
===============================

Compare CAWPE, which has nothing to tune, with classifiers that are tuned by a grid search.

A cell of a study is any estimator, so also a grid search with its own folds. The best parameters are found on
the training rows of each resample.
"""

from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from committee import (
    CAWPEClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RotationForestClassifier,
    Study,
)
from committee.printing import aligned

TABLES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
}
NETWORK = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=2000, tol=1e-3))
GRIDS = {
    "tuned SVM": (
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]},
    ),
    "tuned network": (NETWORK, {"mlpclassifier__alpha": [0.0001, 0.01, 1]}),
    "tuned forest": (
        RandomForestClassifier(100),
        {"max_features": ["sqrt", 0.5, 1.0], "min_samples_leaf": [1, 2, 4]},
    ),
    "tuned boosting": (
        GradientBoostingClassifier(n_estimators=50, early_stopping=False),
        {"learning_rate": [0.05, 0.1, 0.3], "max_depth": [1, 3, 6]},
    ),
}
ADVANCED = [
    ("random forest", RandomForestClassifier(100)),
    ("rotation forest", RotationForestClassifier(50)),
    ("quadratic SVM", make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0))),
    ("network", NETWORK),
    ("gradient boosting", GradientBoostingClassifier(n_estimators=50)),
]
LEARNERS = {
    **{name: GridSearchCV(estimator, grid, cv=3) for name, (estimator, grid) in GRIDS.items()},
    "CAWPE, simple members": CAWPEClassifier(cv=5),
    "CAWPE, advanced members": CAWPEClassifier(ADVANCED, cv=5),
}


def main():
    for name, (_, grid) in GRIDS.items():
        print(f"{name}: {grid}")
    compared = Study(LEARNERS, TABLES, resamples=2, cv=None).run(runner="processes").compare("accuracy")
    order = compared.mean_ranks.argsort(kind="stable")
    rows = [
        [
            compared.learners[place],
            f"{compared.mean_ranks[place]:.2f}",
            *(f"{1 - score:.3f}" for score in compared.scores[:, place]),
            f"{compared.fit_seconds[:, place].mean():.1f} s",
        ]
        for place in order
    ]
    header = ["learner", "rank", *(f"error on {name}" for name in compared.tables), "fit"]
    print(aligned(header, rows, right=range(1, len(header))))


if __name__ == "__main__":
    main()
