"""Compare log loss and fit time of gradient boosting with default parameters on many real tables.

    python benchmarks/boosting_defaults.py --data FOLDER [--tables ...] [--learners ...] [--again ...]

FOLDER, or the environment variable COMMITTEE_TABLES, contains `manifest.csv` (columns name, task, target,
rows, list) and, for each of its tables, `<name>.parquet`: numbers as numbers, categories as text, null for
missing values. The tables are not part of the project; only the scores are stored.

Each finished run is appended to `results/raw/boosting_defaults.jsonl`, so a stopped run resumes, and several
may run in parallel. `--again committee` drops the stored runs of a learner.
"""

import importlib
import importlib.metadata
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import results
from open_tables import TablesParser
from verdicts import US, not_above

N_FOLDS = 3
MOST_ROWS = 20_000
CATEGORY_TABLES = ("adult", "credit-data", "connect-4", "nursery")
RUNS = results.FOLDER / "raw" / "boosting_defaults.jsonl"
# Two of the peers compute in 32 bits, where a probability below this is 0.
LEAST_PROBABILITY = float(np.finfo(np.float32).eps)
ALL_TABLES = "all tables"
LOG_LOSS = {"label": "log loss", "unit": "", "ratio": False}


@dataclass(frozen=True)
class Learner:
    """A package and its classifier, with its defaults except for the seed and one thread."""

    distribution: str
    name: str
    parameters: dict
    # Whether it needs categories and missing values as text, and the names of the categorical columns.
    needs_text: bool = False

    def table(self, X):
        if not self.needs_text:
            return X
        return X.assign(**{name: X[name].astype(object).fillna("missing") for name in categories(X)})

    def classifier(self, X):
        extra = {"cat_features": categories(X)} if self.needs_text else {}
        return getattr(importlib.import_module(self.distribution), self.name)(**self.parameters, **extra)

    def settings(self):
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.parameters.items())})"


LEARNERS = {
    US: Learner("committee", "GradientBoostingClassifier", {"random_state": 0, "n_jobs": 1}),
    "LightGBM": Learner("lightgbm", "LGBMClassifier", {"random_state": 0, "n_jobs": 1, "verbose": -1}),
    "XGBoost": Learner(
        "xgboost", "XGBClassifier", {"random_state": 0, "n_jobs": 1, "enable_categorical": True}
    ),
    "CatBoost": Learner(
        "catboost",
        "CatBoostClassifier",
        {"random_seed": 0, "thread_count": 1, "verbose": False, "allow_writing_files": False},
        needs_text=True,
    ),
}


def main():
    arguments = parse()
    tables = manifest(arguments.data)
    names = arguments.tables or tables.index.tolist()
    if unknown := set(names) - set(tables.index):
        sys.exit(f"{arguments.data} has no table {', '.join(sorted(unknown))}.")
    done = [run for run in results.stored_runs(RUNS) if run["learner"] not in arguments.again]
    if arguments.again:
        RUNS.write_text("".join(json.dumps(run) + "\n" for run in done))
    finished = {(run["table"], run["learner"]) for run in done}
    for name in sorted(names, key=lambda name: tables.rows[name]):
        for learner in arguments.learners:
            if (name, learner) not in finished:
                run = cross_validate(name, learner, *read(arguments.data, name, tables.target[name]))
                results.store_run(RUNS, run)
                print(describe(run), flush=True)
    runs = results.stored_runs(RUNS)
    for result in defaults_result(runs, tables), categories_result(runs, tables):
        print("\n" + results.markdown(*results.verdict_table(result)))
        print(f"Wrote {results.write(result, complete=not result['failures']).name}")


def parse():
    parser = TablesParser(__doc__)
    parser.add_argument("--tables", nargs="+", help="names; default: all")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--again", nargs="+", choices=LEARNERS, default=[], help="measure these again")
    arguments = parser.parse_args()
    return arguments


def manifest(folder):
    """Return the open classification tables that are not too large, and those of `CATEGORY_TABLES`."""
    tables = pd.read_csv(Path(folder) / "manifest.csv", index_col="name")
    tables = tables[(tables.task == "classification") & (tables.list == "open")]
    return tables[(tables.rows <= MOST_ROWS) | tables.index.isin(CATEGORY_TABLES)]


def read(folder, name, target):
    """Return X and the class numbers of a table, without classes of fewer rows than folds."""
    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    classes, sizes = np.unique(frame[target].astype(str), return_counts=True)
    frame = frame[frame[target].astype(str).isin(classes[sizes >= N_FOLDS])].reset_index(drop=True)
    y = np.unique(frame.pop(target).astype(str), return_inverse=True)[1]
    # Some peers reject some names of columns.
    X = frame.set_axis([f"column {i}" for i in range(frame.shape[1])], axis=1)
    is_number = [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
    X = X.astype(
        {name: "float64" if number else "category" for name, number in zip(X, is_number, strict=True)}
    )
    return X, y


def categories(X):
    return [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]


def cross_validate(name, learner, X, y):
    """Return the log loss and the fit time of each fold.

    The time is processor time of one thread, so other work on the machine has little influence.
    """
    chosen = LEARNERS[learner]
    table = chosen.table(X)
    losses, fits = [], []
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        classifier = chosen.classifier(X)
        X_train, X_test = table.iloc[train], table.iloc[test]
        start = time.process_time()
        classifier.fit(X_train, y[train])
        fits.append(time.process_time() - start)
        losses.append(loss_of(classifier.predict_proba(X_test), y[test]))
    return {
        "table": name,
        "learner": learner,
        "version": importlib.metadata.version(chosen.distribution),
        "log_loss": losses,
        "fit": fits,
    }


def loss_of(probabilities, y):
    p = np.clip(probabilities.astype(np.float64), LEAST_PROBABILITY, 1)
    return float(log_loss(y, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1])))


def describe(run):
    return (
        f"{run['table']}, {run['learner']}: log loss {np.mean(run['log_loss']):.4f}, "
        f"fits {sum(run['fit']):.2f} s"
    )


def defaults_result(runs, tables):
    """Return the result with log loss by table, and ranks and times over the small enough tables."""
    losses, fits = measured(runs, tables[tables.rows <= MOST_ROWS])
    complete = losses.dropna()
    summary = {"rank": complete.rank(axis=1).mean(), "fit": fits.loc[complete.index].sum()}
    measurements = [
        {"case": ALL_TABLES, "peer": learner, "metric": metric, "values": [float(numbers[learner])]}
        for metric, numbers in summary.items()
        for learner in complete
        if len(complete)
    ]
    measurements += loss_list(losses)
    readings = results.Readings(measurements)
    peers = [learner for learner in LEARNERS if learner != US]
    return {
        "name": "boosting_defaults",
        "title": "Are the defaults of gradient boosting good?",
        "about": (
            f"Log loss, the mean of {N_FOLDS} stratified folds, on {len(complete)} open classification "
            f"tables of at most {MOST_ROWS:,} rows; every library with its defaults, and categories as "
            f"categories. Classes of fewer than {N_FOLDS} rows are left out. One thread for every library; "
            f"*all fits* is the processor time, summed over tables and folds. {significance(complete)}"
        ),
        "metrics": {
            "rank": {"label": "average rank of log loss", "unit": "", "ratio": False},
            "fit": {"label": "all fits", "unit": "s", "ratio": True},
            "log_loss": LOG_LOSS,
        },
        "cases": case_list([ALL_TABLES, *losses.index]),
        "measurements": measurements,
        "targets": [
            not_above(readings, what, ALL_TABLES, metric, peer=peer, percent=0)
            for metric, what in (("rank", "average rank of log loss"), ("fit", "sum of the times of fit"))
            for peer in peers
        ],
        **shared(losses),
    }


def categories_result(runs, tables):
    """Return the result with log loss on the tables of categories, including large ones."""
    losses, _ = measured(runs, tables[tables.index.isin(CATEGORY_TABLES)])
    readings = results.Readings(loss_list(losses))
    return {
        "name": "boosting_categories",
        "title": "How good are the defaults on categories?",
        "about": (
            f"Log loss, the mean of {N_FOLDS} stratified folds, on tables whose columns are mostly "
            "categories; every library with its defaults, and categories as categories."
        ),
        "metrics": {"log_loss": LOG_LOSS},
        "cases": case_list(losses.index),
        "measurements": loss_list(losses),
        "targets": [
            not_above(readings, f"log loss: {case}", case, "log_loss", percent=1) for case in losses.index
        ],
        **shared(losses),
    }


def shared(losses):
    """Return the entries that both results share: learners, machine, and missing runs."""
    return {
        "rerun": "python benchmarks/boosting_defaults.py --data FOLDER",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            name: {
                "version": importlib.metadata.version(learner.distribution),
                "settings": learner.settings(),
            }
            for name, learner in LEARNERS.items()
        },
        "plots": [],
        "failures": [
            {"case": case, "peer": learner, "message": "not measured yet"}
            for case, row in losses.iterrows()
            for learner in row.index[row.isna()]
        ],
    }


def measured(runs, tables):
    """Return the log loss and the total fit time by table and learner; NaN without a run."""
    names = {
        name: f"{name}, {tables.rows[name]:,} x {tables.features[name]}" for name in sorted(tables.index)
    }
    losses = pd.DataFrame(np.nan, index=list(names.values()), columns=list(LEARNERS))
    fits = losses.copy()
    for run in runs:
        if run["table"] in names:
            losses.at[names[run["table"]], run["learner"]] = np.mean(run["log_loss"])
            fits.at[names[run["table"]], run["learner"]] = np.sum(run["fit"])
    return losses, fits


def significance(losses):
    """Return a sentence with Friedman's p-value and Nemenyi's critical difference of ranks (Demsar, 2006)."""
    n_tables, n_learners = losses.shape
    if n_tables < 2:
        return ""
    p = stats.friedmanchisquare(*losses.to_numpy().T).pvalue
    spread = stats.studentized_range.ppf(0.95, n_learners, np.inf) / np.sqrt(2)
    difference = spread * np.sqrt(n_learners * (n_learners + 1) / (6 * n_tables))
    return (
        f"Friedman's test gives p = {p:.1g}. By Nemenyi's test, average ranks differ at the 5 % level if "
        f"their difference is at least {difference:.2f}."
    )


def case_list(names):
    return [{"name": name, "about": "", "axis": None, "at": None} for name in names]


def loss_list(losses):
    return [
        {"case": case, "peer": learner, "metric": "log_loss", "values": [float(value)]}
        for case, row in losses.iterrows()
        for learner, value in row.items()
        if not np.isnan(value)
    ]


if __name__ == "__main__":
    main()
