"""Test that commands with `--scoring` accept every metric of the task by scikit-learn's name."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from committee.metrics import METRICS

# With two classes, scikit-learn warns that top-k accuracy for k=2 is always 1.
pytestmark = pytest.mark.filterwarnings("ignore:'k' .2. greater than or equal")
TASKS = ("classification", "regression")
FAST = ("--estimators", "linear", "--rule", "mean", "--folds", "2", "--keep", "all", "--quiet", "--json")


def names_of(task):
    return [name for name, metric in METRICS.items() if metric.task == task]


@pytest.fixture
def table(folder):
    """Write a table with the classes 0 and 1, and a table with a target of positive numbers."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=40).round(3)
    kind = (size + rng.normal(scale=0.5, size=40) > 0).astype(int)
    place = folder / "tables"
    place.mkdir()
    columns = {"size": size, "other": rng.normal(size=40).round(3)}
    pa.csv.write_csv(pa.table({**columns, "y": kind}), place / "classification.csv")
    pa.csv.write_csv(pa.table({**columns, "y": np.exp(size / 4).round(4)}), place / "regression.csv")
    return place


def fit(committee, task, *more):
    return committee("fit", f"tables/{task}.csv", "--target", "y", "--task", task, *FAST, *more)


@pytest.mark.parametrize("task", TASKS)
def test_evaluate_and_leaderboard_accept_every_metric_of_the_task(committee, table, task):
    assert fit(committee, task, "--out", "model.committee").code == 0
    refused = []
    for name in names_of(task):
        evaluate = ("evaluate", "model.committee", f"tables/{task}.csv")
        leaderboard = ("leaderboard", "model.committee", "--rule", "mean")
        for command in (evaluate, leaderboard):
            ended = committee(*command, "--scoring", name, "--json")
            if ended.code or not {ended.json.get("scoring"), *ended.json.get("scores", ())} >= {name}:
                refused.append((command[0], name, ended.code, ended.err))
    assert not refused


@pytest.mark.parametrize("task", TASKS)
def test_fit_accepts_every_metric_of_the_task_except_ratios(committee, table, task):
    refused = []
    for name in names_of(task):
        ended = fit(committee, task, "--scoring", name, "--out", f"{name}.committee")
        if ended.code or ended.json["scoring"] != name:
            ended.complains(3, f"{name} cannot score this y")
            refused.append(name)
    ratios = ["positive_likelihood_ratio", "neg_negative_likelihood_ratio"]
    assert refused == (ratios if task == "classification" else [])


def test_compare_accepts_every_metric_for_the_tables_of_its_task(committee, table):
    (table / "manifest.csv").write_text(
        "name,target,task\nclassification,y,classification\nregression,y,regression\n"
    )
    ended = committee(
        *("compare", "tables", "--learners", "tree,bayes", "--resamples", "1", "--folds", "0"),
        *("--jobs", "1", "--out", "study", "--quiet", "--json", "--scoring", ",".join(METRICS)),
    )
    assert ended.code == 0, ended
    ended = committee("compare", "--report", "study", "--formats", "svg", "--scoring", "f1,r2", "--json")
    assert [each["scoring"] for each in ended.json["comparisons"]] == ["f1", "r2"]
