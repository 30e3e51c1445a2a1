"""Run a study of all our ensembles with their defaults on the open tables, and write docs/study.md.

    python benchmarks/study.py --data FOLDER [--minutes 120] [--published FOLDER] [--learners ...]

`--data`, or the environment variable COMMITTEE_TABLES, is a folder with `manifest.csv` (columns name, target,
task, rows, features, and cawpe_name for tables of the CAWPE paper) and `<name>.parquet` for each table.
`--published`, or COMMITTEE_PUBLISHED, is a folder with `cawpe_uci121_ACC.csv`. Neither is part of the
project.

The study is stored in `results/raw/study`. It stops between two cells when the minutes are over, and resumes
when the script is run again. It runs one resample of all tables, small tables first, before the next
resample.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import pandas as pd

import results
from committee import Study, running
from committee.evaluating import known_learners
from committee.reporting import rank_table, save_picture
from committee.reporting.study_report import charts_of, tests_of
from published import with_published

FOLDER = results.FOLDER / "raw" / "study"
PAGE = Path(__file__).parents[1] / "docs" / "study.md"
PICTURES = PAGE.parent / "study"
# A hand-written interpretation of the results, if there is one.
READING = Path(__file__).with_name("study_reading.md")
ENSEMBLES = (
    *(
        "rf",
        "et",
        "bagging",
        "subspace",
        "rotf",
        "gb",
        "logitboost",
        "adaboost",
        "adaboost_m1",
        "adaboost_m2",
    ),
    *("cawpe", "voting", "stacking", "selection", "region", "dynamic", "averaging", "experts"),
)
METRICS = {
    "classification": ("accuracy", "roc_auc_ovr_weighted", "neg_log_loss"),
    "regression": ("neg_root_mean_squared_error",),
}
N_RESAMPLES = 30
# A cell that takes longer fails, so that no table delays the others.
SECONDS_OF_A_CELL = 600
# The pictures that grow with the number of pairs and tables are drawn for one metric only.
EVERY_PICTURE, MORE_PICTURES = ("ranks_nemenyi", "ranks_wilcoxon_holm", "time"), ("rank_boxes", "matrix")
PAPER = ("RandF", "RotF", "XGBoost", "CAWPE-S", "CAWPE-A")


class TimeIsUpError(Exception):
    pass


def main():
    arguments = parse()
    tables = pd.read_csv(arguments.data / "manifest.csv").set_index("name")
    names = arguments.tables or [name for name in tables.index if tables.rows[name] <= arguments.most_rows]
    names = sorted(names, key=lambda name: tables.rows[name] * tables.features[name])
    learners = [name for name in arguments.learners if name in known_learners()]
    study = Study(
        learners,
        {name: reader(arguments.data, name, tables.loc[name]) for name in names},
        arguments.resamples,
        cv=None,
        folder=arguments.folder,
        time_limit=SECONDS_OF_A_CELL,
    )
    run(study, arguments.minutes * 60)
    write_page(study, tables, arguments.published, arguments.page, arguments.pictures)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("COMMITTEE_TABLES"), help="folder with manifest.csv")
    parser.add_argument(
        "--published", default=os.environ.get("COMMITTEE_PUBLISHED"), help="folder of the paper's means"
    )
    parser.add_argument("--minutes", type=float, default=120.0, help="time limit")
    parser.add_argument("--resamples", type=int, default=N_RESAMPLES)
    parser.add_argument("--learners", nargs="+", default=list(ENSEMBLES))
    parser.add_argument("--tables", nargs="+", help="names; default: all that are not too large")
    parser.add_argument("--most-rows", type=int, default=20_000, help="leave out larger tables")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the study")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    arguments = parser.parse_args()
    if arguments.data is None or not (Path(arguments.data) / "manifest.csv").exists():
        parser.error("no manifest.csv: the docstring of study.py describes --data.")
    arguments.data = Path(arguments.data)
    return arguments


def reader(folder, name, row):
    """Return a function that reads a table. Text columns are categories."""

    def read():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        y = frame.pop(row.target)
        return frame, y.astype(str) if row.task == "classification" else y, row.task

    return read


def run(study, seconds):
    """Run the study until the seconds are over. Finished cells are stored."""
    deadline = time.monotonic() + seconds

    def show(event):
        if event.what == "cells":
            print(f"{time.strftime('%H:%M:%S')} {event}", flush=True)
            if time.monotonic() > deadline:
                raise TimeIsUpError

    try:
        with running.receiving(show):
            study.run(runner="processes")
    except TimeIsUpError:
        print("The time is up.", flush=True)


def write_page(study, tables, published, page, pictures):
    """Write the page with its pictures, for the tables that all learners have finished."""
    failures = study.store.failures()
    lines = [
        "# All ensembles with their defaults",
        "",
        f"Written by `benchmarks/study.py`: {len(study.store.finished())} cells are finished and "
        f"{len(failures)} have failed. A cell is one learner, with its defaults, on one resample of one "
        "table. Half of the rows of each class are the training set, the others the test set. The comparison "
        "contains the tables that all learners have finished, with the mean over their common resamples.",
        "",
        *(READING.read_text(encoding="utf-8").splitlines() if READING.exists() else []),
        "",
    ]
    tasks = {table.task for table in study.store.tables().values()}
    for metric in [metric for task in sorted(tasks) for metric in METRICS[task]]:
        compared = study.compare(metric)
        lines += section(compared, compared.metric, metric.removeprefix("neg_"), pictures, page)
    if published and "classification" in tasks:
        names = {name: row.cawpe_name for name, row in tables.iterrows() if isinstance(row.cawpe_name, str)}
        path = Path(published) / "cawpe_uci121_ACC.csv"
        compared = with_published(study.compare("accuracy"), path, PAPER, names)
        title = "accuracy, next to the means that the CAWPE paper published"
        lines += section(compared, title, "paper", pictures, page)
    if failures:
        lines += ["## Cells that failed", ""]
        lines += [f"- {cell}: {error}" for cell, (error, _) in sorted(failures.items())[:30]]
        lines += [f"- and {len(failures) - 30} more", ""] if len(failures) > 30 else [""]
    page.write_text("\n".join(lines), encoding="utf-8")
    print(f"{page} is written.")


def section(compared, title, name, pictures, page):
    """Return the lines of one comparison."""
    n_tables, n_learners = compared.scores.shape
    lines = [f"## By {title}", ""]
    if n_tables < 2 or n_learners < 2:
        return [*lines, "Too few tables have been finished by all learners.", ""]
    pictures.mkdir(parents=True, exist_ok=True)
    n_resamples = sorted({len(runs) for runs in compared.runs})
    resamples = f"{n_resamples[0]} to {n_resamples[-1]}" if len(n_resamples) > 1 else f"{n_resamples[0]}"
    lines += [f"{n_learners} learners, {n_tables} tables, {resamples} resamples of each.", ""]
    lines += [rank_table(compared), "", *tests_of(compared, 0.05, 0.01), ""]
    for kind in (*EVERY_PICTURE, *(MORE_PICTURES if name == "accuracy" else ())):
        chart = charts_of(compared).get(kind)
        if chart is not None:
            place = save_picture(chart, pictures / f"{name}_{kind}.svg")
            lines += [f"![{kind}]({os.path.relpath(place, page.parent)})", ""]
    return lines


if __name__ == "__main__":
    sys.exit(main())
