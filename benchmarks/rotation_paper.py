"""Compare the accuracy of the rotation forest with the published one, on the open tables of its study.

    python benchmarks/rotation_paper.py --data FOLDER --published FOLDER [--resamples 10] [--tables ...]

`--data` and `--published`, or the environment variables COMMITTEE_TABLES and COMMITTEE_PUBLISHED, are
described in `cawpe_paper.py`; the latter also contains `rotf39_from_cawpe.csv`, the mean accuracies of
rotation forest and others on 39 problems with numbers. Neither is part of the project; only means and
differences are stored.

The rows of a table are halved at random, class by class. Each finished resample is appended to
`results/raw/rotation_paper.jsonl`, so a stopped run resumes. The result reports and leaves out tables without
all resamples.
"""

import argparse
import importlib.metadata
import os
import sys
import time
from pathlib import Path

import pandas as pd

import results
from cawpe_paper import halves, manifest, read
from committee import RotationForestClassifier

RUNS = results.FOLDER / "raw" / "rotation_paper.jsonl"
PUBLISHED = "rotf39_from_cawpe.csv"
N_RESAMPLES, N_TREES = 10, 200
US, THEM = "committee", "published"


def main():
    arguments = parse()
    published = pd.read_csv(Path(arguments.published) / PUBLISHED, index_col="dataset").RotF
    tables = manifest(arguments.data)
    tables = tables[tables.cawpe_name.isin(published.index)]
    names = arguments.tables or list(tables.index)
    if unknown := set(names) - set(tables.index):
        sys.exit(f"The study or {arguments.data} has no table {', '.join(sorted(unknown))}.")
    done = {(run["table"], run["resample"]) for run in results.stored_runs(RUNS)}
    jobs = [
        (name, resample)
        for name in sorted(names, key=lambda name: tables.rows[name] * tables.features[name])
        for resample in range(arguments.resamples)
        if (name, resample) not in done
    ]
    for number, (name, resample) in enumerate(jobs, start=1):
        run = measure(name, resample, *read(arguments.data, name, tables.target[name]))
        results.store_run(RUNS, run)
        print(f"[{number}/{len(jobs)}] {name}, resample {resample}: {run['accuracy']:.4f}", flush=True)
    write(results.stored_runs(RUNS), tables, published, arguments.resamples)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("COMMITTEE_TABLES"), help="folder with manifest.csv")
    parser.add_argument(
        "--published", default=os.environ.get("COMMITTEE_PUBLISHED"), help=f"folder with {PUBLISHED}"
    )
    parser.add_argument("--tables", nargs="+", help="names; default: all")
    parser.add_argument("--resamples", type=int, default=N_RESAMPLES)
    arguments = parser.parse_args()
    for folder, file in (arguments.data, "manifest.csv"), (arguments.published, PUBLISHED):
        if folder is None or not (Path(folder) / file).exists():
            parser.error(f"no {file}: the docstring of rotation_paper.py describes --data and --published.")
    return arguments


def measure(name, resample, frame, y):
    """Return the accuracy on one resample of a table."""
    train, test = halves(y, resample)
    start = time.process_time()
    forest = RotationForestClassifier(N_TREES, random_state=resample).fit(frame.iloc[train], y[train])
    # A class may have no row in one half.
    right = forest.classes_[forest.predict_proba(frame.iloc[test]).argmax(axis=1)] == y[test]
    seconds = time.process_time() - start
    return {"table": name, "resample": resample, "seconds": seconds, "accuracy": round(right.mean(), 6)}


def write(runs, tables, published, n_resamples):
    """Write the result over the tables that have all resamples."""
    lines = pd.DataFrame(runs, columns=["table", "resample", "seconds", "accuracy"])
    lines = lines[lines.table.isin(tables.index) & (lines["resample"] < n_resamples)]
    complete = lines.groupby("table").filter(lambda each: len(each) == n_resamples)
    if complete.empty:
        print(f"No table has {n_resamples} resamples yet, so there is nothing to report.")
        return
    ours = complete.groupby("table").accuracy.mean()
    theirs = published[tables.cawpe_name[ours.index]].set_axis(ours.index)
    path = results.write(result_of(complete, ours, theirs, len(tables), n_resamples), complete=True)
    print(f"Wrote {path.name}: {len(ours)} tables, {ours.mean():.4f} against {theirs.mean():.4f}.")


def result_of(runs, ours, theirs, n_all, n_resamples):
    """Return the result in the format of `results.py`, with a case for each table."""
    difference = ours.mean() - theirs.mean()
    measurements = []
    for name in ours.index:
        values = runs[runs.table == name].accuracy.tolist()
        measurements.append({"case": name, "peer": US, "metric": "accuracy", "values": values})
        measurements.append(
            {"case": name, "peer": THEM, "metric": "accuracy", "values": [float(theirs[name])]}
        )
    return {
        "name": "rotation_paper",
        "title": "Is the rotation forest as accurate as the published one?",
        "about": (
            f"RotationForestClassifier with {N_TREES} trees and otherwise its defaults, on {len(ours)} of "
            f"the {n_all} tables that are open, of 39 problems with numbers; {n_resamples} stratified "
            "resamples of half the rows. *Published* is the mean accuracy of RotF that the authors of the "
            "CAWPE paper found in 30 such resamples."
        ),
        "rerun": "python benchmarks/rotation_paper.py --data FOLDER --published FOLDER",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            US: {"version": importlib.metadata.version("committee"), "settings": f"{N_TREES} trees"},
            THEM: {"version": "", "settings": "RotF"},
        },
        "metrics": {"accuracy": {"label": "accuracy", "unit": "", "ratio": False}},
        "cases": [{"name": name, "about": "", "axis": None, "at": None} for name in ours.index],
        "measurements": measurements,
        "targets": [
            {
                "what": "mean accuracy",
                "target": "within 0.01 of the published",
                "measured": f"{ours.mean():.4f} against {theirs.mean():.4f}",
                "met": bool(abs(difference) <= 0.01),
            }
        ],
        "plots": [],
        "failures": [],
    }


if __name__ == "__main__":
    main()
