"""Measure what compaction costs and saves: loss, file size, rows per second and latency of committees.

    python benchmarks/lean.py --data FOLDER [--seconds 30] [--systems balanced fast best] [--tables ...]

FOLDER is described in `boosting_defaults.py`. A committee is fitted once with keep="all" and then compacted,
so that both losses belong to the same fit. AutoGluon needs a separate environment, as in `auto.py`: run this
file there with `--systems autogluon_medium autogluon_best`. Every run is a separate process with two threads.
Each finished run is appended to `results/lean.jsonl`, and every call prints a summary of that file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from auto import MOST_ROWS, WITHOUT_RAY, loss_of, manifest, milliseconds_of_a_row, split, table

RUNS = Path(__file__).parent / "results" / "lean.jsonl"
PRESETS = ("balanced", "fast", "best")
AUTOGLUON = ("autogluon_medium", "autogluon_best")
TABLES = (
    "credit-data", "phoneme", "adult", "yeast", "concrete", "ames", "california-housing", "spambase",
    "steel-plates", "wine-quality-white",
)  # fmt: skip
MANY_ROWS = 100_000
N_THREADS = 2
# Load a model and predict one row, in a new process.
FIRST_ANSWER = "import committee, json, sys; committee.predictor(sys.argv[1]).predict(json.load(sys.stdin))"


def main():
    arguments = parse()
    if arguments.one is not None:
        print(json.dumps(run(arguments.data, *arguments.one, arguments.seconds)))
        return
    done = {(each["table"], each["system"], each["seconds"]) for each in stored_runs()}
    for name in arguments.tables:
        for system in arguments.systems:
            if (name, system, arguments.seconds) not in done:
                in_a_process(arguments, name, system)
    report(arguments.seconds)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--systems", nargs="+", choices=(*PRESETS, *AUTOGLUON), default=list(PRESETS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--one", nargs=2, metavar=("TABLE", "SYSTEM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def in_a_process(arguments, name, system):
    """Run one system in a new process and store its result."""
    command = [sys.executable, __file__, "--data", str(arguments.data), "--seconds", str(arguments.seconds)]
    done = subprocess.run([*command, "--one", name, system], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{name}, {system}: failed", flush=True)
        return
    line = done.stdout.splitlines()[-1]
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    with RUNS.open("a") as file:
        file.write(line + "\n")
    print(line, flush=True)


def stored_runs():
    """Return all stored runs."""
    return [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []


def run(folder, name, system, seconds):
    """Fit one system on one table and return its measurements."""
    warnings.simplefilter("ignore")
    about = manifest(folder).loc[name]
    X, X_test, y, y_test = split(*table(folder, name, about, MOST_ROWS), about.task, 0)
    measure = autogluon if system in AUTOGLUON else committee
    found = measure(X, y, X_test, y_test, about.task, system, seconds)
    return {"table": name, "system": system, "seconds": seconds, "task": about.task} | found


def committee(X, y, X_test, y_test, task, preset, seconds):
    """Fit and compact a committee, and measure the file that it leaves."""
    import committee as package
    from committee.automatic.limits import Clock
    from committee.automatic.reduction import fit_of
    from committee.members.training_set import TrainingSet

    made = package.CommitteeClassifier if task == "classification" else package.CommitteeRegressor
    began = time.monotonic()
    model = made(preset=preset, keep="all", time_limit=seconds, random_state=0, n_jobs=N_THREADS).fit(X, y)
    fit_seconds = time.monotonic() - began
    whole = loss_of(task, votes_of(model, X_test, task), y_test, y)
    model.keep = "decision"
    training = TrainingSet.of(model._task_type, X, y, None, None)
    began = time.monotonic()
    fitted = [fit_of(each) for each in model._fitted_members]
    model._compact(fitted, model._honest, training, Clock(None), None)
    model._forget_leaderboard()
    compact_seconds = time.monotonic() - began
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.committee")
        model.save(path)
        began = time.perf_counter()
        loaded = package.load(path)
        load_seconds = time.perf_counter() - began
        found = {
            "fit_seconds": fit_seconds,
            "compact_seconds": compact_seconds,
            "loss": loss_of(task, votes_of(loaded, X_test, task), y_test, y),
            "loss_of_all": whole,
            "megabytes": path.stat().st_size / 1e6,
            "load_seconds": load_seconds,
        }
        prepared = package.predictor(path)
        rows = X_test.iloc[:100].to_dict("records")
        rows = [{name: None if pd.isna(value) else value for name, value in row.items()} for row in rows]
        times = [seconds_of(lambda row=row: prepared.predict([row])) for row in rows]
        first = [sys.executable, "-c", FIRST_ANSWER, str(path)]
        text = json.dumps(rows[:1])
        found["first_seconds"] = min(
            seconds_of(lambda: subprocess.run(first, input=text, text=True, check=True)) for _ in range(3)
        )
    return found | speeds(loaded, X_test) | {"prepared_milliseconds": 1000 * float(np.median(times))}


def autogluon(X, y, X_test, y_test, task, system, seconds):
    """Fit AutoGluon, optimised for deployment, and measure the folder that it leaves."""
    from autogluon.tabular import TabularPredictor

    kind = {"classification": "multiclass" if len(np.unique(y)) > 2 else "binary"}.get(task, task)
    metric = "log_loss" if task == "classification" else "root_mean_squared_error"
    preset = {"autogluon_medium": "medium_quality", "autogluon_best": "best_quality"}[system]
    options = {} if preset == "medium_quality" else WITHOUT_RAY
    began = time.monotonic()
    predictor = TabularPredictor(
        label="y", problem_type=kind, eval_metric=metric, path=tempfile.mkdtemp(), verbosity=0
    ).fit(X.assign(y=y), time_limit=seconds, presets=preset, num_cpus=N_THREADS, **options)
    fit_seconds = time.monotonic() - began
    predictor = predictor.clone_for_deployment(tempfile.mkdtemp() + "/deployed", return_clone=True)
    predictor.persist()
    size = sum(path.stat().st_size for path in Path(predictor.path).rglob("*") if path.is_file())
    decision = (predictor.predict_proba if task == "classification" else predictor.predict)(X_test).to_numpy()
    loss = loss_of(task, decision if decision.ndim > 1 else decision[:, None], y_test, y)
    return {"fit_seconds": fit_seconds, "loss": loss, "megabytes": size / 1e6} | speeds(predictor, X_test)


def votes_of(model, X, task):
    """Return the decision of a committee, with one column for each output."""
    return model.predict_proba(X) if task == "classification" else model.predict(X)[:, None]


def speeds(model, X):
    """Measure one row, and as many rows as users score at once, after a warm-up."""
    many = X.sample(MANY_ROWS, replace=True, random_state=0).reset_index(drop=True)
    model.predict(many.iloc[:1000])
    return {
        "row_milliseconds": milliseconds_of_a_row(model, X),
        "rows_per_second": MANY_ROWS / min(seconds_of(lambda: model.predict(many)) for _ in range(3)),
    }


def seconds_of(work):
    """Return the time of a function."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def report(seconds):
    """Print the measurements by system and table, and the change of the loss by compaction."""
    runs = pd.DataFrame([each for each in stored_runs() if each["seconds"] == seconds])
    pd.set_option("display.width", 200)
    for system, own in runs.groupby("system"):
        shown = own.set_index("table").drop(columns=["system", "seconds", "task"]).dropna(axis=1, how="all")
        if "loss_of_all" in shown:
            shown["change"] = shown.loss / shown.loss_of_all - 1
        print(f"\n{system}\n{shown.round(4).to_string()}")
        if "change" in shown:
            print(f"loss: {shown.change.mean():+.2%} in the mean, {shown.change.max():+.2%} at most")
    print("\nmedians\n" + runs.groupby("system").median(numeric_only=True).round(3).to_string())
    losses = runs.pivot_table("loss", "table", "system")
    for ours, theirs in (("balanced", "autogluon_medium"), ("best", "autogluon_best")):
        both = losses.reindex(columns=[ours, theirs]).dropna()
        if len(both):
            print(
                f"{ours} is better than {theirs} on {(both[ours] < both[theirs]).mean():.0%} of {len(both)}"
            )


if __name__ == "__main__":
    main()
