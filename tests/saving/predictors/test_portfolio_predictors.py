"""Every member of the portfolio answers through a predictor, alone and together, without scikit-learn."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import committee
from committee import CommitteeClassifier, CommitteeRegressor, VotingClassifier, VotingRegressor
from committee.automatic.portfolio import ORDERS, Size, named
from committee.automatic.rule_choice import rules_for

RNG = np.random.default_rng(7)
N_ROWS = 90
TASKS = {"classification": VotingClassifier, "regression": VotingRegressor}
AUTOMATIC = {"classification": CommitteeClassifier, "regression": CommitteeRegressor}
# Parameters that make the members small, by the suffix of their names.
SMALL = {"n_estimators": 3, "max_steps": 20, "max_iter": 50, "random_state": 0}
ALONE = """
import json, sys
import numpy as np
import committee
predictor = committee.predictor(sys.argv[1])
rows = json.loads(sys.argv[2])
rows = rows if isinstance(rows[0], dict) else np.array(rows)
decisions = predictor.predict_proba(rows) if hasattr(predictor, "predict_proba") else predictor.predict(rows)
print(json.dumps([decisions.tolist(), sorted({name.partition(".")[0] for name in sys.modules})]))
"""
OTHERS = {"sklearn", "narwhals", "scipy", "pandas", "joblib", "threadpoolctl"}


def mixed_table():
    """Return numbers with missing values, integers, booleans and categories."""
    frame = pd.DataFrame(
        {
            "number": RNG.normal(size=N_ROWS).round(3),
            "amount": RNG.exponential(100.0, N_ROWS).round(2),
            "count": RNG.integers(0, 9, N_ROWS),
            "member": RNG.integers(0, 2, N_ROWS).astype(bool),
            "city": RNG.choice(["Bonn", "Oslo", "Rome"], N_ROWS),
        }
    )
    frame.loc[::7, "number"] = np.nan
    frame.loc[::11, "city"] = None
    return frame


FRAME = mixed_table()
MATRIX = RNG.normal(size=(N_ROWS, 4))
SIGNAL = FRAME["count"] + 3 * (FRAME["city"] == "Oslo") + MATRIX[:, 0] + 10.0
TARGETS = {
    "classification": np.array(["few", "many", "some"])[np.digitize(SIGNAL, [13.0, 16.0])],
    "regression": SIGNAL.to_numpy(),
}
TABLES = {"frame": FRAME, "matrix": MATRIX}
every_task = pytest.mark.parametrize("task", TASKS)
every_table = pytest.mark.parametrize("table", TABLES)


def small_members(task):
    """Return all members of a task with few rounds and steps."""
    size = Size(task, N_ROWS, 8, 3 if task == "classification" else 1, 5, task == "regression")
    found = []
    for member in named(list(ORDERS[task]), size):
        known = member.estimator.get_params()
        given = {name: SMALL[name.rpartition("__")[2]] for name in known if name.rpartition("__")[2] in SMALL}
        found.append((member.name, member.estimator.set_params(**given)))
    return found


MEMBERS = {task: dict(small_members(task)) for task in TASKS}


def rows_of(table):
    return json.loads(table.to_json(orient="records")) if isinstance(table, pd.DataFrame) else table


def decisions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def check(fitted, table, path):
    """Check that the predictors of an ensemble and of its file decide as the loaded ensemble does."""
    fitted.save(path)
    loaded, rows = committee.load(path), rows_of(table)
    for predictor in (committee.predictor(path), fitted.predictor()):
        np.testing.assert_array_equal(decisions(predictor, rows), decisions(loaded, table))
        np.testing.assert_array_equal(decisions(predictor, rows[:1]), decisions(loaded, table[:1]))
        np.testing.assert_array_equal(predictor.predict(rows), loaded.predict(table))


@every_table
@pytest.mark.parametrize(("task", "name"), [(task, name) for task in TASKS for name in MEMBERS[task]])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_member_has_a_predictor(task, name, table, tmp_path):
    calibrate = {"calibrate": "isotonic"} if task == "classification" else {}
    voting = TASKS[task]([(name, MEMBERS[task][name])], cv=2, refit=False, **calibrate)
    check(voting.fit(TABLES[table], TARGETS[task]), TABLES[table], tmp_path / "model")


@every_task
@every_table
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_members_together_need_no_scikit_learn(task, table, tmp_path):
    X, path = TABLES[table], tmp_path / "model"
    members = [(name, each) for name, each in MEMBERS[task].items()]
    fitted = AUTOMATIC[task](members, random_state=0).fit(X, TARGETS[task])
    check(fitted, X, path)
    rows = json.dumps(rows_of(X)) if table == "frame" else json.dumps(X.tolist())
    command = [sys.executable, "-c", ALONE, str(path), rows]
    found, modules = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    np.testing.assert_array_equal(found, decisions(fitted, X))
    assert not OTHERS & set(modules)


@every_task
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_rule_that_is_compared_has_a_predictor(task, tmp_path):
    members = [(name, MEMBERS[task][name]) for name in list(MEMBERS[task])[:4]]
    fitted = AUTOMATIC[task](members, random_state=0).fit(FRAME, TARGETS[task])
    for name, rule in rules_for(replace(fitted._honest, X=np.zeros((N_ROWS, 1))), None):
        check(fitted.recombine(rule, X=FRAME), FRAME, tmp_path / name.replace(" ", "_"))
