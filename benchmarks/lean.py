"""Measure what compaction costs and saves: loss, file size, rows per second and latency of committees.

    python benchmarks/lean.py --data FOLDER [--seconds 30] [--systems balanced fast best] [--tables ...]

FOLDER is described in `boosting_defaults.py`. A committee is fitted once with keep="all" and then compacted,
so that both losses belong to the same fit. AutoGluon needs a separate environment, as in `auto.py`: run this
file there with `--systems autogluon_medium autogluon_best`. Every run is a separate process with two threads.
Each finished run is appended to `results/lean.jsonl`, and every call prints a summary of that file. With
`--page`, docs/lean.md and its picture are written from it.
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
PAGE = Path(__file__).parents[1] / "docs" / "lean.md"
PICTURE = PAGE.parent / "benchmarks" / "lean_front.svg"
PRESETS = ("balanced", "fast", "best")
AUTOGLUON = ("autogluon_medium", "autogluon_best")
TABLES = (
    "credit-data", "phoneme", "adult", "yeast", "concrete", "ames", "california-housing", "spambase",
    "steel-plates", "wine-quality-white",
)  # fmt: skip
MANY_ROWS = 100_000
NAMES = {
    "fast": "fast", "balanced": "balanced", "best": "best",
    "autogluon_medium": "AutoGluon, medium", "autogluon_best": "AutoGluon, best",
}  # fmt: skip
ABOUT = """\
Written by `benchmarks/lean.py`. Each system is fitted for 30 seconds with two threads on two thirds of an open table,
and tested on the rest: log loss, or for regression the root mean squared error in standard deviations. A committee
is fitted once with `keep="all"`, and then compacted as in a fit with the defaults, so that the loss by compaction
compares the same fit. AutoGluon's models are optimised for deployment and loaded. One row: a frame with one row for
the loaded model, and a mapping for the prepared predictor of `committee.predictor`. Rows per second: 100,000 rows at
once."""  # noqa: E501
# The column, its title, how the tables are summarised, and the limit of each preset.
TARGETS = (
    ("rows_per_second", "rows per second, median", "median", {"fast": 4e5, "balanced": 1.5e5, "best": 3e4}),
    ("rows_per_second", "rows per second, smallest", "min", {"balanced": 5e4}),
    ("megabytes", "file in MB, largest", "max", {"fast": 2, "balanced": 10, "best": 20}),
    ("row_milliseconds", "one row in ms, largest", "max", {"fast": 0.5, "balanced": 2, "best": 10}),
    ("prepared_milliseconds", "one row, prepared, largest", "max", {"fast": 0.1, "balanced": 0.5, "best": 3}),
    ("change", "loss by compaction in %, mean", "mean", {"balanced": 0.3, "best": 0.1}),
    ("change", "loss by compaction in %, largest", "max", {"balanced": 1, "best": 0.5}),
    ("load_seconds", "load in s, largest", "max", dict.fromkeys(PRESETS, 0.2)),
    ("first_seconds", "first answer of a process in s", "max", dict.fromkeys(PRESETS, 0.4)),
)
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
    if arguments.page:
        write_page(frame_of_runs(arguments.seconds))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--systems", nargs="+", choices=(*PRESETS, *AUTOGLUON), default=list(PRESETS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--page", action="store_true", help="write docs/lean.md")
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


def frame_of_runs(seconds):
    """Return the runs of a time limit, with the change of the loss by compaction in percent."""
    runs = pd.DataFrame([each for each in stored_runs() if each["seconds"] == seconds])
    return runs.assign(change=100 * (runs.loss / runs.loss_of_all - 1))


def report(seconds):
    """Print the measurements by system and table, and the change of the loss by compaction."""
    runs = frame_of_runs(seconds)
    pd.set_option("display.width", 200)
    for system, own in runs.groupby("system"):
        shown = own.set_index("table").drop(columns=["system", "seconds", "task"]).dropna(axis=1, how="all")
        print(f"\n{system}\n{shown.round(4).to_string()}")
    print("\nmedians\n" + runs.groupby("system").median(numeric_only=True).round(3).to_string())
    print("\n".join(comparisons(runs)))


def comparisons(runs):
    """Compare presets with those of AutoGluon, on the tables that both have finished."""
    lines = []
    for ours, theirs in (("balanced", "autogluon_medium"), ("best", "autogluon_best")):
        own, other = (runs[runs.system == each].set_index("table") for each in (ours, theirs))
        tables = own.index.intersection(other.index)
        if len(tables) == 0:
            continue
        own, other = own.loc[tables], other.loc[tables]
        counts = {
            "a smaller loss": own.loss < other.loss,
            "a smaller model": own.megabytes < other.megabytes,
            "a faster row": own.row_milliseconds < other.row_milliseconds,
            "more rows per second": own.rows_per_second > other.rows_per_second,
        }
        found = ", ".join(f"{what} on {is_so.sum()}" for what, is_so in counts.items())
        lines.append(f"{NAMES[ours]} against {NAMES[theirs]} on {len(tables)} tables: {found}.")
    return lines


def write_page(runs):
    """Write docs/lean.md: the targets, a picture of the trade-off, and all measurements."""
    runs = runs[runs.system.isin(NAMES)]
    lines = [
        "# Accuracy, size and speed",
        "",
        ABOUT,
        "",
        f"![Loss against size and latency]({PICTURE.relative_to(PAGE.parent)})",
        "",
        *target_table(runs),
        "",
        *(f"- {line}" for line in comparisons(runs)),
        "",
        "| table | system | loss | MB | one row, ms | prepared, ms | rows per second | fit, s |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in TABLES:
        for system, title in NAMES.items():
            for each in runs[(runs.table == name) & (runs.system == system)].itertuples():
                prepared = "" if np.isnan(each.prepared_milliseconds) else f"{each.prepared_milliseconds:.2f}"
                numbers = (
                    f"{each.loss:.4f}",
                    f"{each.megabytes:.2f}",
                    f"{each.row_milliseconds:.2f}",
                    prepared,
                )
                fast = (f"{each.rows_per_second:,.0f}", f"{each.fit_seconds:.0f}")
                lines.append(f"| {' | '.join((name, title, *numbers, *fast))} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    save_front(runs)
    print(f"{PAGE} is written.")


def target_table(runs):
    """Return the table of measured values and limits by preset."""
    lines = ["| | " + " | ".join(PRESETS) + " |", "|---|" + "---:|" * len(PRESETS)]
    for column, title, how, limits in TARGETS:
        cells = []
        for preset in PRESETS:
            values = runs[runs.system == preset][column]
            if preset not in limits or values.empty:
                cells.append("")
                continue
            value, limit = values.agg(how), limits[preset]
            is_met = value >= limit if column == "rows_per_second" else value <= limit
            sign = ">=" if column == "rows_per_second" else "<="
            cells.append(f"{shown(value)} ({sign} {shown(limit)}{'' if is_met else ', missed'})")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def shown(value):
    """Format a number with three digits, or with thousands separators."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def save_front(runs):
    """Draw the loss of each system on each table against size and latency; large dots are medians."""
    from committee.charts.plots import panels
    from committee.charts.style import altair, colour_of
    from committee.reporting import save_picture

    alt = altair()
    lowest = runs.groupby("table").loss.min()
    runs = runs.assign(above=100 * (runs.loss / runs.table.map(lowest) - 1), name=runs.system.map(NAMES))
    medians = runs.groupby("name").median(numeric_only=True).reset_index()
    names = [name for name in NAMES.values() if name in set(runs.name)]
    scale = alt.Scale(domain=names, range=[colour_of(place) for place in range(len(names))])
    charts = []
    for column, title in (
        ("megabytes", "size of the model in MB"),
        ("row_milliseconds", "one row in milliseconds"),
    ):
        layers = []
        for frame, size, opacity in ((runs, 40, 0.35), (medians, 260, 1.0)):
            values = [
                {"x": row[column], "y": row["above"], "system": row["name"]}
                for row in frame[[column, "above", "name"]].to_dict("records")
            ]
            layers.append(
                alt.Chart(alt.Data(values=values), width=340, height=300)
                .mark_circle(size=size, opacity=opacity, clip=True)
                .encode(
                    alt.X("x:Q", title=title, scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=5)),
                    alt.Y(
                        "y:Q", title="loss above the best of the table, %", scale=alt.Scale(domain=[0, 15])
                    ),
                    alt.Color("system:N", title=None, scale=scale, legend=alt.Legend(orient="bottom")),
                )
            )
        charts.append(alt.layer(*layers))
    save_picture(
        panels(
            charts,
            2,
            "Small models lose little accuracy",
            "Large dots are medians over ten tables, small dots are tables",
        ),
        PICTURE,
    )


if __name__ == "__main__":
    main()
