"""Ctrl-C at any moment of any long call, in a new process, which then continues."""

import subprocess
import sys

import pytest

# Each call is repeated until the signal arrives at a random moment.
SCRIPT = """
import os, signal, sys, threading, time, traceback
import numpy as np
from sklearn.naive_bayes import GaussianNB
import committee as c
from committee.table import bin_table

signal.signal(signal.SIGINT, signal.default_int_handler)
chance = np.random.default_rng({seed})
rng = np.random.default_rng(0)
X = rng.random((300_000, 12)).round(4)
y = ((X[:, 0] + rng.random(len(X)) > 1) * 1) + (X[:, 1] > 0.7)
few, some = X[:20_000], y[:20_000]
n_jobs = {n_jobs}
forest = c.RandomForestClassifier(20, n_jobs=n_jobs).fit(few, some)
quantile = c.RandomForestRegressor(20, keep_leaf_rows=True, n_jobs=n_jobs).fit(few, few[:, 2])
booster = c.GradientBoostingClassifier(50, n_jobs=n_jobs).fit(few, some)
c45 = c.C45Classifier().fit(few[:5000], some[:5000])
calls = dict(
    tree=lambda: c.DecisionTreeClassifier().fit(X, y),
    pruned=lambda: c.DecisionTreeRegressor(ccp_alpha=1e-4).fit(X, X[:, 3]),
    forest=lambda: c.RandomForestClassifier(n_jobs=n_jobs, oob_score=True, oob_importances=True).fit(X, y),
    extra=lambda: c.ExtraTreesRegressor(n_jobs=n_jobs).fit(X, X[:, 2]),
    stump=lambda: c.DecisionStumpClassifier().fit(X, y),
    gradient=lambda: c.GradientBoostingClassifier(n_jobs=n_jobs).fit(X, y),
    absolute=lambda: c.GradientBoostingRegressor(50, loss="absolute_error", max_bins=65535, n_jobs=n_jobs)
        .fit(X, X[:, 2]),
    logit=lambda: c.LogitBoostClassifier(n_jobs=n_jobs).fit(X, y),
    adaboost=lambda: c.AdaBoostClassifier(n_jobs=n_jobs).fit(X, y),
    resampled=lambda: c.AdaBoostM2Classifier(weighting="resample", n_jobs=n_jobs).fit(X, y),
    bayes=lambda: c.AdaBoostClassifier(GaussianNB()).fit(few, some),
    c45=lambda: c.C45Classifier().fit(X, y),
    bins=lambda: bin_table(X),
    predict=lambda: forest.predict_proba(X),
    votes=lambda: forest.votes(X[:50_000]),
    quantiles=lambda: quantile.predict_quantiles(X, [0.5]),
    staged=lambda: list(booster.staged_predict(X)),
    c45_predict=lambda: c45.predict(X),
)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    return timer


def repeat(lost):
    # Python ignores the exception in finalizers. Only those of other libraries may run.
    places = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(lost.exc_traceback)]
    if lost.exc_type is not KeyboardInterrupt or any("/committee/" in place for place in places):
        sys.__unraisablehook__(lost)
    interrupt_after(0.1)


def n_threads():
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.isdir(tasks) else threading.active_count()


def holds_soon(condition, seconds=100.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


sys.unraisablehook = repeat
for name in sys.argv[1:] or calls:
    before = n_threads()
    timer = interrupt_after(chance.uniform(0.02, 0.4))
    try:
        while True:
            calls[name]()
    except KeyboardInterrupt:
        timer.join()
    print(name, "interrupted" if holds_soon(lambda: n_threads() <= before) else "left threads", flush=True)
"""


@pytest.mark.parametrize(("n_jobs", "seed"), [(1, 0), (2, 1)])
def test_ctrl_c_ends_any_long_call_and_leaves_no_thread(n_jobs, seed):
    command = [sys.executable, "-c", SCRIPT.format(n_jobs=n_jobs, seed=seed)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert len(lines) == 18
    assert [line for line in lines if not line.endswith(" interrupted")] == []
