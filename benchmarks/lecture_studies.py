"""Repeat the two comparisons of note 002 that need many tables, and write docs/lecture_studies.md.

    python benchmarks/lecture_studies.py --data FOLDER [--published FOLDER] [--minutes 120] [--studies ...]

homogeneous: ensembles of one kind of member, and CAWPE with simple members, on tables of up to 1,000 rows.
tuned: CAWPE with simple and with advanced members against classifiers tuned by a grid search.
noise: boosting against bagging, with 0, 10 and 25 % wrong training labels.

`study.py` describes the folders. Each study is stored in `results/raw/`, stops when the minutes are over, and
resumes when the script is run again. The page is written from what all learners of a study have finished.
"""

import argparse
import os
import sys
from pathlib import Path

import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import results
from committee import (
    AdaBoostM1Classifier,
    BaggingClassifier,
    C45Classifier,
    CAWPEClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    LogitBoostClassifier,
    RandomForestClassifier,
    RotationForestClassifier,
    Study,
)
from committee.assembling.named_members import encoded
from committee.evaluating import label_noise_study
from published import with_published
from study import reader, run, section

PAGE = Path(__file__).parents[1] / "docs" / "lecture_studies.md"
PICTURES = PAGE.parent / "study"
# A hand-written interpretation of the results.
READING = Path(__file__).with_name("lecture_studies_reading.md")
MOST_ROWS = 1000
N_MEMBERS = 100

HOMOGENEOUS = {
    "bagging": BaggingClassifier(n_estimators=N_MEMBERS),
    "random forest": RandomForestClassifier(N_MEMBERS),
    "extra-trees": ExtraTreesClassifier(N_MEMBERS),
    "rotation forest": RotationForestClassifier(N_MEMBERS),
    "AdaBoost, stumps": AdaBoostM1Classifier(n_estimators=N_MEMBERS),
    "AdaBoost, C4.5": AdaBoostM1Classifier(C45Classifier(), n_estimators=N_MEMBERS),
    "LogitBoost": LogitBoostClassifier(N_MEMBERS),
    "gradient boosting": GradientBoostingClassifier(),
    "CAWPE, simple": CAWPEClassifier(),
}
GRIDS = {
    "tuned SVM": (
        encoded(SVC(), scaling="robust"),
        {"model__C": [0.1, 1, 10, 100, 1000], "model__gamma": [0.0001, 0.001, 0.01, 0.1, 1]},
    ),
    "tuned network": (
        encoded(MLPClassifier(max_iter=500), scaling="robust"),
        {"model__hidden_layer_sizes": [(10,), (50,), (50, 50)], "model__alpha": [0.0001, 0.01, 1]},
    ),
    "tuned forest": (
        RandomForestClassifier(200),
        {"max_features": ["sqrt", "log2", 0.5, 1.0], "min_samples_leaf": [1, 2, 4, 8]},
    ),
    "tuned boosting": (
        GradientBoostingClassifier(early_stopping=False),
        {
            "learning_rate": [0.03, 0.1, 0.3],
            "n_estimators": [50, 150, 400],
            "max_depth": [1, 3, 6],
            "min_samples_leaf": [1, 5],
        },
    ),
}
ADVANCED = [
    ("random forest", RandomForestClassifier(N_MEMBERS)),
    ("rotation forest", RotationForestClassifier(N_MEMBERS)),
    ("quadratic SVM", encoded(SVC(kernel="poly", degree=2, coef0=1.0), scaling="robust")),
    ("network", encoded(MLPClassifier((50, 50), max_iter=500), scaling="robust")),
    ("gradient boosting", GradientBoostingClassifier()),
]
TUNED = {
    **{name: GridSearchCV(estimator, grid, cv=5, n_jobs=1) for name, (estimator, grid) in GRIDS.items()},
    "CAWPE, simple": CAWPEClassifier(),
    "CAWPE, advanced": CAWPEClassifier(ADVANCED),
}
NOISE = {
    "boosting": AdaBoostM1Classifier(C45Classifier(), n_estimators=N_MEMBERS),
    "bagging": BaggingClassifier(C45Classifier(), n_estimators=N_MEMBERS),
}
# The columns of the paper's means for each study.
PUBLISHED = {
    "homogeneous": ("Bagging", "RandF", "RotF", "AdaBoost", "LogitBoost", "XGBoost", "CAWPE-S"),
    "tuned": ("TunedSVM", "TunedMLP", "TunedRandF", "TunedXGBoost", "CAWPE-S", "CAWPE-A"),
    "noise": (),
}
MAKERS = {
    "homogeneous": lambda tables, **settings: Study(HOMOGENEOUS, tables, 30, **settings),
    "tuned": lambda tables, **settings: Study(TUNED, tables, 5, **settings),
    "noise": lambda tables, **settings: label_noise_study(NOISE, tables, resamples=10, **settings),
}
TITLES = {
    "homogeneous": "Homogeneous ensembles",
    "tuned": "CAWPE against tuned classifiers",
    "noise": "Boosting against bagging with wrong labels",
}
METRICS = {"homogeneous": ("accuracy", "balanced_accuracy"), "tuned": ("accuracy",), "noise": ("accuracy",)}


def main():
    arguments = parse()
    manifest = pd.read_csv(arguments.data / "manifest.csv").set_index("name")
    lines = ["# The comparisons of the lecture notes", ""]
    lines += READING.read_text(encoding="utf-8").splitlines() if READING.exists() else []
    for name in TITLES:
        study = open_study(name, arguments.data, manifest)
        if name in arguments.studies:
            run(study, arguments.minutes * 60)
        if study.store.finished():
            lines += page_of(study, name, manifest, arguments.published)
        study.close()
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"{PAGE} is written.")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--published", type=Path, default=os.environ.get("COMMITTEE_PUBLISHED"))
    parser.add_argument("--minutes", type=float, default=120.0, help="time limit of each study")
    parser.add_argument("--studies", nargs="*", choices=TITLES, default=list(TITLES))
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def open_study(name, folder, manifest):
    """Return a study of the classification tables with at most 1,000 rows, small tables first."""
    chosen = manifest[(manifest.task == "classification") & (manifest.rows <= MOST_ROWS)]
    order = (chosen.rows * chosen.features).sort_values().index
    tables = {table: reader(folder, table, chosen.loc[table]) for table in order}
    place = results.FOLDER / "raw" / f"lecture_{name}"
    return MAKERS[name](tables, cv=None, folder=place, scoring=list(METRICS[name]))


def page_of(study, name, manifest, published):
    """Return the section of a study: its settings, ranks with tests, and the published ranks."""
    lines = [f"## {TITLES[name]}", ""]
    if name == "tuned":
        lines += ["| classifier | grid |", "|---|---|"]
        lines += [f"| {each} | {shown_grid(grid)} |" for each, (_, grid) in GRIDS.items()]
        lines += [""]
    for metric in METRICS[name]:
        compared = study.compare(metric)
        lines += [
            line.replace("## ", "### ", 1)
            for line in section(compared, compared.metric, f"lecture_{name}_{metric}", PICTURES, PAGE)
        ]
    if published is not None and PUBLISHED[name]:
        names = manifest.cawpe_name.dropna().to_dict()
        path = published / "cawpe_uci121_ACC.csv"
        compared = with_published(study.compare("accuracy"), path, PUBLISHED[name], names)
        title = "accuracy, next to the means that the CAWPE paper published"
        lines += [
            line.replace("## ", "### ", 1)
            for line in section(compared, title, f"lecture_{name}_paper", PICTURES, PAGE)
        ]
    return lines


def shown_grid(grid):
    """Write a grid in a line."""
    return "; ".join(
        f"`{name.removeprefix('model__')}` {', '.join(map(str, values))}" for name, values in grid.items()
    )


if __name__ == "__main__":
    sys.exit(main())
