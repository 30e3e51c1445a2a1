"""Compare the loss and time of our networks with those of scikit-learn's perceptron and of boosting.

    python benchmarks/network.py --data FOLDER [--systems ...] [--tables ...] [--splits 1] [--rows 60000]

FOLDER is described in `boosting_defaults.py`; tables, splits and losses are those of `auto.py`. The
perceptron gets robust scaling, a column for each category, a scaled target, small steps and the best number
of steps. The time is processor time of one thread. Each finished run is appended to
`results/raw/network.jsonl`, and every call prints a summary of all runs.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import results
from auto import MOST_ROWS, TABLES, loss_of
from committee import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NetworkClassifier,
    NetworkRegressor,
)
from committee.members import TableEncoder
from open_tables import TablesParser, manifest, split, table

RUNS = Path(__file__).parent / "results" / "raw" / "network.jsonl"
# The approximate number of steps of the perceptron, on tables of any size.
N_STEPS = 2000


def main():
    arguments = parse()
    about = manifest(arguments.data)
    done = {(r["table"], r["split"], r["system"], r["rows"]) for r in results.stored_runs(RUNS)}
    for name in arguments.tables:
        for split_number in range(arguments.splits):
            wanted = [(name, split_number, system, arguments.rows) for system in arguments.systems]
            if all(each in done for each in wanted):
                continue
            task = about.loc[name].task
            parts = split(*table(arguments.data, name, about.loc[name], arguments.rows), task, split_number)
            for key in wanted:
                if key not in done:
                    store_run(key, *run(key[2], task, *parts))
    report(arguments)


def parse():
    parser = TablesParser(__doc__)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=MOST_ROWS)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    return arguments


def run(system, task, X, X_test, y, y_test):
    """Return the loss of one system on one split, and the seconds of its fit."""
    model = SYSTEMS[system](task == "classification", len(y))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    votes = model.predict_proba(X_test) if task == "classification" else model.predict(X_test)[:, None]
    return loss_of(task, votes, y_test, y), seconds


def networks(**parameters):
    """Return a factory of our networks with these parameters."""

    def make(are_classes, n_rows):
        kind = NetworkClassifier if are_classes else NetworkRegressor
        return kind(n_jobs=1, random_state=0, **parameters)

    return make


def perceptron(are_classes, n_rows):
    """Return scikit-learn's perceptron, with many small steps for regression.

    For classification it stops earlier, because more steps increase the log loss.
    """
    batch = int(np.clip(n_rows // 2, 1, 200) if are_classes else np.clip(n_rows // 20, 1, 256))
    n_epochs = int(np.clip(N_STEPS * batch / n_rows, 10, 40 if are_classes else 200))
    given = {
        "hidden_layer_sizes": (128, 64),
        "alpha": 0.3,
        "batch_size": batch,
        "learning_rate_init": 2e-3,
        "max_iter": n_epochs,
        "tol": 0.0,
        "n_iter_no_change": n_epochs,
        "random_state": 0,
    }
    if are_classes:
        return make_pipeline(TableEncoder(scaling="robust"), MLPClassifier(**given))
    scaled = TransformedTargetRegressor(MLPRegressor(**given), transformer=StandardScaler())
    return make_pipeline(TableEncoder(scaling="robust"), scaled)


def boosting(are_classes, n_rows):
    """Return our gradient boosting with its defaults."""
    kind = GradientBoostingClassifier if are_classes else GradientBoostingRegressor
    return kind(n_jobs=1, random_state=0)


SYSTEMS = {
    "networks": networks(),
    "networks_4": networks(n_estimators=4),
    "networks_plain": networks(n_bins=1),
    "networks_one_layer": networks(hidden_layer_sizes=(256,)),
    "perceptron": perceptron,
    "boosting": boosting,
}


def store_run(key, loss, seconds):
    done = dict(zip(("table", "split", "system", "rows"), key, strict=True)) | {
        "loss": loss,
        "seconds": seconds,
    }
    results.store_run(RUNS, done)
    print(f"{done['table']}, {done['system']}: {loss:.4f}, {seconds:.1f} s", flush=True)


def report(arguments):
    """Print losses and seconds by table, and compare networks with the perceptron."""
    runs = pd.DataFrame(results.stored_runs(RUNS))
    runs = runs[(runs.rows == arguments.rows) & runs.table.isin(arguments.tables)]
    losses, seconds = (runs.pivot_table(what, "table", "system") for what in ("loss", "seconds"))
    print("loss\n" + losses.round(4).to_string())
    print("\nseconds\n" + seconds.round(2).to_string())
    print("\nmean rank\n" + losses.dropna().rank(axis=1).mean().round(2).to_string())
    both = losses.dropna(subset=["networks", "perceptron"])
    print(f"\nbetter than the perceptron on {(both.networks < both.perceptron).sum()} of {len(both)} tables")
    ratio = (seconds.networks / seconds.perceptron).dropna()
    print(f"median time relative to the perceptron: {ratio.median():.2f}; maximum: {ratio.max():.2f}")


if __name__ == "__main__":
    main()
