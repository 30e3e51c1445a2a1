"""Compare the automatic committee with AutoGluon at the same time limit, and with its own best member.

    python benchmarks/auto.py --data FOLDER [--seconds 30] [--systems ...] [--tables ...] [--splits 2]

FOLDER is described in `boosting_defaults.py`. AutoGluon needs a separate environment
(`autogluon.tabular[lightgbm,xgboost,catboost,fastai]` with the CPU build of torch). Run this file there with
`--systems autogluon_medium autogluon_best`, and with `--systems committee` in the environment of committee.
Every run is a separate process. Each finished run is appended to `results/auto.jsonl`, from both
environments, and every call prints a summary of that file. The runs take hours on a quiet machine, so the
file is under version control: remove the lines that should be measured again.

The loss on the held-out third of the rows is the log loss for classification, and the root mean squared error
divided by the standard deviation of y for regression.
"""

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import results
from open_tables import TablesParser, manifest, split, table

RUNS = Path(__file__).parent / "results" / "auto.jsonl"
SYSTEMS = ("committee", "autogluon_medium", "autogluon_best", "lightgbm")
# Tables of different kinds and sizes.
TABLES = (
    "credit-data", "phoneme", "wine-quality-white", "steel-plates", "spambase", "adult", "magic", "yeast",
    "concrete", "ames", "california-housing", "bike-sharing",
)  # fmt: skip
MOST_ROWS = 60_000
LEAST_PROBABILITY = 1e-7
# The seconds per row that a committee is pruned to, and the number of single rows that are then timed.
LATENCY = 2e-3
TIMED_ROWS = 200


def main():
    arguments = parse()
    if arguments.one is not None:
        print(json.dumps(run(arguments.data, *arguments.one, arguments.seconds)))
        return
    done = {(r["table"], r["split"], r["system"], r["seconds"]) for r in results.stored_runs(RUNS)}
    for name in arguments.tables:
        for split_number in range(arguments.splits):
            for system in arguments.systems:
                if (name, split_number, system, arguments.seconds) not in done:
                    found = in_a_process(arguments, name, split_number, system)
                    if found is None:
                        print(f"{name}, {system}: failed", flush=True)
                    else:
                        store_run(found)
    report(arguments.seconds)


def parse():
    parser = TablesParser(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=["committee"])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "SPLIT", "SYSTEM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return arguments


def in_a_process(arguments, name, split_number, system):
    """Run one system in a new process and return its result, or None if it failed."""
    command = [sys.executable, __file__, "--data", str(arguments.data), "--seconds", str(arguments.seconds)]
    done = subprocess.run(
        [*command, "--one", name, str(split_number), system], stdout=subprocess.PIPE, text=True, check=False
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def run(folder, name, split_number, system, seconds):
    """Fit one system on one split of a table and return its measurements."""
    about = manifest(folder).loc[name]
    X, X_test, y, y_test = split(*table(folder, name, about, MOST_ROWS), about.task, int(split_number))
    importlib.import_module(MODULES[system])
    began = time.monotonic()
    decide = FITS[system](X, y, about.task, seconds)
    fit_seconds = time.monotonic() - began
    found = {"table": name, "split": int(split_number), "system": system, "seconds": seconds}
    answers = decide(X_test)
    row = {"row_milliseconds": answers.pop("row")} if "row" in answers else {}
    losses = {key: loss_of(about.task, votes, y_test, y) for key, votes in answers.items()}
    return found | {"fit_seconds": fit_seconds, "task": about.task} | row | losses


def milliseconds_of_a_row(model, X):
    """Return the median time to predict one row of X."""
    times = []
    for i in range(min(len(X), TIMED_ROWS)):
        row = X.iloc[i : i + 1]
        began = time.perf_counter()
        model.predict(row)
        times.append(time.perf_counter() - began)
    return 1000 * float(np.median(times))


def fit_committee(X, y, task, seconds):
    """Fit our committee. Its best member and its time per row after pruning are measured too."""
    from committee import CommitteeClassifier, CommitteeRegressor

    made = CommitteeClassifier if task == "classification" else CommitteeRegressor
    model = made(time_limit=seconds, random_state=0).fit(X, y)

    def decide(X_test):
        best = model.recombine("best_member")
        answers = [
            each.predict_proba(X_test) if task == "classification" else each.predict(X_test)[:, None]
            for each in (model, best)
        ]
        row = milliseconds_of_a_row(prune_for_latency(model, X_test), X_test)
        return dict(zip(("loss", "best_member_loss", "row"), (*answers, row), strict=True))

    return decide


def prune_for_latency(model, X):
    """Return the committee pruned to the latency, or its most useful member if that is impossible."""
    try:
        return model.prune(X, max_latency=LATENCY)
    except ValueError as error:
        print(error, file=sys.stderr)
        return model.prune(X, max_members=1)


def fit_autogluon(preset):
    """Return a function that fits AutoGluon with one of its presets."""

    def fit(X, y, task, seconds):
        from autogluon.tabular import TabularPredictor

        kind = {"classification": "multiclass" if len(np.unique(y)) > 2 else "binary"}.get(task, task)
        metric = "log_loss" if task == "classification" else "root_mean_squared_error"
        folder = tempfile.mkdtemp()
        # Without ray, AutoGluon must fit its folds one after another.
        options = {} if importlib.util.find_spec("ray") or preset == "medium_quality" else WITHOUT_RAY
        predictor = TabularPredictor(
            label="y", problem_type=kind, eval_metric=metric, path=folder, verbosity=0
        ).fit(X.assign(y=y), time_limit=seconds, presets=preset, **options)

        def decide(X_test):
            if task == "classification":
                return {"loss": predictor.predict_proba(X_test).to_numpy()}
            return {"loss": predictor.predict(X_test).to_numpy()[:, None]}

        return decide

    return fit


def fit_lightgbm(X, y, task, seconds):
    """Fit LightGBM with its defaults."""
    import lightgbm

    made = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    model = made(random_state=0, verbose=-1).fit(X, y)
    if task == "classification":
        return lambda X_test: {"loss": model.predict_proba(X_test)}
    return lambda X_test: {"loss": model.predict(X_test)[:, None]}


WITHOUT_RAY = {
    "dynamic_stacking": False,
    "ag_args_ensemble": {"fold_fitting_strategy": "sequential_local"},
}
# Imported before the time is measured.
MODULES = {
    "committee": "committee.automatic",
    "autogluon_medium": "autogluon.tabular",
    "autogluon_best": "autogluon.tabular",
    "lightgbm": "lightgbm",
}
FITS = {
    "committee": fit_committee,
    "autogluon_medium": fit_autogluon("medium_quality"),
    "autogluon_best": fit_autogluon("best_quality"),
    "lightgbm": fit_lightgbm,
}


def loss_of(task, votes, y_test, y):
    """Return the log loss, or the root mean squared error in units of the standard deviation of y."""
    if task == "classification":
        return float(-np.log(np.maximum(votes[np.arange(len(y_test)), y_test], LEAST_PROBABILITY)).mean())
    return float(np.sqrt(np.mean((votes[:, 0] - y_test) ** 2)) / np.std(y))


def store_run(done):
    """Append a run to the results, and print it."""
    results.store_run(RUNS, done)
    print(f"{done['table']}, {done['system']}: {done['loss']:.4f}, {done['fit_seconds']:.1f} s", flush=True)


def report(seconds):
    """Print the losses by table, the mean ranks, the shares of wins, and the longest fits."""
    runs = pd.DataFrame([each for each in results.stored_runs(RUNS) if each["seconds"] == seconds])
    losses = runs.pivot_table("loss", "table", "system")
    print(losses.round(4).to_string())
    print("\nmean rank\n" + losses.dropna().rank(axis=1).mean().round(2).to_string())
    ours = runs[runs.system == "committee"]
    if len(ours) == 0:
        return
    single = ours.groupby("table")[["loss", "best_member_loss"]].mean()
    print(
        f"\nbetter than its best member on {(single.loss < single.best_member_loss).mean():.0%} of the tables"
    )
    over = (ours.fit_seconds - (1.05 * seconds + 1)).max()
    print(f"time: the longest fit took {ours.fit_seconds.max():.1f} s, {max(0.0, over):.1f} s too much")
    others = [system for system in losses if system.startswith("autogluon")]
    if others:
        both = losses.dropna()
        share = (both["committee"] < both[others].min(axis=1)).mean()
        print(f"better than the better of {' and '.join(others)} on {share:.0%} of {len(both)} tables")


if __name__ == "__main__":
    main()
