"""Check that the score of an automatic committee on few rows is a good estimate of its test score.

    python benchmarks/small_tables.py --data FOLDER [--cuts 20] [--tables ...] [--rows 60 150 400]

FOLDER is described in `boosting_defaults.py`. Training rows are cut from large tables, and the other rows are
the test set. Each finished fit is appended to `results/small_tables.jsonl`, so an interrupted call continues,
and every call prints a summary of that file. All fits take about two hours on a quiet machine; on a busy one
fewer members are fitted in the time limit.

The score that is shown is the loss of the chosen rule by nested cross-validation: the log loss, or the mean
squared error for regression. The standard error of its difference from the test loss is that of two
independent means of row losses. The baseline predicts the shares of the classes, or the mean of y.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split

import results
from open_tables import TablesParser, manifest, table

RUNS = Path(__file__).parent / "results" / "small_tables.jsonl"
TABLES = (
    "adult", "attrition", "bank", "car", "chile-plebiscite", "cnae-9", "crash-nassCDS", "credit-data",
    "electricity", "magic", "mammographic", "mushroom", "nursery", "oj", "page-blocks", "phoneme",
    "ringnorm", "spambase", "stackoverflow-remote", "statlog-image", "thyroid", "tic-tac-toe",
    "wall-following", "wine-quality-red", "yeast",
    "ames", "california-housing", "concrete", "insurance", "wages-cps1988",
)  # fmt: skip
ROWS = (60, 150, 400)
SECONDS = 3.0
MOST_ROWS, MOST_TEST_ROWS = 20_000, 2_000
# Rarer classes are dropped, so that every cut has two rows of each class.
LEAST_SHARE = 1 / 30


def main():
    """Run the fits that are missing, and print a summary."""
    arguments = parse()
    done = {(run["table"], run["rows"], run["cut"]) for run in results.stored_runs(RUNS)}
    tables = {}
    # Partial results cover all tables.
    for cut in range(arguments.cuts):
        for name in arguments.tables:
            for n_rows in arguments.rows:
                if (name, n_rows, cut) in done:
                    continue
                if name not in tables:
                    tables[name] = frequent_classes(arguments.data, name)
                try:
                    found = measured(*tables[name], n_rows, cut)[0]
                except ValueError as error:
                    print(f"{name}, {n_rows} rows: {error}", flush=True)
                    continue
                store_run({"table": name, "rows": n_rows, "cut": cut} | found)
    report()


def parse():
    """Parse the command line."""
    parser = TablesParser(__doc__)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    return arguments


def frequent_classes(folder, name):
    """Return X, y and the task of a table, without the rows of rare classes."""
    about = manifest(folder).loc[name]
    X, y = table(folder, name, about, MOST_ROWS)
    if about.task == "classification":
        kept = np.bincount(y)[y] >= LEAST_SHARE * len(y)
        X, y = X[kept].reset_index(drop=True), np.unique(y[kept], return_inverse=True)[1]
    return X, y, about.task


def measured(X, y, task, n_rows, cut):
    """Fit a committee on a cut of a table. Return the measurements and the committee."""
    from committee import CommitteeClassifier, CommitteeRegressor
    from committee.assembling.fitted_committee import look_at_rows
    from committee.assembling.leaderboard import honest_decision
    from committee.rules import ConstantRule

    are_classes = task == "classification"
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        train_size=n_rows,
        test_size=min(len(y) - n_rows, MOST_TEST_ROWS),
        random_state=cut,
        stratify=y if are_classes else None,
    )
    made = CommitteeClassifier if are_classes else CommitteeRegressor
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(time_limit=SECONDS, random_state=cut).fit(X, y)
    seconds = time.monotonic() - began
    honest = model._known_votes()
    if model.rule_._looks_at_X():
        honest = look_at_rows(honest, model._table_of_fit(X))[1]
    shown = row_losses(honest_decision(clone(model.rule_), honest), honest.y)
    single = model.recombine("best_member")
    decide = (
        (lambda each: each.predict_proba(X_test))
        if are_classes
        else (lambda each: each.predict(X_test)[:, None])
    )
    test, of_single = (row_losses(decide(each), y_test) for each in (model, single))
    constant = honest.fit_rule(ConstantRule()).values_
    of_constant = row_losses(np.tile(constant, (len(y_test), 1)), y_test)
    found = {
        "task": task,
        "rule": type(model.rule_).__name__,
        "members": len(model.estimators_),
        "fit_seconds": seconds,
        "shown": shown.mean(),
        "shown_error": standard_error(shown),
        "test": test.mean(),
        "test_error": standard_error(test),
        "single": of_single.mean(),
        "constant": of_constant.mean(),
    }
    return found, (model, X_test, y_test)


def row_losses(decision, y):
    """Return the log loss or the squared error of each row."""
    from committee.metrics.row_losses import log_losses, squared_errors

    losses = log_losses if decision.shape[1] > 1 else squared_errors
    return losses(decision[None], y)[0]


def standard_error(losses):
    """Return the standard error of the mean."""
    return losses.std(ddof=1) / np.sqrt(len(losses))


def store_run(run):
    """Append a run to the results."""
    results.store_run(RUNS, run)
    print(f"{run['table']}, {run['rows']} rows: {run['shown']:.4f}, test {run['test']:.4f}", flush=True)


def report():
    """Print how good the scores are, by rows and in all, and the comparison with the baseline."""
    runs = pd.DataFrame(results.stored_runs(RUNS))
    if runs.empty:
        return
    print(summary(runs).round(3).to_string())
    above = above_baseline(runs)
    worse = above[above > 1]
    print(
        f"\ntables and rows whose test loss is more than one standard error above the baseline: {len(worse)}"
    )
    if len(worse):
        print(worse.round(2).to_string())
    by_table = relative(runs)
    print(
        f"\nmean test loss, as a share of that of the baseline: {by_table.test.mean():.3f}, best member "
        f"{by_table.single.mean():.3f}; lower on {(by_table.test < by_table.single).mean():.0%} of tables"
    )


def summary(runs):
    """Return the share of scores within a standard error and the mean deviation in standard errors."""
    error = np.hypot(runs.shown_error, runs.test_error)
    runs = runs.assign(deviation=(runs.shown - runs.test) / error.clip(lower=1e-12))
    runs["is_within"] = runs.deviation.abs() <= 1
    both = pd.concat([runs, runs.assign(rows="all")])
    return both.groupby("rows", sort=False).agg(
        fits=("cut", "size"), within=("is_within", "mean"), bias=("deviation", "mean"),
        members=("members", "mean"), seconds=("fit_seconds", "max"),
    )  # fmt: skip


def above_baseline(runs):
    """Return by how many standard errors of the mean over cuts the test loss is above the baseline."""
    difference = (runs.test - runs.constant).groupby([runs.table, runs.rows])
    return (difference.mean() / difference.sem()).dropna()


def relative(runs):
    """Return the losses of each table, relative to those of the baseline, as means over rows and cuts."""
    losses = runs[["test", "single"]].div(runs.constant, axis=0)
    return losses.groupby([runs.task, runs.table]).mean()


if __name__ == "__main__":
    main()
