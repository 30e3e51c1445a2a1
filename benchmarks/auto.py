"""Is the automatic committee better than AutoGluon in the same seconds, and than its own best member?

    python benchmarks/auto.py --data FOLDER [--seconds 30] [--systems ...] [--tables ...] [--splits 2]

FOLDER is described in `boosting_defaults.py`. AutoGluon has an environment of its own
(`autogluon.tabular[lightgbm,xgboost,catboost,fastai]` with the CPU build of torch): run this file there
with `--systems autogluon_medium autogluon_best`, and with `--systems committee` where committee is
installed. Every run is a process of its own; what is done is kept line by line in `results/auto.jsonl`,
whichever environment did it, and every call prints what is known so far. Runs take hours of a quiet machine,
so that file is under version control: remove the lines of what is to be measured again.

Losses are the log loss for classes, and the root mean squared error over the standard deviation of y for
numbers, on the third of the rows that was held out.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

KEPT = Path(__file__).parent / "results" / "auto.jsonl"
SYSTEMS = ("committee", "autogluon_medium", "autogluon_best", "lightgbm")
# Of mixed kind and size.
TABLES = (
    "credit-data", "phoneme", "wine-quality-white", "steel-plates", "spambase", "adult", "magic", "yeast",
    "concrete", "ames", "california-housing", "bike-sharing",
)  # fmt: skip
MOST_ROWS = 60_000
LEAST_ROWS_OF_CLASS = 10
LEAST_PROBABILITY = 1e-7
# What a committee is pruned to, in seconds a row, and how many rows it is then asked for.
LATENCY = 2e-3
ROWS_ASKED = 200


def main():
    arguments = parse()
    if arguments.one is not None:
        print(json.dumps(run(arguments.data, *arguments.one, arguments.seconds)))
        return
    there = {(r["table"], r["split"], r["system"], r["seconds"]) for r in kept()}
    for name in arguments.tables:
        for split_number in range(arguments.splits):
            for system in arguments.systems:
                if (name, split_number, system, arguments.seconds) not in there:
                    found = in_a_process(arguments, name, split_number, system)
                    if found is None:
                        print(f"{name}, {system}: failed", flush=True)
                    else:
                        keep(found)
    report(arguments.seconds)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=["committee"])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "SPLIT", "SYSTEM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def in_a_process(arguments, name, split_number, system):
    """A run of its own process, whose last line is the result; None if it failed."""
    command = [sys.executable, __file__, "--data", str(arguments.data), "--seconds", str(arguments.seconds)]
    done = subprocess.run(
        [*command, "--one", name, str(split_number), system], stdout=subprocess.PIPE, text=True, check=False
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def manifest(folder):
    """The open tables."""
    tables = pd.read_csv(Path(folder) / "manifest.csv", index_col="name")
    return tables[tables.list == "open"]


def table(folder, name, about, most_rows):
    """A table and its y: codes of classes that have some rows, or numbers."""
    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    if about.task == "classification":
        labels = frame[about.target].astype(str)
        frame = frame[labels.map(labels.value_counts()) >= LEAST_ROWS_OF_CLASS]
        y = np.unique(frame[about.target].astype(str), return_inverse=True)[1]
    else:
        y = frame[about.target].to_numpy(dtype=np.float64)
    X = frame.drop(columns=about.target).reset_index(drop=True)
    # Some names are no names to some peers.
    X = X.set_axis([f"column {i}" for i in range(X.shape[1])], axis=1)
    text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    X = X.astype(dict.fromkeys(text, "category"))
    if len(y) > most_rows:
        rows = np.random.default_rng(0).choice(len(y), most_rows, replace=False)
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X, y


def split(X, y, task, seed):
    """Two thirds to learn from, and a third that is held out."""
    strata = y if task == "classification" else None
    return train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=strata)


def run(folder, name, split_number, system, seconds):
    """Fit one system to one split of one table."""
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
    """The median time of a model to answer a row of a table."""
    times = []
    for i in range(min(len(X), ROWS_ASKED)):
        row = X.iloc[i : i + 1]
        began = time.perf_counter()
        model.predict(row)
        times.append(time.perf_counter() - began)
    return 1000 * float(np.median(times))


def fit_committee(X, y, task, seconds):
    """Ours, its best member by the same honest votes, and how fast it answers a row when pruned for it."""
    from committee import CommitteeClassifier, CommitteeRegressor

    made = CommitteeClassifier if task == "classification" else CommitteeRegressor
    model = made(time_limit=seconds, random_state=0).fit(X, y)

    def decide(X_test):
        best = model.recombine("best_member")
        answers = [
            each.predict_proba(X_test) if task == "classification" else each.predict(X_test)[:, None]
            for each in (model, best)
        ]
        row = milliseconds_of_a_row(quick(model, X_test), X_test)
        return dict(zip(("loss", "best_member_loss", "row"), (*answers, row), strict=True))

    return decide


def quick(model, X):
    """A committee pruned to answer in time; if it cannot, its most useful member."""
    try:
        return model.prune(X, max_latency=LATENCY)
    except ValueError as error:
        print(error, file=sys.stderr)
        return model.prune(X, max_members=1)


def fit_autogluon(preset):
    """AutoGluon with a preset of its own."""

    def fit(X, y, task, seconds):
        from autogluon.tabular import TabularPredictor

        kind = {"classification": "multiclass" if len(np.unique(y)) > 2 else "binary"}.get(task, task)
        metric = "log_loss" if task == "classification" else "root_mean_squared_error"
        folder = tempfile.mkdtemp()
        # Its folds run one after the other if ray, which would run them side by side, is not there.
        given = {} if importlib.util.find_spec("ray") or preset == "medium_quality" else WITHOUT_RAY
        predictor = TabularPredictor(
            label="y", problem_type=kind, eval_metric=metric, path=folder, verbosity=0
        ).fit(X.assign(y=y), time_limit=seconds, presets=preset, **given)

        def decide(X_test):
            if task == "classification":
                return {"loss": predictor.predict_proba(X_test).to_numpy()}
            return {"loss": predictor.predict(X_test).to_numpy()[:, None]}

        return decide

    return fit


def fit_lightgbm(X, y, task, seconds):
    """LightGBM as it comes."""
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
# Imported before the clock runs.
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
    """The log loss, or the root mean squared error in units of the standard deviation of y."""
    if task == "classification":
        return float(-np.log(np.maximum(votes[np.arange(len(y_test)), y_test], LEAST_PROBABILITY)).mean())
    return float(np.sqrt(np.mean((votes[:, 0] - y_test) ** 2)) / np.std(y))


def kept():
    """All runs that were kept."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def keep(done):
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a") as file:
        file.write(json.dumps(done) + "\n")
    print(f"{done['table']}, {done['system']}: {done['loss']:.4f}, {done['fit_seconds']:.1f} s", flush=True)


def report(seconds):
    """Print losses by table, ranks, who is better, and whether the time was kept."""
    runs = pd.DataFrame([each for each in kept() if each["seconds"] == seconds])
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
