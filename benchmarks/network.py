"""Are our networks better than scikit-learn's perceptron in the same time, and how near to boosting?

    python benchmarks/network.py --data FOLDER [--systems ...] [--tables ...] [--splits 1] [--rows 60000]

FOLDER is described in `boosting_defaults.py`; tables, splits and losses are those of `auto.py`. The
perceptron is given what it needs: robust scaling, a column for each category, small steps, y scaled, and as
many steps as did best for it. Seconds are those of the processor, of one thread. What is done is kept line
by line in `results/raw/network.jsonl`, and every call prints what is known so far.
"""

import argparse
import json
import os
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

from auto import MOST_ROWS, TABLES, loss_of, manifest, split, table
from committee import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NetworkClassifier,
    NetworkRegressor,
)
from committee.assembling import TableEncoder

KEPT = Path(__file__).parent / "results" / "raw" / "network.jsonl"
# About so many steps of the perceptron are taken on tables of any size.
N_STEPS = 2000


def main():
    arguments = parse()
    about = manifest(arguments.data)
    there = {(r["table"], r["split"], r["system"], r["rows"]) for r in kept()}
    for name in arguments.tables:
        for split_number in range(arguments.splits):
            asked = [(name, split_number, system, arguments.rows) for system in arguments.systems]
            if all(each in there for each in asked):
                continue
            task = about.loc[name].task
            parts = split(*table(arguments.data, name, about.loc[name], arguments.rows), task, split_number)
            for key in asked:
                if key not in there:
                    keep(key, *run(key[2], task, *parts))
    report(arguments)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=MOST_ROWS)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def run(system, task, X, X_test, y, y_test):
    """The loss of one system on one split, and the seconds of its fit."""
    model = SYSTEMS[system](task == "classification", len(y))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    votes = model.predict_proba(X_test) if task == "classification" else model.predict(X_test)[:, None]
    return loss_of(task, votes, y_test, y), seconds


def networks(**parameters):
    """Our networks with some parameters."""

    def make(are_classes, n_rows):
        kind = NetworkClassifier if are_classes else NetworkRegressor
        return kind(n_jobs=1, random_state=0, **parameters)

    return make


def perceptron(are_classes, n_rows):
    """scikit-learn's. For numbers it takes many small steps; for classes it stops early: see the log loss."""
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
    """Our gradient boosting as it comes."""
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


def kept():
    """All runs that were kept."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def keep(key, loss, seconds):
    done = dict(zip(("table", "split", "system", "rows"), key, strict=True)) | {
        "loss": loss,
        "seconds": seconds,
    }
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a") as file:
        file.write(json.dumps(done) + "\n")
    print(f"{done['table']}, {done['system']}: {loss:.4f}, {seconds:.1f} s", flush=True)


def report(arguments):
    """Print losses and seconds by table, and where networks are better than the perceptron and slower."""
    runs = pd.DataFrame(kept())
    runs = runs[(runs.rows == arguments.rows) & runs.table.isin(arguments.tables)]
    losses, seconds = (runs.pivot_table(what, "table", "system") for what in ("loss", "seconds"))
    print("loss\n" + losses.round(4).to_string())
    print("\nseconds\n" + seconds.round(2).to_string())
    print("\nmean rank\n" + losses.dropna().rank(axis=1).mean().round(2).to_string())
    both = losses.dropna(subset=["networks", "perceptron"])
    print(f"\nbetter than the perceptron on {(both.networks < both.perceptron).sum()} of {len(both)} tables")
    ratio = (seconds.networks / seconds.perceptron).dropna()
    print(f"for {ratio.median():.2f} times its time in the middle, {ratio.max():.2f} at most")


if __name__ == "__main__":
    main()
